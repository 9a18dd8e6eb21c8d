//! Both engines behind one face: who does what to which array.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use talavera_condition::{Comparison, QueryCondition};
use talavera_directory::MetadataValue;
use talavera_engine::{
    ArrayWriter, CreateOptions, DeleteOptions, EncryptionKey, EngineOptions, EvolveOptions, MetadataWriter, OpenArray,
    TimeWindow, WriteOptions, create_array, delete_cells, evolve_array,
};
use talavera_peer as peer;
use talavera_peer::{Context, Mode, Window};
use talavera_schema::{Attribute, NdRange, SchemaEvolution};
use talavera_storage::{LocalStorage, ObjectPath, Storage};
use talavera_types::Layout;

use super::cells::Fields;
use super::schema::Subject;
use super::translate;
use crate::Failure;

/// Who does something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Engine {
    Ours,
    Theirs,
}

/// An array on disk and the means of both engines to get at it.
pub(super) struct Place {
    pub(super) folder: PathBuf,
    key: Option<[u8; 32]>,
    pub(super) context: Context,
}

/// A write of a whole fragment.
pub(super) enum Write {
    /// A box of a dense array, its cells in this order.
    Dense { subarray: NdRange, layout: Layout, fields: Fields },
    /// Cells of a sparse array.
    Sparse { fields: Fields },
    /// Cells of a sparse array in global order, in several calls.
    Stream { parts: Vec<Fields> },
}

/// What is written, without the cells.
impl std::fmt::Display for Write {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let count = |fields: &Fields| fields.first().map_or(0, |(_, field)| field.len());
        match self {
            Self::Dense { subarray, layout, .. } => write!(f, "{subarray:?} {layout:?}"),
            Self::Sparse { fields } => write!(f, "{} cells", count(fields)),
            Self::Stream { parts } => write!(f, "parts of {:?} cells", parts.iter().map(count).collect::<Vec<_>>()),
        }
    }
}

/// A change of the schema.
#[derive(Debug)]
pub(super) enum Change {
    Add(Attribute),
    Drop(String),
}

/// Library 2.30 gives up the parts of a parallel merge of tile lists while a thread still works on them, and crashes once in
/// some thousand reads; this has it merge as releases before 2.28 did.
const CONFIG: [(&str, &str); 1] = [("sm.query.sparse_global_order.preprocess_tile_merge", "0")];

impl Place {
    pub(super) fn new(library: &peer::Library, folder: &Path, key: Option<[u8; 32]>) -> Result<Self, Failure> {
        let context = match key {
            Some(key) => Context::encrypted(library, &CONFIG, &key)?,
            None => Context::new(library, &CONFIG)?,
        };
        Ok(Self { folder: folder.to_owned(), key, context })
    }

    pub(super) fn uri(&self) -> String {
        self.folder.to_string_lossy().into_owned()
    }

    fn storage(&self) -> Result<Arc<dyn Storage>, Failure> {
        // What a power failure leaves behind is not the question here.
        Ok(Arc::new(LocalStorage::new(&self.folder)?.without_sync()))
    }

    pub(super) fn key(&self) -> Option<EncryptionKey> {
        self.key.map(EncryptionKey::new)
    }

    fn options(&self) -> EngineOptions {
        EngineOptions { key: self.key(), ..EngineOptions::default() }
    }

    /// The array as our engine sees it.
    pub(super) fn open(&self, window: TimeWindow) -> Result<OpenArray, Failure> {
        Ok(OpenArray::open(self.storage()?, ObjectPath::root(), window, self.options())?)
    }

    pub(super) fn create(&self, by: Engine, subject: &Subject) -> Result<(), Failure> {
        match by {
            Engine::Ours => {
                let options = CreateOptions { key: self.key(), timestamp: None };
                create_array(&*self.storage()?, &ObjectPath::root(), &subject.schema, &subject.enumerations, &options)?;
            }
            Engine::Theirs => {
                let mut schema = translate::schema(&subject.schema, &subject.enumerations)?;
                // Releases before 2.7 always use the same filters for validity.
                if !self.context.library().has("tiledb_array_schema_set_validity_filter_list") {
                    schema.validity_filters = None;
                }
                self.context.create(&self.uri(), &schema)?;
            }
        }
        Ok(())
    }

    pub(super) fn write(&self, by: Engine, write: &Write, timestamp: u64) -> Result<(), Failure> {
        eprintln!("{by:?} write at {timestamp}: {write}");
        match by {
            Engine::Ours => self.write_by_us(write, timestamp),
            Engine::Theirs => self.write_by_them(write, timestamp),
        }
    }

    fn write_by_us(&self, write: &Write, timestamp: u64) -> Result<(), Failure> {
        let writer = ArrayWriter::open(self.storage()?, ObjectPath::root(), self.options())?;
        let options = WriteOptions { timestamp: Some(timestamp), duplicates: None };
        match write {
            Write::Dense { subarray, layout, fields } => {
                writer.write_dense(subarray, *layout, fields, options)?;
            }
            Write::Sparse { fields } => {
                writer.write_sparse(fields, options)?;
            }
            Write::Stream { parts } => {
                let mut stream = writer.stream_sparse(options)?;
                for part in parts {
                    stream.append(part)?;
                }
                stream.finish()?;
            }
        }
        Ok(())
    }

    fn write_by_them(&self, write: &Write, timestamp: u64) -> Result<(), Failure> {
        let array = self.context.open(&self.uri(), Mode::Write, Window::until(timestamp))?;
        let write = match write {
            Write::Dense { subarray, layout, fields } => {
                let datatypes = array_datatypes(&array)?;
                let ranges: Vec<_> =
                    subarray.0.iter().zip(datatypes).map(|(range, datatype)| translate::range(range, datatype)).collect();
                peer::Write::dense(translate::layout(*layout)?, ranges, translate::columns(fields))
            }
            Write::Sparse { fields } => peer::Write::sparse(translate::columns(fields)),
            Write::Stream { parts } => peer::Write {
                layout: peer::Layout::GlobalOrder,
                subarray: Vec::new(),
                batches: parts.iter().map(|part| translate::columns(part)).collect(),
            },
        };
        array.write(&write)?;
        array.close()?;
        Ok(())
    }

    /// Deletes cells whose field compares with the bytes of a value.
    pub(super) fn delete(&self, by: Engine, condition: &QueryCondition, timestamp: u64) -> Result<(), Failure> {
        eprintln!("{by:?} delete at {timestamp}: {condition:?}");
        match by {
            Engine::Ours => {
                let array = self.open(TimeWindow::ALL)?;
                delete_cells(&array, condition, &DeleteOptions { timestamp: Some(timestamp), strict: false })?;
            }
            Engine::Theirs => {
                let array = self.context.open(&self.uri(), Mode::Delete, Window::until(timestamp))?;
                array.delete(&peer_condition(condition)?)?;
                array.close()?;
            }
        }
        Ok(())
    }

    pub(super) fn evolve(&self, by: Engine, change: &Change) -> Result<(), Failure> {
        eprintln!("{by:?} evolve: {change:?}");
        // Schemas are found by the text of their names, which begin with the millisecond.
        std::thread::sleep(std::time::Duration::from_millis(3));
        match by {
            Engine::Ours => {
                let evolution = match change {
                    Change::Add(attribute) => SchemaEvolution::new().add_attribute(attribute.clone()),
                    Change::Drop(name) => SchemaEvolution::new().drop_attribute(name),
                };
                let options = EvolveOptions { engine: self.options(), timestamp: None };
                evolve_array(&*self.storage()?, &ObjectPath::root(), &evolution, &[], &options)?;
            }
            Engine::Theirs => {
                let mut evolution = peer::Evolution::default();
                match change {
                    Change::Add(attribute) => evolution.add_attributes.push(translate::attribute(attribute)?),
                    Change::Drop(name) => evolution.drop_attributes.push(name.clone()),
                }
                self.context.evolve(&self.uri(), &evolution)?;
            }
        }
        std::thread::sleep(std::time::Duration::from_millis(3));
        Ok(())
    }

    /// Sets or deletes an entry of the array's metadata.
    pub(super) fn put_metadata(&self, by: Engine, key: &str, value: Option<&[u8]>, timestamp: u64) -> Result<(), Failure> {
        let datatype = talavera_types::Datatype::UInt8;
        match by {
            Engine::Ours => {
                let array = self.open(TimeWindow::ALL)?;
                let mut writer = MetadataWriter::for_array(&array, Some(timestamp));
                match value {
                    Some(value) => writer.put(key, MetadataValue::new(datatype, value.to_vec())?)?,
                    None => writer.delete(key)?,
                };
                writer.commit()?;
            }
            Engine::Theirs => {
                let array = self.context.open(&self.uri(), Mode::Write, Window::until(timestamp))?;
                match value {
                    Some(value) => array.put_metadata(key, translate::datatype(datatype)?, Some(value))?,
                    None => array.delete_metadata(key)?,
                }
                array.close()?;
            }
        }
        Ok(())
    }
}

fn array_datatypes(array: &peer::Array) -> Result<Vec<talavera_types::Datatype>, Failure> {
    let datatypes = array.schema()?.dimensions.into_iter().map(|dimension| {
        let code = dimension.datatype.code();
        talavera_types::Datatype::ALL.iter().copied().find(|datatype| datatype.code() == code)
    });
    datatypes.collect::<Option<_>>().ok_or_else(|| "a datatype that we do not have".into())
}

/// Comparisons with bytes, all of which have to hold.
fn peer_condition(condition: &QueryCondition) -> Result<peer::Condition, Failure> {
    match condition {
        QueryCondition::Compare { field, comparison, value: talavera_condition::Literal::Bytes(bytes) } => {
            let operator = match comparison {
                Comparison::Lt => peer::Operator::Less,
                Comparison::Le => peer::Operator::LessOrEqual,
                Comparison::Gt => peer::Operator::Greater,
                Comparison::Ge => peer::Operator::GreaterOrEqual,
                Comparison::Eq => peer::Operator::Equal,
                Comparison::Ne => peer::Operator::NotEqual,
            };
            Ok(peer::Condition::compare(field, operator, bytes.clone()))
        }
        QueryCondition::Combine { combination: talavera_condition::Combination::And, children } => {
            let mut children = children.iter().map(peer_condition);
            let first = children.next().ok_or("a combination of nothing")??;
            children.try_fold(first, |all, child| Ok(all.and(child?)))
        }
        other => Err(format!("{other:?} is not asked of the peer").into()),
    }
}
