//! Names of the data files of a fragment: fragment page, table of data files, and the percent encoding of version 8.

use talavera_schema::ArraySchema;
use talavera_types::FormatVersion;

use crate::FieldId;

/// What a data file of a field holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DataPart {
    /// The cells themselves, or the offsets of cells that differ in length.
    Fixed,
    /// The values of cells that differ in length.
    Var,
    /// One byte per cell, 0 for null.
    Validity,
}

/// One data file of a fragment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DataFile {
    /// The field whose cells it holds.
    pub field: FieldId,
    /// Which part of the cells.
    pub part: DataPart,
}

impl DataFile {
    /// The file's name in the fragment's folder, or `None` for an attribute or dimension that `schema`, the fragment's
    /// own, does not have.
    ///
    /// Up to version 8 files are named for the field, so that a field whose name holds a slash cannot be found by
    /// listing; encode names and compare, never decode. From version 9 on they are named by index.
    #[must_use]
    pub fn name(self, version: FormatVersion, schema: &ArraySchema) -> Option<String> {
        let stem = match self.field {
            FieldId::Attribute(index) => field_stem(version, 'a', index, &schema.attributes.get(index)?.name),
            FieldId::Coordinates => "__coords".to_owned(),
            FieldId::Dimension(index) => field_stem(version, 'd', index, &schema.domain.dimensions.get(index)?.name),
            FieldId::Timestamps => "t".to_owned(),
            FieldId::DeleteTimestamps => "dt".to_owned(),
            FieldId::DeleteConditionIndex => "dci".to_owned(),
        };
        Some(match self.part {
            DataPart::Fixed => stem + ".tdb",
            DataPart::Var => stem + "_var.tdb",
            DataPart::Validity => stem + "_validity.tdb",
        })
    }
}

fn field_stem(version: FormatVersion, letter: char, index: usize, name: &str) -> String {
    if version.names_files_by_index() {
        format!("{letter}{index}")
    } else if version.encodes_file_names() {
        percent_encode(name)
    } else {
        name.to_owned()
    }
}

/// The percent encoding of version 8. The format's page points to RFC 3986; the libraries that write this version put
/// wrong digits for `<`, `>`, `\` and `|`, and only their spelling finds the files. Spaces, `~` and all that is not ASCII
/// stay as they are.
fn percent_encode(name: &str) -> String {
    let mut encoded = String::with_capacity(name.len());
    for character in name.chars() {
        match character {
            '!' | '#' | '$' | '%' | '&' | '\'' | '(' | ')' | '*' | '+' | ',' | '/' | ':' | ';' | '=' | '?' | '@' | '[' | ']'
            | '"' => {
                encoded.push_str(&format!("%{:02X}", u32::from(character)));
            }
            '<' => encoded.push_str("%20"),
            '>' => encoded.push_str("%2D"),
            '\\' => encoded.push_str("%30"),
            '|' => encoded.push_str("%3C"),
            _ => encoded.push(character),
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn version_8_encodes_reserved_characters_as_its_libraries_do() {
        assert_eq!(percent_encode("a/b %é~.\""), "a%2Fb %25é~.%22");
        assert_eq!(percent_encode("!#$&'()*+,:;=?@[]"), "%21%23%24%26%27%28%29%2A%2B%2C%3A%3B%3D%3F%40%5B%5D");
        assert_eq!(percent_encode("<>\\|"), "%20%2D%30%3C");
    }
}
