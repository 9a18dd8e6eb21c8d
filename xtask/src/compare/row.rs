//! What a row is, and the two kinds of work that most rows do: reading and writing.

use clap::ValueEnum;
use talavera_condition::QueryCondition;
use talavera_engine::{Batch, FieldBuffer, OpenArray, WriteOptions};
use talavera_peer::{self as peer, Context, Library, Mode, Window};
use talavera_schema::{ArraySchema, Range};
use talavera_types::Layout;

use super::arrays::{self, Subject};
use super::bound::{Bound, BoundTurn};
use crate::Failure;
use crate::interop::translate;

/// Whose turn it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Engine {
    Ours,
    Peer,
}

impl Engine {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Ours => "ours",
            Self::Peer => "peer",
        }
    }
}

/// A row of the table.
pub(crate) struct Row {
    /// Of the table, with a letter where a workload has several rows.
    pub(crate) id: &'static str,
    pub(crate) what: &'static str,
    pub(crate) work: Box<dyn Work>,
}

impl Row {
    pub(crate) fn new(id: &'static str, what: &'static str, work: impl Work + 'static) -> Self {
        Self { id, what, work: Box::new(work) }
    }
}

/// What both engines are asked to do.
pub(crate) trait Work: Sync {
    /// Makes what has to be there before the clock runs, and gives what is timed.
    fn prepare(&self, engine: Engine) -> Result<Turn, Failure>;

    /// What no engine can be faster than, if the row has such a bound.
    fn bound(&self) -> Result<Option<BoundTurn>, Failure> {
        Ok(None)
    }

    /// Removes what turns have left on disk.
    fn clean(&self) {}
}

/// Does the work, once; gives the bytes of cells read or written, the same by both engines. It is dropped when the clock has
/// stopped, and with it the cells to be written, which are the caller's.
pub(crate) type Turn = Box<dyn FnMut() -> Result<u64, Failure>>;

/// Reads from an array that is opened once.
pub(crate) struct Reading {
    pub(crate) subject: Subject,
    pub(crate) questions: Vec<Question>,
    pub(crate) bound: Option<Bound>,
}

/// A read, as both engines are asked for it.
#[derive(Clone)]
pub(crate) struct Question {
    layout: Layout,
    /// Of each dimension; none for all of it.
    ranges: Vec<Vec<Range>>,
    condition: Option<(QueryCondition, peer::Condition)>,
    /// Bytes of the largest field of the answer: libtiledb wants its buffers beforehand.
    field_bytes: usize,
}

impl Question {
    /// All cells.
    pub(crate) fn whole(layout: Layout, field_bytes: usize) -> Self {
        Self { layout, ranges: Vec::new(), condition: None, field_bytes }
    }

    pub(crate) fn ranges(mut self, ranges: Vec<Vec<Range>>) -> Self {
        self.ranges = ranges;
        self
    }

    /// Only cells that fulfil a condition, given in our language and in libtiledb's structures.
    pub(crate) fn condition(mut self, ours: &str, theirs: peer::Condition) -> Result<Self, Failure> {
        self.condition = Some((QueryCondition::from_text(ours)?, theirs));
        Ok(self)
    }

    fn ask(&self, array: &OpenArray) -> Result<u64, Failure> {
        let mut query = array.query().layout(self.layout);
        for (dimension, ranges) in self.ranges.iter().enumerate() {
            for range in ranges {
                query = query.range(dimension, range.clone())?;
            }
        }
        if let Some((condition, _)) = &self.condition {
            query = query.condition(condition.clone());
        }
        Ok(cell_bytes(&query.read()?))
    }

    fn translated(&self, schema: &ArraySchema) -> Result<peer::Read, Failure> {
        let dimensions = schema.domain.dimensions.iter().zip(&self.ranges);
        let ranges = dimensions.map(|(dimension, ranges)| {
            ranges.iter().map(|range| translate::range(range, dimension.datatype)).collect::<Vec<_>>()
        });
        Ok(peer::Read {
            layout: translate::layout(self.layout)?,
            ranges: ranges.collect(),
            fields: None,
            condition: self.condition.as_ref().map(|(_, condition)| condition.clone()),
            buffer_bytes: self.field_bytes,
        })
    }
}

impl Reading {
    pub(crate) fn new(subject: Subject, questions: Vec<Question>) -> Self {
        Self { subject, questions, bound: None }
    }

    pub(crate) fn bound(mut self, bound: Bound) -> Self {
        self.bound = Some(bound);
        self
    }
}

impl Work for Reading {
    fn prepare(&self, engine: Engine) -> Result<Turn, Failure> {
        self.subject.make()?;
        if engine == Engine::Ours {
            let (subject, questions) = (self.subject, self.questions.clone());
            return Ok(Box::new(move || {
                let array = subject.open()?;
                questions.iter().map(|question| question.ask(&array)).sum()
            }));
        }
        let schema = (self.subject.schema)()?;
        let reads = self.questions.iter().map(|question| question.translated(&schema)).collect::<Result<Vec<_>, _>>()?;
        let (context, uri) = (context()?, uri(&self.subject.folder())?);
        Ok(Box::new(move || {
            let array = context.open(&uri, Mode::Read, Window::default())?;
            reads.iter().map(|read| Ok(array.read_discard(read)?)).sum()
        }))
    }

    fn bound(&self) -> Result<Option<BoundTurn>, Failure> {
        self.subject.make()?;
        self.bound.map_or(Ok(None), |bound| bound.prepare(&self.subject))
    }
}

/// Writes the cells of an array's first write into an empty array.
pub(crate) struct Writing {
    pub(crate) subject: Subject,
}

impl Work for Writing {
    fn prepare(&self, engine: Engine) -> Result<Turn, Failure> {
        self.clean();
        let folder = self.subject.folder().join("written");
        let writer = self.subject.create_empty(&folder)?;
        let fields = (self.subject.cells)(1)?;
        let bytes = fields.iter().map(|(_, field)| field_bytes(field)).sum();
        if engine == Engine::Ours {
            return Ok(Box::new(move || {
                arrays::write_cells(&writer, &fields, WriteOptions::default())?;
                Ok(bytes)
            }));
        }
        let schema = writer.schema();
        let columns = fields.into_iter().map(|(name, field)| (name, translate::column(&field))).collect();
        let domain = schema.domain.dimensions.iter().zip(arrays::whole(schema).0);
        let domain = domain.map(|(dimension, range)| translate::range(&range, dimension.datatype)).collect::<Vec<_>>();
        let write = if schema.is_dense() {
            peer::Write::dense(peer::Layout::RowMajor, domain, columns)
        } else {
            peer::Write::sparse(columns)
        };
        let (context, uri) = (context()?, uri(&folder)?);
        let (mut write, mut written) = (Some(write), None);
        Ok(Box::new(move || {
            let write = write.take().ok_or("the cells are written once")?;
            written.replace(context.open(&uri, Mode::Write, Window::default())?.write_owned(write)?);
            Ok(bytes)
        }))
    }

    fn bound(&self) -> Result<Option<BoundTurn>, Failure> {
        self.subject.make()?;
        Bound::Encode.prepare(&self.subject)
    }

    fn clean(&self) {
        drop(std::fs::remove_dir_all(self.subject.folder().join("written")));
    }
}

/// Bytes of cells, an offset for each cell of variable length included.
fn cell_bytes(batch: &Batch) -> u64 {
    batch.fields.iter().map(|(_, field)| field_bytes(field)).sum()
}

fn field_bytes(field: &FieldBuffer) -> u64 {
    let offsets = field.offsets().map_or(0, |offsets| 8 * (offsets.len() as u64 - 1));
    field.data().len() as u64 + offsets + field.validity().map_or(0, |validity| validity.len() as u64)
}

/// libtiledb with as many threads as we take.
pub(crate) fn context() -> Result<Context, Failure> {
    let threads = std::thread::available_parallelism()?.to_string();
    let path = Library::locate("2.30.0").ok_or("libtiledb is not here; run `cargo xtask peer`")?;
    let library = Library::open(&path)?;
    let config = [("sm.compute_concurrency_level", threads.as_str()), ("sm.io_concurrency_level", threads.as_str())];
    Ok(Context::new(&library, &config)?)
}

/// The array in a folder, as libtiledb names it.
pub(crate) fn uri(folder: &std::path::Path) -> Result<String, Failure> {
    Ok(folder.join("array").to_str().ok_or("the path is not UTF-8")?.to_owned())
}
