//! The command line.

mod change;

use std::ops::RangeInclusive;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use talavera::Datatype;

use crate::value::datetime;

pub(crate) use change::{
    CreateArgs, DeleteArgs, DuplicatesArg, EvolveArgs, GroupCommand, ImportArgs, MetaArgs, MetaChange, Place, RemoveArgs,
    TransferArgs, When, WriteArgs, WriteOrder,
};

/// Looks into TileDB arrays and groups, reads, makes and changes them.
#[derive(Debug, Parser)]
#[command(name = "talavera", version, propagate_version = true)]
pub(crate) struct CommandLine {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Says in short what an array or group holds
    Info(Described),
    /// Shows an array's schema
    Schema(Described),
    /// Lists an array's fragments
    Fragments(Described),
    /// Lists the arrays and groups in a folder or group
    Ls(LsArgs),
    /// Shows the metadata of an array or group; `meta put` and `meta delete` change them
    Meta(MetaArgs),
    /// Reads cells
    Read(ReadArgs),
    /// Reads cells, throws them away, and says how long that took
    Scan(ScanArgs),
    /// Counts cells
    Count(CountArgs),
    /// Minimum, maximum, sum, mean and nulls of each field
    Stats(StatsArgs),
    /// Makes an array by a schema
    Create(CreateArgs),
    /// Writes the cells of a file into an array
    Write(WriteArgs),
    /// Makes an array of a file: its schema is that of the data
    Import(ImportArgs),
    /// Adds and drops attributes
    Evolve(EvolveArgs),
    /// Deletes cells
    Delete(DeleteArgs),
    /// Makes groups, and adds and removes their members
    #[command(subcommand)]
    Group(GroupCommand),
    /// Removes an array or group
    Rm(RemoveArgs),
    /// Moves an array or group
    Mv(TransferArgs),
    /// Copies an array or group
    Cp(TransferArgs),
}

/// An array or group, and how to open it.
#[derive(Debug, Args)]
pub(crate) struct Target {
    /// A path or file:// URI
    pub(crate) uri: String,
    /// Opens it as it was in this time: milliseconds since 1970 or ISO dates, both ends included, either may be left out
    #[arg(long, value_name = "START..END", value_parser = timestamps)]
    pub(crate) timestamps: Option<RangeInclusive<u64>>,
    /// A file with the 32 bytes of the key of an encrypted array
    #[arg(long, value_name = "FILE")]
    pub(crate) key_file: Option<PathBuf>,
    /// Threads to decode on; without it, as many as there are processors
    #[arg(long, value_name = "N")]
    pub(crate) threads: Option<usize>,
}

#[derive(Debug, Args)]
pub(crate) struct Described {
    #[command(flatten)]
    pub(crate) target: Target,
    /// Writes JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct LsArgs {
    #[command(flatten)]
    pub(crate) target: Target,
    /// Looks into groups and folders, too
    #[arg(long, short)]
    pub(crate) recursive: bool,
    /// Writes JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Which cells and fields to read, in which order.
#[derive(Debug, Args)]
pub(crate) struct SelectionArgs {
    /// Only cells with this coordinate between LO and HI, both included; may be repeated. Either end may be left out,
    /// and a single value stands for both. Strings that hold `..` go in double quotes: 'id="a..b".."c"'
    #[arg(long = "range", value_name = "DIM=LO..HI", allow_hyphen_values = true)]
    pub(crate) ranges: Vec<String>,
    /// Only cells for which this holds: `q > 5 and cat in ('a', 'b') and z is not null`
    #[arg(long, value_name = "TEXT")]
    pub(crate) condition: Option<String>,
    /// Only these attributes and dimensions; `__timestamps` for when cells were written
    #[arg(long, value_name = "NAMES", allow_hyphen_values = true)]
    pub(crate) fields: Vec<String>,
    /// The order of the cells
    #[arg(long, value_name = "ORDER")]
    pub(crate) order: Option<OrderArg>,
    /// Leaves out the dimensions that are read when no --fields are named
    #[arg(long)]
    pub(crate) no_coords: bool,
    /// The memory that the read may take, in MiB. Without it, batches take 64 MiB, and reads that come as a whole (JSON,
    /// and dense arrays in global order) 8192
    #[arg(long, value_name = "MIB", value_parser = clap::value_parser!(u64).range(1..1 << 40))]
    pub(crate) memory_limit: Option<u64>,
}

#[derive(Debug, Args)]
pub(crate) struct ReadArgs {
    #[command(flatten)]
    pub(crate) target: Target,
    #[command(flatten)]
    pub(crate) selection: SelectionArgs,
    /// The form of the output; a table shows the first and last cells
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    pub(crate) format: FormatArg,
    /// Where to write; without it, the standard output
    #[arg(long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// No more cells than this
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<usize>,
    /// Shows the values of enumerations instead of indices
    #[arg(long)]
    pub(crate) enum_values: bool,
    /// What csv shows for null
    #[arg(long, value_name = "TEXT", default_value = "")]
    pub(crate) null: String,
}

#[derive(Debug, Args)]
pub(crate) struct ScanArgs {
    #[command(flatten)]
    pub(crate) target: Target,
    #[command(flatten)]
    pub(crate) selection: SelectionArgs,
    /// Writes JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct CountArgs {
    #[command(flatten)]
    pub(crate) target: Target,
    /// Only cells with this coordinate between LO and HI, both included; may be repeated
    #[arg(long = "range", value_name = "DIM=LO..HI", allow_hyphen_values = true)]
    pub(crate) ranges: Vec<String>,
    /// Only cells for which this holds: `q > 5 and cat in ('a', 'b') and z is not null`
    #[arg(long, value_name = "TEXT")]
    pub(crate) condition: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct StatsArgs {
    #[command(flatten)]
    pub(crate) target: Target,
    /// Only cells with this coordinate between LO and HI, both included; may be repeated
    #[arg(long = "range", value_name = "DIM=LO..HI", allow_hyphen_values = true)]
    pub(crate) ranges: Vec<String>,
    /// Only cells for which this holds: `q > 5 and cat in ('a', 'b') and z is not null`
    #[arg(long, value_name = "TEXT")]
    pub(crate) condition: Option<String>,
    /// Only these attributes and dimensions
    #[arg(long, value_name = "NAMES", allow_hyphen_values = true)]
    pub(crate) fields: Vec<String>,
    /// The memory that the read may take, in MiB
    #[arg(long, value_name = "MIB", value_parser = clap::value_parser!(u64).range(1..1 << 40))]
    pub(crate) memory_limit: Option<u64>,
    /// Writes JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum OrderArg {
    /// The last dimension varies fastest
    RowMajor,
    /// The first dimension varies fastest
    ColMajor,
    /// As the array stores them
    Global,
    /// As they come
    Unordered,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum FormatArg {
    /// For people
    Table,
    /// Comma-separated values with a header
    Csv,
    /// One JSON object
    Json,
    /// An Arrow IPC stream
    Arrow,
}

impl OrderArg {
    /// The facade's name for it.
    pub(crate) fn order(self) -> talavera::Order {
        match self {
            Self::RowMajor => talavera::Order::RowMajor,
            Self::ColMajor => talavera::Order::ColMajor,
            Self::Global => talavera::Order::Global,
            Self::Unordered => talavera::Order::Unordered,
        }
    }

    /// As the command line spells it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::RowMajor => "row-major",
            Self::ColMajor => "col-major",
            Self::Global => "global",
            Self::Unordered => "unordered",
        }
    }
}

fn timestamps(text: &str) -> Result<RangeInclusive<u64>, String> {
    let (start, end) = text.split_once("..").ok_or("write START..END, ..END or START..")?;
    let end_or = |text: &str, open: u64| if text.is_empty() { Ok(open) } else { moment(text) };
    let (start, end) = (end_or(start, 0)?, end_or(end, u64::MAX)?);
    if start > end { Err("the start lies after the end".to_owned()) } else { Ok(start..=end) }
}

fn moment(text: &str) -> Result<u64, String> {
    let date = || datetime::number(Datatype::DateTimeMs, text).ok().and_then(|ms| u64::try_from(ms).ok());
    let ms = text.parse().ok().or_else(date);
    ms.ok_or_else(|| format!("'{text}' is neither milliseconds since 1970 nor an ISO date"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        <CommandLine as clap::CommandFactory>::command().debug_assert();
    }

    #[test]
    fn timestamps_are_milliseconds_or_dates_and_may_be_open() {
        assert_eq!(timestamps("10..20"), Ok(10..=20));
        assert_eq!(timestamps("..20"), Ok(0..=20));
        assert_eq!(timestamps("1970-01-02.."), Ok(86_400_000..=u64::MAX));
        assert!(timestamps("20..10").is_err() && timestamps("20").is_err());
        assert_eq!(timestamps("soon..").unwrap_err(), "'soon' is neither milliseconds since 1970 nor an ISO date");
    }
}
