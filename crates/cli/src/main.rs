//! The `talavera` command.

#![forbid(unsafe_code)]

use std::io::{BufWriter, Write, stderr, stdout};
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut out = BufWriter::with_capacity(1 << 16, stdout().lock());
    let status = talavera_cli::run(std::env::args_os(), &mut out, &mut stderr());
    // What could not be written has been reported, or nobody wants it any more.
    let _ = out.flush();
    ExitCode::from(status)
}
