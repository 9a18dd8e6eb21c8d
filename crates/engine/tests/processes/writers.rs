//! Several processes write to one array at once.

use std::collections::BTreeSet;

use super::*;

const WRITERS: i64 = 8;
const WRITES: i64 = 6;

/// What each process does; as a test of its own it has nothing to do.
#[test]
fn child_writes_its_share() {
    let Some(array) = std::env::var_os(PATH) else { return };
    let share: i64 = std::env::var(TASK).unwrap().parse().unwrap();
    for number in share * WRITES..(share + 1) * WRITES {
        println!("\n>{}", write(array.as_ref(), number, None));
    }
}

#[test]
fn eight_processes_that_write_cells_at_once_lose_nothing() {
    let folder = tempfile::tempdir().unwrap();
    create(folder.path(), ArrayType::Sparse);
    let names = write_at_once(folder.path());
    let array = open(folder.path(), TimeWindow::ALL);
    assert_eq!(fragments(&array), names);
    // Each write has a row of its own.
    for number in 0..WRITERS * WRITES {
        let row = array.query().layout(Layout::RowMajor).range(0, Range::Signed(number, number)).unwrap().read().unwrap();
        check(&row.fields, number);
    }
}

#[test]
fn eight_processes_that_write_the_same_box_at_once_leave_the_last() {
    let folder = tempfile::tempdir().unwrap();
    create(folder.path(), ArrayType::Dense);
    let names = write_at_once(folder.path());
    let array = open(folder.path(), TimeWindow::ALL);
    assert_eq!(fragments(&array), names);
    let cells = array.query().read().unwrap();
    let first = cells.field("number").unwrap().values::<i64>().unwrap()[0];
    check(&cells.fields, first / 1000);
}

fn fragments(array: &OpenArray) -> BTreeSet<String> {
    array.fragments().iter().map(|fragment| fragment.name().to_owned()).collect()
}

/// The names of the fragments that all the processes acknowledged.
fn write_at_once(array: &Path) -> BTreeSet<String> {
    let children: Vec<_> =
        (0..WRITERS).map(|share| spawn("writers::child_writes_its_share", array, &share.to_string())).collect();
    let outputs = children.into_iter().map(|child| child.wait_with_output().unwrap());
    let names: BTreeSet<String> = outputs
        .flat_map(|output| {
            assert!(output.status.success());
            acknowledged(&String::from_utf8(output.stdout).unwrap()).collect::<Vec<_>>()
        })
        .collect();
    assert_eq!(names.len() as i64, WRITERS * WRITES);
    names
}
