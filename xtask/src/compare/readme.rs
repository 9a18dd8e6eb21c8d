//! `cargo xtask compare --readme F`: the numbers of a run, as tables of the README and of docs/performance.md.
//!
//! A table stands between two markers, `<!-- compare: ROWS -->` and `<!-- compare end -->`, where ROWS is what the names
//! of its rows start with, several divided by spaces, or `all`; `filters`
//! are the rows of single filters, and `machine` is the machine and the command. Nobody writes
//! them by hand.

use std::path::Path;

use serde_json::Value;

use super::row::Row;
use crate::Failure;
use crate::status::table;

const FILES: &[&str] = &["README.md", "docs/performance.md"];
const BEGIN: &str = "<!-- compare: ";
const END: &str = "<!-- compare end -->";

/// Rewrites the tables from the JSON of a run.
pub(super) fn write(path: &Path, rows: &[Row]) -> Result<(), Failure> {
    let run: Value = serde_json::from_str(&std::fs::read_to_string(path)?)?;
    for file in FILES {
        let path = crate::root().join(file);
        let text = std::fs::read_to_string(&path)?;
        let current = rendered(&text, &run, rows)?;
        if current != text {
            std::fs::write(path, current)?;
        }
    }
    Ok(())
}

fn rendered(text: &str, run: &Value, rows: &[Row]) -> Result<String, Failure> {
    let mut parts = text.split(BEGIN);
    let mut current = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (wanted, rest) = part.split_once(" -->").ok_or("a marker without end")?;
        let (_, rest) = rest.split_once(END).ok_or_else(|| format!("the table '{wanted}' has no end"))?;
        let body = match wanted {
            "machine" => machine(run),
            "filters" => table(&filters(run)),
            _ => table(&lines(wanted, run, rows)),
        };
        current += &format!("{BEGIN}{wanted} -->\n{body}{END}{rest}");
    }
    Ok(current)
}

fn machine(run: &Value) -> String {
    let text = |key: &str| run["run"][key].as_str().unwrap_or_default().to_owned();
    format!(
        "{}; {} threads for each engine, medians of {} rounds by `cargo run --release -p xtask -- compare`; against libtiledb {}.\n",
        text("machine"),
        run["run"]["threads"],
        run["run"]["rounds"],
        text("peer"),
    )
}

fn lines(wanted: &str, run: &Value, rows: &[Row]) -> Vec<Vec<String>> {
    let head = ["", "", "talavera", "libtiledb", "ratio", "bound", "CPU s", "peak MB"];
    let is_wanted = |id: &str| wanted == "all" || wanted.split(' ').any(|start| id.starts_with(start));
    let measured = run["rows"].as_array().map(Vec::as_slice).unwrap_or_default();
    let of_row = |row: &Row| measured.iter().find(|measured| measured["id"] == row.id);
    let measured = rows.iter().filter(|row| is_wanted(row.id)).filter_map(|row| Some((row, of_row(row)?)));
    let line = |(row, measured): (&Row, &Value)| line(row, measured, run["run"]["bytes"][row.id].as_f64().unwrap_or(0.0));
    std::iter::once(head.map(str::to_owned).to_vec()).chain(measured.map(line)).collect()
}

fn filters(run: &Value) -> Vec<Vec<String>> {
    let head = ["", "Filter", "GB/s", "codec alone", "memcpy"];
    let measured = run["run"]["filters"].as_array().map(Vec::as_slice).unwrap_or_default();
    let number = |row: &Value, key: &str| row[key].as_f64().map_or("–".to_owned(), |number| format!("{number:.2}"));
    let line = |row: &Value| {
        let text = |key: &str| row[key].as_str().unwrap_or_default().to_owned();
        vec![text("id"), text("what"), number(row, "gb_s"), number(row, "codec_gb_s"), number(row, "memcpy_gb_s")]
    };
    std::iter::once(head.map(str::to_owned).to_vec()).chain(measured.iter().map(line)).collect()
}

fn line(row: &Row, measured: &Value, bytes: f64) -> Vec<String> {
    let number = |key: &str| measured[key].as_f64();
    let time = |key: &str| {
        let Some(seconds) = number(key) else { return "–".to_owned() };
        let rate = if bytes >= 1e6 { format!(", {:.0} MB/s", bytes / 1e6 / seconds) } else { String::new() };
        format!("{seconds:.3} s{rate}")
    };
    let pair = |ours: &str, theirs: &str, decimals: usize| {
        let text = |key: &str| number(key).map_or("–".to_owned(), |number| format!("{number:.decimals$}"));
        format!("{} / {}", text(ours), text(theirs))
    };
    vec![
        row.id.to_owned(),
        row.what.to_owned(),
        time("ours_s"),
        time("peer_s"),
        number("ratio").map_or_else(String::new, |ratio| format!("{ratio:.2} ×")),
        number("bound_s").map_or_else(String::new, |seconds| format!("{seconds:.3} s")),
        pair("ours_cpu_s", "peer_cpu_s", 2),
        pair("ours_peak_mb", "peer_peak_mb", 0),
    ]
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::compare::row::{Engine, Turn, Work};

    struct Nothing;

    impl Work for Nothing {
        fn prepare(&self, _: Engine) -> Result<Turn, Failure> {
            Ok(Box::new(|| Ok(0)))
        }
    }

    #[test]
    fn tables_are_rendered_between_their_markers_and_nothing_else_changes() {
        let rows = [Row::new("D1r", "read", Nothing), Row::new("S1w", "write", Nothing)];
        let run = json!({
            "rows": [{ "id": "D1r", "ours_s": 0.5, "peer_s": 1.0, "ratio": 2.0, "ours_cpu_s": 0.25, "peer_cpu_s": 1.5,
                "ours_peak_mb": 10.4, "peer_peak_mb": 20.6, "bound_s": null }],
            "run": { "bytes": { "D1r": 2e6 } },
        });
        let text = "before\n<!-- compare: D F1 -->\nold\n<!-- compare end -->\nbehind\n";
        let line = "| D1r | read | 0.500 s, 4 MB/s | 1.000 s, 2 MB/s | 2.00 × |  | 0.25 / 1.50 | 10 / 21 |\n";
        let current = rendered(text, &run, &rows).unwrap();
        assert!(current.starts_with("before\n<!-- compare: D F1 -->\n|  |  | talavera |"), "{current}");
        assert!(current.contains(line), "{current}");
        assert!(current.ends_with("<!-- compare end -->\nbehind\n"), "{current}");
        assert_eq!(rendered(&current, &run, &rows).unwrap(), current);
    }
}
