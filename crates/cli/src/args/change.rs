//! The arguments of what makes and changes arrays and groups.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::{Target, moment};

/// An array or group to be made or changed.
#[derive(Debug, Args)]
pub(crate) struct Place {
    /// A path or file:// URI
    pub(crate) uri: String,
    /// A file with the 32 bytes of the key of an encrypted array
    #[arg(long, value_name = "FILE")]
    pub(crate) key_file: Option<PathBuf>,
}

/// When a change takes place.
#[derive(Debug, Args)]
pub(crate) struct When {
    /// The time of the change, milliseconds since 1970 or an ISO date; without it, now
    #[arg(long, value_name = "TIME", value_parser = moment)]
    pub(crate) timestamp: Option<u64>,
}

#[derive(Debug, Args)]
pub(crate) struct CreateArgs {
    #[command(flatten)]
    pub(crate) place: Place,
    /// A file with the schema as `schema --json` shows it; `-` for the standard input
    #[arg(long, value_name = "FILE")]
    pub(crate) schema: PathBuf,
    #[command(flatten)]
    pub(crate) when: When,
}

#[derive(Debug, Args)]
pub(crate) struct WriteArgs {
    #[command(flatten)]
    pub(crate) place: Place,
    #[command(flatten)]
    pub(crate) input: InputArgs,
    /// Which cells of a dense array the input has; may be given once for each dimension. Without it, the whole of the
    /// dimension, or the coordinates that the input has
    #[arg(long = "range", value_name = "DIM=LO..HI", allow_hyphen_values = true)]
    pub(crate) ranges: Vec<String>,
    /// The order of the input's cells in a dense array
    #[arg(long, value_name = "ORDER", default_value = "row-major")]
    pub(crate) order: WriteOrder,
    /// What becomes of cells of equal coordinates, in arrays that do not allow them
    #[arg(long, value_name = "WHAT", default_value = "refuse")]
    pub(crate) duplicates: DuplicatesArg,
    /// Takes the input's values of enumerated attributes for values rather than indices
    #[arg(long)]
    pub(crate) enum_values: bool,
    #[command(flatten)]
    pub(crate) when: When,
}

/// A file with cells.
#[derive(Debug, Args)]
pub(crate) struct InputArgs {
    /// A file of comma-separated values with a header (.csv), of Arrow IPC (.arrow) or of Parquet (.parquet)
    #[arg(long, value_name = "FILE")]
    pub(crate) input: PathBuf,
    /// What csv has for null
    #[arg(long, value_name = "TEXT", default_value = "")]
    pub(crate) null: String,
}

#[derive(Debug, Args)]
pub(crate) struct ImportArgs {
    /// A file of comma-separated values with a header (.csv), of Arrow IPC (.arrow) or of Parquet (.parquet)
    pub(crate) input: PathBuf,
    #[command(flatten)]
    pub(crate) place: Place,
    /// The columns that become the dimensions of a sparse array; without it, the array is dense, by the number of the row
    #[arg(long, value_name = "COLS", value_delimiter = ',')]
    pub(crate) index: Vec<String>,
    /// The filters of all attributes, or of COL: `--filters byteshuffle,zstd:5`, `--filters temp=float-scale,bzip2`
    #[arg(long, value_name = "[COL=]FILTERS")]
    pub(crate) filters: Vec<String>,
    /// How many values of DIM make a tile; without DIM, of all dimensions that have whole numbers
    #[arg(long, value_name = "[DIM=]N")]
    pub(crate) tile: Vec<String>,
    /// The datatype of a csv column, with `?` if it has nulls: `--type zip:STRING_ASCII?`
    #[arg(long = "type", value_name = "COL:TYPE[?]")]
    pub(crate) types: Vec<String>,
    /// Cells of a tile of a sparse array
    #[arg(long, value_name = "N")]
    pub(crate) capacity: Option<u64>,
    /// Lets a sparse array have several cells of the same coordinates
    #[arg(long)]
    pub(crate) allow_duplicates: bool,
    /// What csv has for null
    #[arg(long, value_name = "TEXT", default_value = "")]
    pub(crate) null: String,
    #[command(flatten)]
    pub(crate) when: When,
}

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(crate) struct MetaArgs {
    #[command(subcommand)]
    pub(crate) change: Option<MetaChange>,
    #[command(flatten)]
    pub(crate) target: Option<Target>,
    /// Writes JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum MetaChange {
    /// Sets a key
    Put {
        #[command(flatten)]
        place: Place,
        /// The key
        key: String,
        /// The datatype of the value, such as INT32, FLOAT64 or STRING_UTF8
        #[arg(value_name = "TYPE")]
        datatype: String,
        /// The value: text, a number, or several with commas between
        #[arg(allow_hyphen_values = true)]
        value: String,
        #[command(flatten)]
        when: When,
    },
    /// Deletes a key
    Delete {
        #[command(flatten)]
        place: Place,
        /// The key
        key: String,
        #[command(flatten)]
        when: When,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum GroupCommand {
    /// Makes a group without members
    Create {
        /// A path or file:// URI
        uri: String,
    },
    /// Adds an array or group to a group
    Add {
        #[command(flatten)]
        place: Place,
        /// The path of the member below the group, or the whole URI of a member elsewhere
        member: String,
        /// The name of the member in the group
        #[arg(long)]
        name: Option<String>,
        #[command(flatten)]
        when: When,
    },
    /// Removes a member from a group, by its name or path; what it names stays
    Remove {
        #[command(flatten)]
        place: Place,
        /// The name of the member, or its path or URI
        member: String,
        #[command(flatten)]
        when: When,
    },
}

#[derive(Debug, Args)]
pub(crate) struct EvolveArgs {
    #[command(flatten)]
    pub(crate) place: Place,
    /// Adds an attribute, with `?` if its cells may be null, `[3]` or `[]` for several values in a cell; behind an equals
    /// sign, the enumeration that its cells are indices into: `--add 'wind:FLOAT32?' --add tree:UINT8=kinds`
    #[arg(long, value_name = "NAME:TYPE[?][=ENUMERATION]")]
    pub(crate) add: Vec<String>,
    /// Drops an attribute
    #[arg(long, value_name = "NAME")]
    pub(crate) drop: Vec<String>,
    /// Adds values to an enumeration
    #[arg(long, value_name = "ENUMERATION=VALUE,VALUE")]
    pub(crate) extend: Vec<String>,
    /// Adds an enumeration, which may have no values yet: `--add-enumeration kinds:STRING_UTF8=oak,elm`
    #[arg(long, value_name = "NAME:TYPE=VALUE,VALUE")]
    pub(crate) add_enumeration: Vec<String>,
    /// Drops an enumeration that no attribute uses
    #[arg(long, value_name = "NAME")]
    pub(crate) drop_enumeration: Vec<String>,
    /// Makes the current domain reach this far along a dimension; it never shrinks
    #[arg(long, value_name = "DIM=LO..HI")]
    pub(crate) expand: Vec<String>,
    /// The filters of the attributes that are added
    #[arg(long, value_name = "FILTERS", default_value = "zstd")]
    pub(crate) filters: String,
    #[command(flatten)]
    pub(crate) when: When,
}

#[derive(Debug, Args)]
pub(crate) struct DeleteArgs {
    #[command(flatten)]
    pub(crate) place: Place,
    /// Which cells: `q > 5 and cat in ('a', 'b')`
    #[arg(long, value_name = "TEXT")]
    pub(crate) condition: String,
    /// Refuses to delete where nulls, NaN or missing attributes would be deleted along
    #[arg(long)]
    pub(crate) strict: bool,
    #[command(flatten)]
    pub(crate) when: When,
}

#[derive(Debug, Args)]
pub(crate) struct RemoveArgs {
    #[command(flatten)]
    pub(crate) place: Place,
    /// Removes the members of a group, too, wherever they lie
    #[arg(long, short)]
    pub(crate) recursive: bool,
}

#[derive(Debug, Args)]
pub(crate) struct TransferArgs {
    /// A path or file:// URI
    pub(crate) from: String,
    /// Where it goes: a path or file:// URI where there is nothing yet
    pub(crate) to: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum WriteOrder {
    /// The last dimension varies fastest
    RowMajor,
    /// The first dimension varies fastest
    ColMajor,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum DuplicatesArg {
    /// The write fails
    Refuse,
    /// The cell that comes last stays
    KeepLast,
}

impl Place {
    /// The same as what commands that only look take.
    pub(crate) fn target(&self) -> Target {
        Target { uri: self.uri.clone(), timestamps: None, key_file: self.key_file.clone(), threads: None }
    }
}
