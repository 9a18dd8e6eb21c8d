#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![warn(clippy::indexing_slicing)]

mod args;
mod column;
mod commands;
mod condition;
mod error;
mod field_text;
mod format;
mod input;
mod progress;
mod range;
mod selection;
mod target;
mod value;

use std::ffi::OsString;
use std::io::Write;

use clap::Parser;

use crate::args::{Command, CommandLine};
use crate::error::{Error, SUCCESS, USAGE};

/// Runs a command line, whose first word is the name of the program, and returns the exit status: 0 for success, 1 for
/// what fails, 2 for arguments that make no sense.
///
/// Results go to `out`, everything else to `err`. When `out` is a pipe that nobody reads any more, the command ends in
/// silence.
#[must_use]
pub fn run(arguments: impl IntoIterator<Item = OsString>, out: &mut dyn Write, err: &mut dyn Write) -> u8 {
    let command_line = match CommandLine::try_parse_from(arguments) {
        Ok(command_line) => command_line,
        Err(error) => return usage(&error, out, err),
    };
    let done = dispatch(&command_line.command, out).and_then(|()| Ok(out.flush()?));
    let Err(error) = done else { return SUCCESS };
    if error.status() != SUCCESS {
        // An error that cannot be told is still in the exit status.
        let _ = writeln!(err, "error: {error}");
        if let Some(advice) = error.advice() {
            let _ = writeln!(err, "help: {advice}");
        }
    }
    error.status()
}

fn dispatch(command: &Command, out: &mut dyn Write) -> Result<(), Error> {
    match command {
        Command::Info(args) => commands::info::run(args, out),
        Command::Schema(args) => commands::schema::run(args, out),
        Command::Fragments(args) => commands::fragments::run(args, out),
        Command::Ls(args) => commands::ls::run(args, out),
        Command::Meta(args) => commands::meta::run(args, out),
        Command::Read(args) => commands::read::run(args, out),
        Command::Scan(args) => commands::scan::run(args, out),
        Command::Count(args) => commands::count::run(args, out),
        Command::Stats(args) => commands::stats::run(args, out),
        Command::Explain(args) => commands::explain::run(args, out),
        Command::Split(args) => commands::part::run(args, out),
        Command::Create(args) => commands::create::run(args, out),
        Command::Write(args) => commands::write::run(args, out),
        Command::Import(args) => commands::import::run(args, out),
        Command::Evolve(args) => commands::evolve::run(args, out),
        Command::Delete(args) => commands::delete::run(args, out),
        Command::Group(command) => commands::group::run(command, out),
        Command::Rm(args) => commands::objects::remove(args, out),
        Command::Mv(args) => commands::objects::rename(args, out),
        Command::Cp(args) => commands::objects::copy(args, out),
    }
}

/// Help and version are asked for; anything else is a mistake.
fn usage(error: &clap::Error, out: &mut dyn Write, err: &mut dyn Write) -> u8 {
    let text = error.render();
    if error.use_stderr() {
        let _ = write!(err, "{text}");
        USAGE
    } else {
        let _ = write!(out, "{text}").and_then(|()| out.flush());
        SUCCESS
    }
}
