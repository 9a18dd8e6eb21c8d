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
    Scan(OutlineArgs),
    /// Counts cells
    Count(CountArgs),
    /// Minimum, maximum, sum, mean and nulls of each field
    Stats(StatsArgs),
    /// Says what a read would do: fragments, tiles, bytes, requests
    Explain(OutlineArgs),
    /// Cuts a read into parts that `read --part` reads alone, anywhere
    Split(SplitArgs),
    /// Makes an array by a schema
    Create(CreateArgs),
    /// Writes the cells of a file into an array
    Write(WriteArgs),
    /// Makes an array of a file: its schema is that of the data
    Import(ImportArgs),
    /// Adds and drops attributes and enumerations, and widens the current domain
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

/// Which cells to read.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct CellArgs {
    /// Only cells with this coordinate between LO and HI, both included; may be repeated. Either end may be left out,
    /// and a single value stands for both. Strings that hold `..` go in double quotes: 'id="a..b".."c"'
    #[arg(long = "range", value_name = "DIM=LO..HI", allow_hyphen_values = true)]
    pub(crate) ranges: Vec<String>,
    /// A file with more ranges, one on a line, as --range takes them; millions of them are welcome
    #[arg(long, value_name = "FILE")]
    pub(crate) ranges_from: Option<PathBuf>,
    /// Only cells whose label is between LO and HI, both included, by the name of a dimension label
    #[arg(long = "label-range", value_name = "LABEL=LO..HI", allow_hyphen_values = true)]
    pub(crate) label_ranges: Vec<String>,
    /// Only cells for which this holds: `q > 5 and cat in ('a', 'b') and z is not null`
    #[arg(long, value_name = "TEXT")]
    pub(crate) condition: Option<String>,
    /// The memory that the read may take: 512MB, 2GiB. Without it, batches take 64 MiB, and reads that come as a whole
    /// (JSON) 8 GiB
    #[arg(long, value_name = "SIZE", value_parser = memory)]
    pub(crate) memory: Option<u64>,
}

/// Which cells and fields to read, in which order.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct SelectionArgs {
    #[command(flatten)]
    pub(crate) cells: CellArgs,
    /// Only these attributes and dimensions; `__timestamps` for when cells were written
    #[arg(long, value_name = "NAMES", allow_hyphen_values = true)]
    pub(crate) fields: Vec<String>,
    /// The order of the cells
    #[arg(long, value_name = "ORDER")]
    pub(crate) order: Option<OrderArg>,
    /// Leaves out the dimensions that are read when no --fields are named
    #[arg(long)]
    pub(crate) no_coords: bool,
    /// The most cells that are read at once
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) batch_rows: Option<u64>,
}

#[derive(Debug, Args)]
pub(crate) struct ReadArgs {
    #[command(flatten)]
    pub(crate) target: Target,
    #[command(flatten)]
    pub(crate) selection: SelectionArgs,
    /// A part that `split` made: it says which cells and fields
    #[arg(long, value_name = "FILE", conflicts_with_all = ["ranges", "ranges_from", "label_ranges", "condition", "fields", "order", "timestamps"])]
    pub(crate) part: Option<PathBuf>,
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

// A read of which no cells are given, only what is told about it. No doc comment: it would be shown as help.
#[derive(Debug, Args)]
pub(crate) struct OutlineArgs {
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
    #[command(flatten)]
    pub(crate) cells: CellArgs,
}

#[derive(Debug, Args)]
pub(crate) struct SplitArgs {
    #[command(flatten)]
    pub(crate) target: Target,
    #[command(flatten)]
    pub(crate) selection: SelectionArgs,
    /// Into how many parts
    #[arg(long, value_name = "N", required_unless_present = "part_memory")]
    pub(crate) parts: Option<usize>,
    /// Into parts that take about this memory each: 64MB
    #[arg(long, value_name = "SIZE", value_parser = memory, conflicts_with = "parts")]
    pub(crate) part_memory: Option<u64>,
    /// A folder for the parts, as part-0.json and so on; without it, one part on a line goes to the standard output
    #[arg(long, value_name = "FOLDER")]
    pub(crate) output: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct StatsArgs {
    #[command(flatten)]
    pub(crate) target: Target,
    #[command(flatten)]
    pub(crate) cells: CellArgs,
    /// Only these attributes and dimensions
    #[arg(long, value_name = "NAMES", allow_hyphen_values = true)]
    pub(crate) fields: Vec<String>,
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

/// A number of bytes with its unit.
fn memory(text: &str) -> Result<u64, String> {
    const UNITS: [(&str, u64); 7] =
        [("kib", 1 << 10), ("mib", 1 << 20), ("gib", 1 << 30), ("kb", 1_000), ("mb", 1_000_000), ("gb", 1_000_000_000), ("b", 1)];
    let lower = text.to_ascii_lowercase();
    let found = UNITS.iter().find_map(|(unit, bytes)| Some((lower.strip_suffix(unit)?, bytes)));
    let (number, unit) = found.ok_or("write the unit, too: 512MB, 2GiB")?;
    let number: u64 = number.trim().parse().map_err(|_| format!("'{number}' is not a whole number"))?;
    number.checked_mul(*unit).filter(|bytes| *bytes > 0).ok_or_else(|| "that is no amount of memory".to_owned())
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
    fn memory_has_a_unit() {
        assert_eq!(memory("512MB"), Ok(512_000_000));
        assert_eq!(memory("2gib"), Ok(2 << 30));
        assert_eq!(memory("64"), Err("write the unit, too: 512MB, 2GiB".to_owned()));
        assert!(memory("0MB").is_err() && memory("xMB").is_err() && memory("99999999999GiB").is_err());
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
