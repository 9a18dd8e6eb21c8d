//! One case: a random array, written by one engine or both, read by both.

use std::path::Path;

use talavera_condition::{Comparison, Literal, field};
use talavera_engine::{ArrayWriter, CreateOptions, EngineOptions, Fragment, OpenArray, TimeWindow, WriteOptions, create_array};
use talavera_peer::{Library, Mode, PeerError, Window};
use talavera_schema::{ArraySchema, Attribute, TileGrid};
use talavera_storage::{MemoryStorage, ObjectPath, Storage};
use talavera_types::{CellValNum, Datatype, DatatypeClass, FilterType, FormatVersion, Layout};

use super::cells::{self, Fields, Pools};
use super::engines::{Change, Engine, Place, Write};
use super::model::Model;
use super::questions::{Answer, Question};
use super::schema::{Bounds, Subject};
use super::{Kind, asked, fragments, schema, translate};
use crate::Failure;
use crate::fixtures::random::Random;

/// What one case has to say.
#[derive(Debug, Default)]
pub(super) struct Outcome {
    /// Questions that both engines refused to answer, and maintenance that the reference refused.
    pub(super) refused: usize,
    pub(super) asked: usize,
}

/// A case while it runs.
struct Case<'a> {
    random: &'a mut Random,
    place: Place,
    subject: Subject,
    pools: Pools,
    /// Times of what is done, no two alike: of two writes at one time, either may win (20-semantics §0.1).
    times: Vec<u64>,
    last_time: u64,
    outcome: Outcome,
    /// Fields that deletes compare: without them, the reference cannot read the array any more.
    compared: Vec<String>,
    /// Whether just plain questions are asked, and what the release reads wrongly of its own arrays is passed over.
    plain: bool,
    /// What was written, and when.
    written: Vec<(Write, u64)>,
}

/// How often a release is asked again for what it wrote itself.
const TRIES: usize = 4;

/// Runs a case in a folder that is there and empty.
pub(super) fn run(
    kind: Kind,
    random: &mut Random,
    library: &Library,
    folder: &Path,
    bounds: Option<Bounds>,
) -> Result<Outcome, Failure> {
    let version = match kind {
        // What we write in older versions, the newest reference reads too.
        Kind::Ours if random.chance(25) => FormatVersion::new(u32::try_from(random.range(7, 22))?)?,
        _ => FormatVersion::DEFAULT,
    };
    let null_extents = kind == Kind::Ours;
    let bounds = bounds.unwrap_or(Bounds {
        version,
        may_be_encrypted: true,
        null_extents,
        last_datatype: u8::MAX,
        webp: true,
        validity_filters: true,
        twin_alone: false,
    });
    let subject = Subject::random(random, bounds)?;
    let pools = Pools::random(random, &subject.schema, subject.large);
    let place = Place::new(library, &folder.join("array"), subject.key)?;
    eprintln!("{:#?}", subject.schema);
    let mut times: Vec<u64> = (1..=60).collect();
    random.shuffle(&mut times);
    let (outcome, plain) = (Outcome::default(), kind == Kind::Versions);
    let mut case =
        Case { random, place, subject, pools, times, last_time: 0, outcome, compared: Vec::new(), plain, written: Vec::new() };
    match kind {
        Kind::Ours => case.written_by(&[Engine::Ours])?,
        Kind::Versions => case.read_by_old_release(library, &folder.join("twin"), bounds)?,
        Kind::Theirs => case.written_by(&[Engine::Theirs])?,
        Kind::Mixed => case.written_by(&[Engine::Ours, Engine::Theirs])?,
        Kind::Maintained => case.maintained(bounds)?,
        Kind::Questions => case.questioned()?,
        Kind::Metadata => case.metadata(library, &folder.join("twin"))?,
        Kind::Kill => {}
    }
    Ok(case.outcome)
}

impl Case<'_> {
    fn written_by(&mut self, engines: &[Engine]) -> Result<(), Failure> {
        let creator = *self.random.pick(engines);
        self.place.create(creator, &self.subject)?;
        self.check_schema()?;
        let mut model = Model::new(&self.subject.schema);
        // Releases of old read beyond their memory where several dense fragments lie over each other.
        let most = if self.plain && self.subject.schema.is_dense() && !self.subject.schema.version.has_cell_timestamps() {
            1
        } else {
            4
        };
        for _ in 0..self.random.range(1, most) {
            let engine = *self.random.pick(engines);
            let write = self.write(true)?;
            if let Some(time) = self.do_write(engine, &write)? {
                model.write(&write, time);
                self.written.push((write, time));
            }
        }
        if self.plain {
            return Ok(());
        }
        if let Answer::Same(found) = Question::everything().ask(&self.place)? {
            model.check(&found)?;
        }
        self.ask(6)
    }

    /// What we write, read by a release that may read wrongly: but not where it reads rightly what it writes itself.
    fn read_by_old_release(&mut self, library: &Library, twin: &Path, bounds: Bounds) -> Result<(), Failure> {
        self.written_by(&[Engine::Ours])?;
        let twin = Place::new(library, twin, self.subject.key)?;
        let schema = self.schema()?;
        let mut questions = vec![Question::everything()];
        questions.extend((0..5).map(|_| Question::random(self.random, &schema, &self.pools, self.last_time)));
        for mut question in questions {
            question.simplify(&schema);
            self.outcome.asked += 1;
            if bounds.twin_alone {
                self.written_again(&twin)?;
                let _ = question.ask_twins(&self.place, &twin);
                continue;
            }
            let Err(failure) = question.ask(&self.place) else { continue };
            match self.written_again(&twin) {
                // What it reads wrongly may depend on what lies in its memory.
                Ok(()) if (0..TRIES).any(|_| question.ask_twins(&self.place, &twin).is_err()) => {}
                Ok(()) => return Err(failure),
                // What it refuses to write need not be read.
                Err(why) if is_refusal(&why) => eprintln!("refused: {failure}; {why}"),
                Err(why) => return Err(format!("{failure}; nobody knows how it reads what it writes itself: {why}").into()),
            }
            self.outcome.refused += 1;
        }
        Ok(())
    }

    /// Has the reference write to a twin what we wrote, unless it is there.
    fn written_again(&self, twin: &Place) -> Result<(), Failure> {
        if twin.folder.exists() {
            return Ok(());
        }
        twin.create(Engine::Theirs, &self.subject)?;
        let written = self.written.iter().try_for_each(|(write, time)| twin.write(Engine::Theirs, write, *time));
        if written.is_err() {
            std::fs::remove_dir_all(&twin.folder)?;
        }
        written
    }

    /// Conditions, several ranges and aggregates.
    fn questioned(&mut self) -> Result<(), Failure> {
        let engines = [Engine::Ours, Engine::Theirs];
        self.place.create(*self.random.pick(&engines), &self.subject)?;
        for _ in 0..self.random.range(1, 4) {
            let (engine, write) = (*self.random.pick(&engines), self.write(true)?);
            self.do_write(engine, &write)?;
        }
        for _ in 0..6 {
            self.outcome.asked += 1;
            if let Answer::Refused = asked::ask(self.random, &self.place, &self.pools)? {
                self.outcome.refused += 1;
            }
        }
        Ok(())
    }

    /// Deletes, evolutions and consolidations between the writes.
    fn maintained(&mut self, bounds: Bounds) -> Result<(), Failure> {
        let engine = |random: &mut Random| *random.pick(&[Engine::Ours, Engine::Theirs]);
        let creator = engine(self.random);
        self.place.create(creator, &self.subject)?;
        let (mut consolidated, mut added) = (Vec::new(), 0);
        for step in 0..self.random.range(3, 9) {
            let by = engine(self.random);
            eprintln!("step {step} by {by:?}");
            match if step == 0 { 0 } else { self.random.below(100) } {
                0..50 => {
                    let write = self.write(true)?;
                    self.do_write(by, &write)?;
                }
                50..65 => self.delete(by)?,
                65..75 => {
                    added += 1;
                    self.evolve(by, bounds, added)?;
                }
                75..85 => {
                    let value = self.random.chance(70).then(|| self.random.bytes(5));
                    let (key, time) = (*self.random.pick(&["k", "key 2", "ü"]), self.time());
                    self.place.put_metadata(by, key, value.as_deref(), time)?;
                }
                _ => self.consolidate(&mut consolidated)?,
            }
            self.ask(1)?;
        }
        self.check_array_metadata()?;
        self.ask(4)
    }

    /// One fragment of the same cells by each engine.
    fn metadata(&mut self, library: &Library, twin: &Path) -> Result<(), Failure> {
        let theirs = Place::new(library, twin, self.subject.key)?;
        self.place.create(Engine::Ours, &self.subject)?;
        theirs.create(Engine::Theirs, &self.subject)?;
        same_schemas(&self.place, &theirs)?;
        // Which of several cells of one tile comes first is not fixed, so statistics would depend on it.
        let write = self.write(false)?;
        let time = self.time();
        if self.crashes_the_peer(&write)? {
            return Ok(());
        }
        self.place.write(Engine::Ours, &write, time)?;
        if let Err(failure) = theirs.write(Engine::Theirs, &write, time) {
            return self.excused(failure);
        }
        fragments::compare(&self.place, &theirs)?;
        let (Answer::Same(ours), Answer::Same(theirs)) =
            (Question::everything().ask(&self.place)?, Question::everything().ask(&theirs)?)
        else {
            return Err("not both arrays can be read".into());
        };
        // Transparent pixels keep their colour in our images.
        let image = |name: &String| {
            let attribute = self.subject.schema.attributes.iter().find(|attribute| attribute.name == *name);
            attribute.is_some_and(|attribute| attribute.filters.contains(FilterType::Webp))
        };
        let differing = ours.iter().zip(&theirs).find(|(ours, theirs)| ours != theirs && !image(&ours.0));
        if let Some(((name, _), _)) = differing.filter(|_| !self.subject.schema.allows_dups) {
            return Err(format!("the two arrays hold different cells of {name:?}").into());
        }
        self.ask(2)
    }

    /// Writes, unless the reference crashes on it or has no excuse for refusing; gives the time.
    fn do_write(&mut self, by: Engine, write: &Write) -> Result<Option<u64>, Failure> {
        if by == Engine::Theirs && self.crashes_the_peer(write)? {
            return Ok(None);
        }
        let time = self.time();
        match self.place.write(by, write, time) {
            Ok(()) => Ok(Some(time)),
            Err(failure) if by == Engine::Theirs => self.excused(failure).map(|()| None),
            Err(failure) => Err(format!("we cannot write at {time}: {failure}").into()),
        }
    }

    /// Whether the reference may crash on a dense write: with more attributes than tiles, it takes minimum and maximum of
    /// text of variable length from memory that it has given back (04-fragment-metadata §8).
    fn crashes_the_peer(&self, write: &Write) -> Result<bool, Failure> {
        let Write::Dense { subarray, .. } = write else { return Ok(false) };
        let schema = self.schema()?;
        let text = |attribute: &Attribute| attribute.is_var() && attribute.datatype.class() == DatatypeClass::Text;
        let tiles = TileGrid::new(&schema, subarray)?.tile_count();
        Ok(schema.attributes.iter().any(text) && schema.attributes.len() as u64 > tiles)
    }

    /// Lets a refusal of the reference pass that is its own fault: it reserves too little for what GZIP cannot make smaller.
    fn excused(&mut self, failure: Failure) -> Result<(), Failure> {
        if failure.to_string().contains("output buffer too small") {
            self.outcome.refused += 1;
            return Ok(());
        }
        Err(format!("the peer cannot write: {failure}").into())
    }

    /// A time that was not there before.
    fn time(&mut self) -> u64 {
        let time = self.times.pop().unwrap_or(100);
        self.last_time = self.last_time.max(time);
        time
    }

    fn ask(&mut self, questions: usize) -> Result<(), Failure> {
        let schema = self.schema()?;
        for _ in 0..questions {
            let question = Question::random(self.random, &schema, &self.pools, self.last_time);
            self.outcome.asked += 1;
            if let Answer::Refused = question.ask(&self.place)? {
                self.outcome.refused += 1;
            }
        }
        Ok(())
    }

    /// The newest schema.
    fn schema(&self) -> Result<ArraySchema, Failure> {
        Ok(self.place.open(TimeWindow::ALL)?.schema().clone())
    }

    fn check_schema(&self) -> Result<(), Failure> {
        let found = self.schema()?;
        let mut expected = self.subject.schema.clone();
        // The names of the files of enumerations are the writer's.
        expected.enumerations.clone_from(&found.enumerations);
        if found != expected {
            return Err(format!("we read another schema: {}", difference(&found, &expected)).into());
        }
        let theirs = self.place.context.open(&self.place.uri(), Mode::Read, Window::default())?.schema()?;
        let expected: Vec<_> = self.subject.enumerations.iter().map(translate::enumeration).collect::<Result<_, _>>()?;
        if theirs.enumerations != expected {
            return Err(format!("the peer reads enumerations {:?}", theirs.enumerations).into());
        }
        let array = self.place.open(TimeWindow::ALL)?;
        for enumeration in &expected {
            if translate::enumeration(&*array.enumeration(&enumeration.name)?)? != *enumeration {
                return Err(format!("we read enumeration {:?} differently", enumeration.name).into());
            }
        }
        Ok(())
    }

    fn check_array_metadata(&self) -> Result<(), Failure> {
        let array = self.place.open(TimeWindow::ALL)?;
        let ours =
            array.metadata()?.iter().map(|(key, value)| (String::from_utf8_lossy(key).into_owned(), value.bytes().to_vec()));
        let theirs = self.place.context.open(&self.place.uri(), Mode::Read, Window::default())?.metadata()?;
        let theirs = theirs.into_iter().map(|entry| (entry.key, entry.value.unwrap_or_default()));
        let (mut ours, mut theirs): (Vec<_>, Vec<_>) = (ours.collect(), theirs.collect());
        ours.sort();
        theirs.sort();
        if ours == theirs { Ok(()) } else { Err(format!("we read metadata {ours:?}, the peer {theirs:?}").into()) }
    }

    /// A write of a whole fragment; coordinates may repeat where the array allows it.
    fn write(&mut self, may_repeat: bool) -> Result<Write, Failure> {
        let schema = self.schema()?;
        if schema.is_dense() {
            let (mut subarray, mut fields) = cells::dense(self.random, &schema)?;
            if self.subject.large && self.random.chance(50) {
                (subarray, fields) = cells::dense(self.random, &schema)?;
            }
            let layout = *self.random.pick(&[Layout::RowMajor, Layout::ColMajor]);
            return Ok(Write::Dense { subarray, layout, fields });
        }
        let count = if self.subject.large { self.random.range(5_000, 25_000) } else { self.random.range(1, 300) };
        let repeats = may_repeat && schema.allows_dups && self.random.chance(60);
        let fields = cells::sparse(self.random, &schema, &self.pools, count, repeats)?;
        if self.random.chance(25) && !repeats {
            return Ok(Write::Stream { parts: self.in_global_order(&schema, fields)? });
        }
        Ok(Write::Sparse { fields })
    }

    /// Cells in the array's global order, in parts: as an array in memory gives them back.
    fn in_global_order(&mut self, schema: &ArraySchema, fields: Fields) -> Result<Vec<Fields>, Failure> {
        let storage: std::sync::Arc<dyn Storage> = std::sync::Arc::new(MemoryStorage::new());
        let mut plain = schema.clone();
        for attribute in &mut plain.attributes {
            // The cells are to come back as they are.
            attribute.filters.filters.clear();
            attribute.enumeration = None;
        }
        plain.enumerations.clear();
        create_array(&*storage, &ObjectPath::root(), &plain, &[], &CreateOptions::default())?;
        let writer = ArrayWriter::open(storage.clone(), ObjectPath::root(), EngineOptions::default())?;
        writer.write_sparse(&fields, WriteOptions::default())?;
        let array = OpenArray::open(storage, ObjectPath::root(), TimeWindow::ALL, EngineOptions::default())?;
        let sorted = array.query().layout(Layout::GlobalOrder).read()?;
        let mut parts = Vec::new();
        let mut start = 0;
        while start < sorted.cells {
            let end = sorted.cells.min(start + self.random.range(1, sorted.cells));
            let part = sorted.fields.iter().map(|(name, field)| Ok((name.clone(), translate::slice(field, start..end)?)));
            parts.push(part.collect::<Result<_, Failure>>()?);
            start = end;
        }
        Ok(parts)
    }

    /// Deletes by one comparison, or two that both have to hold: disjunctions go wrong in the reference where a fragment
    /// lacks a field (21-semantics §6.3), as do comparisons of several characters (§6.1).
    fn delete(&mut self, by: Engine) -> Result<(), Failure> {
        let schema = self.schema()?;
        if schema.is_dense() {
            return Ok(());
        }
        let comparisons = [Comparison::Lt, Comparison::Le, Comparison::Gt, Comparison::Ge, Comparison::Eq, Comparison::Ne];
        let mut compared: Vec<(String, Vec<u8>)> = Vec::new();
        for (index, dimension) in schema.domain.dimensions.iter().enumerate() {
            compared.push((dimension.name.clone(), self.pools.pick(self.random, index)));
        }
        for attribute in &schema.attributes {
            let text = attribute.is_var() && matches!(attribute.datatype, Datatype::StringAscii | Datatype::StringUtf8);
            let number = attribute.cell_val_num == CellValNum::ONE
                && !matches!(attribute.datatype.class(), DatatypeClass::Text | DatatypeClass::Opaque);
            // The reference goes by the schema at the time of the delete, which is before all evolutions.
            let first = self.subject.schema.attributes.iter().any(|first| first.name == attribute.name);
            if (text || number) && first && attribute.enumeration.is_none() {
                let cells = cells::of_attribute(self.random, &schema, attribute, 1)?;
                compared.push((attribute.name.clone(), cells.cell(0).unwrap_or_default().to_vec()));
            }
        }
        let condition = |random: &mut Random| {
            let (name, value) = random.pick(&compared);
            field(name.clone()).compare(*random.pick(&comparisons), Literal::Bytes(value.clone()))
        };
        let first = condition(self.random);
        let condition = if self.random.chance(30) { first & condition(self.random) } else { first };
        self.compared.extend(condition.fields().into_iter().map(str::to_owned));
        let time = self.time();
        let done = self.place.delete(by, &condition, time);
        done.map_err(|error| format!("{by:?} cannot delete {condition:?}: {error}").into())
    }

    fn evolve(&mut self, by: Engine, bounds: Bounds, number: usize) -> Result<(), Failure> {
        // The reference leaves the new schema of an encrypted array unencrypted, and cannot open the array any more.
        let by = if self.subject.key.is_some() { Engine::Ours } else { by };
        let schema = self.schema()?;
        let names = schema.attributes.iter().map(|attribute| &attribute.name);
        let droppable: Vec<&String> = names.filter(|name| !self.compared.contains(name)).collect();
        let change = if self.random.chance(60) || droppable.is_empty() || schema.attributes.len() < 2 {
            Change::Add(schema::attribute(self.random, bounds, format!("added {number}")))
        } else {
            Change::Drop((*self.random.pick(&droppable)).clone())
        };
        self.place.evolve(by, &change).map_err(|error| format!("{by:?} cannot make the change {change:?}: {error}").into())
    }

    /// Each mode once: what the reference consolidates a second time it names wrongly (21-semantics §8.2), or fails to
    /// (§8.4).
    fn consolidate(&mut self, done: &mut Vec<&'static str>) -> Result<(), Failure> {
        let mode = *self.random.pick(&["fragments", "fragments", "commits", "fragment_meta", "array_meta"]);
        let schema = self.schema()?;
        // Of a dense array with a current domain it makes fragments that nobody can read (21-semantics §8.2).
        if done.contains(&mode) || (mode == "fragments" && schema.is_dense() && schema.current_domain.is_some()) {
            return Ok(());
        }
        // It divides by the number of tiles of each attribute of variable length.
        let array = self.place.open(TimeWindow::ALL)?;
        let nowhere = |attribute: &Attribute| {
            let has = |fragment: &Fragment| fragment.schema().attributes.iter().any(|it| it.name == attribute.name);
            attribute.is_var() && !array.fragments().iter().any(has)
        };
        if mode == "fragments" && schema.attributes.iter().any(nowhere) {
            return Ok(());
        }
        done.push(mode);
        eprintln!("Theirs consolidate {mode}");
        let purge = if self.random.chance(20) { "true" } else { "false" };
        let config = [("sm.consolidation.mode", mode), ("sm.consolidation.purge_deleted_cells", purge)];
        // Filters may refuse fill values, and some modes want something to consolidate.
        if self.place.context.consolidate(&self.place.uri(), &config).is_err() {
            self.outcome.refused += 1;
        } else if self.random.chance(40) {
            self.place.context.vacuum(&self.place.uri(), &[("sm.vacuum.mode", mode)])?;
        }
        Ok(())
    }
}

/// Whether the reference itself refused, and not our wrapper of it.
pub(super) fn is_refusal(failure: &Failure) -> bool {
    matches!(failure.downcast_ref(), Some(PeerError::Refused { .. }))
}

/// Whether both engines see the same schema in both arrays.
fn same_schemas(ours: &Place, theirs: &Place) -> Result<(), Failure> {
    let [a, b] = [ours, theirs].map(|place| -> Result<_, Failure> {
        let mut schema = place.open(TimeWindow::ALL)?.schema().clone();
        schema.enumerations.iter_mut().for_each(|reference| reference.file_name.clear());
        Ok((schema, place.context.open(&place.uri(), Mode::Read, Window::default())?.schema()?))
    });
    let (a, b) = (a?, b?);
    if a.0 != b.0 {
        return Err(format!("we see in our array and in the peer's: {}", difference(&a.0, &b.0)).into());
    }
    if a.1 != b.1 {
        return Err(format!("the peer sees in our array and in its own: {}", difference(&a.1, &b.1)).into());
    }
    Ok(())
}

/// The lines in which two values differ.
fn difference<T: std::fmt::Debug>(a: &T, b: &T) -> String {
    let (a, b) = (format!("{a:#?}"), format!("{b:#?}"));
    let differing = a.lines().zip(b.lines()).filter(|(a, b)| a != b).map(|(a, b)| format!("{} / {}", a.trim(), b.trim()));
    differing.take(8).collect::<Vec<_>>().join("; ")
}
