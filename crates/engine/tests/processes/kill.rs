//! A process that writes fragment after fragment is killed at random moments.

use std::collections::BTreeSet;
use std::io::Read;
use std::time::Duration;

use super::*;

/// How many kills there are, unless `TALAVERA_KILLS` says otherwise.
const KILLS: u64 = 20;

/// What the process does that is killed; as a test of its own it has nothing to do.
#[test]
fn child_writes_until_it_is_killed() {
    let Some(array) = std::env::var_os(PATH) else { return };
    for number in 1.. {
        println!("\n>{}", write(array.as_ref(), number, Some(number.unsigned_abs())));
    }
}

#[test]
fn acknowledged_fragments_survive_a_kill_and_at_most_one_other_is_there() {
    let kills = std::env::var("TALAVERA_KILLS").ok().and_then(|kills| kills.parse().ok()).unwrap_or(KILLS);
    for kill in 0..kills {
        let folder = tempfile::tempdir().unwrap();
        create(folder.path(), if kill % 2 == 0 { ArrayType::Dense } else { ArrayType::Sparse });
        let named = killed_after(folder.path(), Duration::from_millis(40 + kill * 7919 % 160));
        let found: BTreeSet<(u64, String)> = {
            let array = open(folder.path(), TimeWindow::ALL);
            array.fragments().iter().map(|fragment| (fragment.timestamps().0, fragment.name().to_owned())).collect()
        };
        let in_flight = found.iter().filter(|(_, name)| !named.contains(name)).count();
        assert!(in_flight <= 1, "kill {kill}: acknowledged {named:?}, found {found:?}");
        assert_eq!(found.len(), named.len() + in_flight, "kill {kill}: acknowledged {named:?}, found {found:?}");
        for (time, _) in found {
            let array = open(folder.path(), TimeWindow { start: time, end: time });
            check(&array.query().layout(Layout::RowMajor).read().unwrap().fields, time.cast_signed());
        }
    }
}

/// Lets a child write for a while, kills it, and gives the names of the fragments that it acknowledged.
fn killed_after(array: &Path, time: Duration) -> BTreeSet<String> {
    let mut child = spawn("kill::child_writes_until_it_is_killed", array, "");
    std::thread::sleep(time);
    // On Unix this is SIGKILL.
    child.kill().unwrap();
    child.wait().unwrap();
    let mut output = String::new();
    child.stdout.take().unwrap().read_to_string(&mut output).unwrap();
    acknowledged(&output).collect()
}
