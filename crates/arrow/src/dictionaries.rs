//! The values of dictionaries, from which enumerations are made.

use std::collections::{BTreeMap, HashSet};

use arrow_array::cast::AsArray as _;
use arrow_array::{Array as _, RecordBatch};
use arrow_schema::{DataType, Field};
use talavera::{CellValNum, Datatype, Enumeration, enumeration};

use crate::import_schema::value_type_of;
use crate::input::{Target, to_cells};
use crate::{Error, metadata};

/// The values of the dictionaries of record batches, in the order in which they come. A schema does not tell them, and each
/// batch may bring its own.
#[derive(Debug, Clone, Default)]
pub struct Dictionaries {
    columns: BTreeMap<String, Values>,
}

/// The distinct values of one column.
#[derive(Debug, Clone)]
struct Values {
    datatype: Datatype,
    cell_val_num: CellValNum,
    ordered: bool,
    values: Vec<Vec<u8>>,
    known: HashSet<Vec<u8>>,
}

impl Dictionaries {
    /// No values yet: columns that are dictionaries are taken for their values.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds all values of the dictionaries of a batch.
    ///
    /// # Errors
    /// [`Error::UnsupportedType`] for values that no enumeration can have.
    pub fn add(&mut self, batch: &RecordBatch) -> Result<(), Error> {
        for (field, column) in batch.schema_ref().fields().iter().zip(batch.columns()) {
            if !matches!(column.data_type(), DataType::Dictionary(..)) {
                continue;
            }
            let values = column.as_any_dictionary().values();
            let (datatype, cell_val_num) = value_type_of(field, values.data_type(), metadata::ENUMERATION_DATATYPE)?;
            let target = Target::of_values(field.name(), datatype, cell_val_num);
            let cells = to_cells(&target, values)?;
            let known = self.columns.entry(field.name().clone()).or_insert_with(|| Values {
                datatype,
                cell_val_num,
                ordered: field.dict_is_ordered().unwrap_or(false),
                values: Vec::new(),
                known: HashSet::new(),
            });
            let valid = (0..cells.len()).filter(|&cell| !cells.is_null(cell));
            for bytes in valid.filter_map(|cell| cells.cell(cell)) {
                if known.known.insert(bytes.to_vec()) {
                    known.values.push(bytes.to_vec());
                }
            }
        }
        Ok(())
    }

    /// The enumeration of a column, under the name that its field tells, or else that of the column; none for a column
    /// whose dictionary was never seen.
    pub(crate) fn enumeration(&self, field: &Field) -> Result<Option<Enumeration>, Error> {
        let Some(found) = self.columns.get(field.name()) else { return Ok(None) };
        let name = field.metadata().get(metadata::ENUMERATION).unwrap_or(field.name());
        let values = found.values.iter().map(Vec::as_slice);
        Ok(Some(enumeration(name, found.datatype, found.cell_val_num, found.ordered, values)?))
    }
}
