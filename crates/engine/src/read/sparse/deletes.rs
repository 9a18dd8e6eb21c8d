//! The deletes that apply to a fragment.

use std::sync::Arc;

use talavera_condition::{BoundCondition, FieldType};
use talavera_schema::ArraySchema;
use talavera_types::{CellValNum, Datatype};

use crate::{Error, OpenArray};

/// A delete as one fragment sees it.
#[derive(Debug, Clone)]
pub(crate) struct FragmentDelete {
    /// Holds for the cells that stay.
    pub(crate) keeps: Arc<BoundCondition>,
    /// Cells written later than this stay whatever the condition says; none when all were written before.
    pub(crate) until: Option<u64>,
}

/// The deletes that apply to one fragment, older ones first.
#[derive(Debug, Clone, Default)]
pub(crate) struct FragmentDeletes {
    pub(crate) deletes: Vec<FragmentDelete>,
}

impl FragmentDeletes {
    /// The deletes of each fragment of an array (05-other-files §8, 21-semantics §7).
    pub(crate) fn of_array(array: &OpenArray) -> Result<Vec<Self>, Error> {
        let mut all = vec![Self::default(); array.fragments().len()];
        if array.deletes().is_empty() {
            return Ok(all);
        }
        let schemas: Vec<Arc<ArraySchema>> = array.all_schemas()?.into_iter().map(|(_, schema)| schema).collect();
        for delete in array.deletes() {
            let mut bound: Option<Arc<BoundCondition>> = None;
            for (fragment, deletes) in array.fragments().iter().zip(&mut all) {
                let (start, end) = fragment.timestamps();
                if delete.timestamp < start {
                    continue;
                }
                let processed = fragment.processed_conditions(array.storage(), array.options())?;
                if processed.contains(&delete.marker) {
                    continue;
                }
                let keeps = match &bound {
                    Some(keeps) => Arc::clone(keeps),
                    None => {
                        let fields = |name: &str| field_type(array.schema(), &schemas, name);
                        let keeps = delete.keeps.bind_stored_fields(fields);
                        let keeps = keeps.map_err(|source| Error::DeleteCondition { path: delete.path.clone(), source })?;
                        Arc::clone(bound.insert(Arc::new(keeps)))
                    }
                };
                let by_cell = fragment.footer().layout.has_timestamps() && delete.timestamp <= end;
                deletes.deletes.push(FragmentDelete { keeps, until: by_cell.then_some(delete.timestamp) });
            }
        }
        Ok(all)
    }
}

/// What a field is: in the opened schema, or, when it was dropped since, in the newest that has it.
fn field_type<'s>(opened: &'s ArraySchema, all: &'s [Arc<ArraySchema>], name: &str) -> Option<FieldType<'s>> {
    std::iter::once(opened).chain(all.iter().rev().map(|schema| &**schema)).find_map(|schema| {
        let attribute = schema.attribute(name).map(|(_, attribute)| FieldType {
            datatype: attribute.datatype,
            cell_val_num: attribute.cell_val_num,
            nullable: attribute.nullable,
            enumeration: None,
        });
        let dimension = schema.dimension(name).map(|(_, dimension)| FieldType {
            datatype: dimension.datatype,
            cell_val_num: dimension.cell_val_num(),
            nullable: false,
            enumeration: None,
        });
        let timestamps = (name == crate::TIMESTAMPS_FIELD).then_some(FieldType {
            datatype: Datatype::UInt64,
            cell_val_num: CellValNum::ONE,
            nullable: false,
            enumeration: None,
        });
        attribute.or(dimension).or(timestamps)
    })
}
