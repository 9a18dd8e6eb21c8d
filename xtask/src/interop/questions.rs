//! Random questions to both engines, and whether their answers agree.

use talavera_engine::{FieldBuffer, Fragment, OpenArray, TimeWindow};
use talavera_peer::{Column, Mode, Read, Window};
use talavera_schema::{ArraySchema, Attribute, Dimension, Range};
use talavera_types::Layout;

use super::cells::{self, Pools};
use super::engines::Place;
use super::{schema, translate};
use crate::Failure;
use crate::fixtures::random::Random;

/// What is asked of an array.
#[derive(Debug, Clone)]
pub(super) struct Question {
    pub(super) layout: Layout,
    pub(super) ranges: Vec<Vec<Range>>,
    pub(super) fields: Option<Vec<String>>,
    /// The first and last time; the last is now without one.
    pub(super) window: (u64, Option<u64>),
    /// The bytes of the batches in which our engine answers a second time.
    batch_bytes: Option<u64>,
}

/// Fields with their cells.
pub(super) type Columns = Vec<(String, Column)>;

impl Question {
    /// Everything, in an order that any array has.
    pub(super) fn everything() -> Self {
        Self { layout: Layout::RowMajor, ranges: Vec::new(), fields: None, window: (0, None), batch_bytes: None }
    }

    /// A question to an array with this schema, whose cells were written at times up to `last_time`.
    pub(super) fn random(random: &mut Random, schema: &ArraySchema, pools: &Pools, last_time: u64) -> Self {
        let layouts = [Layout::RowMajor, Layout::ColMajor, Layout::GlobalOrder, Layout::Unordered];
        // Of dense arrays the reference reads in no order what it should read row-major, but then loses cells.
        let layout = *random.pick(if schema.is_dense() { &layouts[..3] } else { &layouts });
        let window = match random.below(10) {
            0..6 => (0, None),
            6..8 => (0, Some(random.below(usize::try_from(last_time).unwrap_or(0) + 3) as u64)),
            _ => {
                let (a, b) = (random.below(70) as u64, random.below(70) as u64);
                (a.min(b), Some(a.max(b)))
            }
        };
        let ranges = if random.chance(25) { Vec::new() } else { ranges(random, schema, pools, layout) };
        let fields = random.chance(20).then(|| fields(random, schema));
        let batch_bytes = random.chance(30).then(|| 1 << random.range(3, 16));
        Self { layout, ranges, fields, window, batch_bytes }
    }

    /// Makes it one that all releases answer alike: up to one range for each dimension, of the array as it is now.
    ///
    /// Releases before 2.3 know no times of a start; up to 2.25 several ranges repeat cells, of which some are lost where
    /// coordinates may repeat. They write beyond their memory when the cells of a dense array are not asked for in the order in
    /// which they lie.
    pub(super) fn simplify(&mut self, schema: &ArraySchema) {
        self.window = (0, None);
        if schema.is_dense() {
            self.layout = schema.cell_order;
        }
        // 2.2 sorts strings by a comparison that runs out of its memory.
        if !schema.version.names_files_by_index() && schema.domain.dimensions.iter().any(Dimension::is_var) {
            self.layout = Layout::RowMajor;
        }
        self.ranges.iter_mut().for_each(|ranges| ranges.truncate(1));
    }

    /// Asks both engines.
    ///
    /// # Errors
    /// With what differs; also when just one of them refuses.
    pub(super) fn ask(&self, place: &Place) -> Result<Answer, Failure> {
        self.ask_twins(place, place)
    }

    /// Asks us of one place, and the reference of another, in which the same was written.
    ///
    /// # Errors
    /// As [`Question::ask`].
    pub(super) fn ask_twins(&self, place: &Place, twin: &Place) -> Result<Answer, Failure> {
        let window = TimeWindow { start: self.window.0, end: self.window.1.unwrap_or(u64::MAX) };
        let array = place.open(window)?;
        // Seen where a case runs alone: the last one may be what the library crashes on.
        eprintln!("{self:?}");
        let asked = self.without_doubtful(&array);
        let (ours, theirs) = (asked.ask_us(&array), asked.ask_them(twin, array.schema()));
        let answer = self.agree(array.schema(), ours, theirs)?;
        let Answer::Same(_) = &answer else { return Ok(answer) };
        if let Some(bytes) = self.batch_bytes.filter(|_| !(array.schema().is_dense() && self.layout == Layout::GlobalOrder)) {
            let batches = asked.ask_us_in_batches(&array, bytes).map_err(|error| format!("{self:?}: in batches: {error}"))?;
            let ordered = Ordered::of(array.schema(), self.layout);
            compare(array.schema(), &batches, &asked.ask_us(&array)?, ordered)
                .map_err(|difference| format!("{self:?}: in batches: {difference}"))?;
        }
        Ok(answer)
    }

    /// Compares two answers.
    ///
    /// # Errors
    /// With what differs; also when just one engine refuses.
    pub(super) fn agree(
        &self,
        schema: &ArraySchema,
        ours: Result<Columns, Failure>,
        theirs: Result<Columns, Failure>,
    ) -> Result<Answer, Failure> {
        let (ours, theirs) = match (ours, theirs) {
            (Ok(ours), Ok(theirs)) => (ours, theirs),
            (Err(ours), Err(theirs)) => {
                eprintln!("refused: {ours}; {theirs}");
                return Ok(Answer::Refused);
            }
            (Err(ours), Ok(_)) => return Err(format!("{self:?}: only we refuse: {ours}").into()),
            (Ok(_), Err(theirs)) => return Err(format!("{self:?}: only the peer refuses: {theirs}").into()),
        };
        let ordered = Ordered::of(schema, self.layout);
        compare(schema, &ours, &theirs, ordered).map_err(|difference| format!("{self:?}: {difference}"))?;
        Ok(Answer::Same(theirs))
    }

    /// The same question without attributes that the reference gets wrong:
    /// - of dense arrays those that some fragment does not have and an older one has: where the newer fragment covers all of
    ///   a tile that is asked for, it shows the fill value, elsewhere the older fragment;
    /// - of sparse ones with duplicates, read in no order, those that some fragment does not have: it crashes.
    fn without_doubtful(&self, array: &OpenArray) -> Self {
        let schema = array.schema();
        let has = |fragment: &Fragment, name: &str| fragment.schema().attributes.iter().any(|attribute| attribute.name == name);
        let crashes = !schema.is_dense() && schema.allows_dups && self.layout == Layout::Unordered;
        let doubtful = |attribute: &Attribute| {
            let mut fragments = array.fragments().iter();
            let lacks = |fragment: &Fragment| !has(fragment, &attribute.name);
            (crashes && fragments.clone().any(lacks))
                || (schema.is_dense() && fragments.any(|fragment| !lacks(fragment)) && fragments.any(lacks))
        };
        let doubtful: Vec<&str> =
            schema.attributes.iter().filter(|it| doubtful(it)).map(|attribute| attribute.name.as_str()).collect();
        if doubtful.is_empty() {
            return self.clone();
        }
        let dimensions = schema.domain.dimensions.iter().map(|dimension| dimension.name.clone());
        let attributes = schema.attributes.iter().map(|attribute| attribute.name.clone());
        let mut fields: Vec<String> = self.fields.clone().unwrap_or_else(|| dimensions.chain(attributes).collect());
        fields.retain(|name| !doubtful.contains(&name.as_str()));
        if fields.is_empty() {
            fields.extend(schema.domain.dimensions.first().map(|dimension| dimension.name.clone()));
        }
        Self { fields: Some(fields), ..self.clone() }
    }

    pub(super) fn query<'a>(&self, array: &'a OpenArray) -> Result<talavera_engine::ReadQuery<'a>, Failure> {
        let mut query = array.query().layout(self.layout);
        for (dimension, ranges) in self.ranges.iter().enumerate() {
            for range in ranges {
                query = query.range(dimension, range.clone())?;
            }
        }
        if let Some(fields) = &self.fields {
            query = query.fields(fields.clone());
        }
        Ok(query)
    }

    fn ask_us(&self, array: &OpenArray) -> Result<Columns, Failure> {
        Ok(translate::columns(&self.query(array)?.read()?.fields))
    }

    fn ask_us_in_batches(&self, array: &OpenArray, bytes: u64) -> Result<Columns, Failure> {
        let mut all: Option<Columns> = None;
        for batch in self.query(array)?.batch_bytes(bytes).batches()? {
            let columns = translate::columns(&batch?.fields);
            match &mut all {
                None => all = Some(columns),
                Some(all) => all.iter_mut().zip(columns).for_each(|((_, all), (_, more))| append(all, &more)),
            }
        }
        match all {
            Some(all) => Ok(all),
            None => self.ask_us(array),
        }
    }

    /// The question as the peer takes it.
    pub(super) fn for_peer(&self, schema: &ArraySchema) -> Result<Read, Failure> {
        let ranges = self
            .ranges
            .iter()
            .zip(&schema.domain.dimensions)
            .map(|(ranges, dimension)| ranges.iter().map(|range| translate::range(range, dimension.datatype)).collect());
        Ok(Read {
            layout: translate::layout(self.layout)?,
            ranges: ranges.collect(),
            fields: self.fields.clone(),
            // Large enough for all cells: in row-major and column-major order the parts of a read that does not fit are not
            // always in order (20-semantics §5).
            buffer_bytes: 4 << 20,
            ..Read::default()
        })
    }

    fn ask_them(&self, place: &Place, schema: &ArraySchema) -> Result<Columns, Failure> {
        let window = Window { start: (self.window.0 > 0).then_some(self.window.0), end: self.window.1 };
        let array = place.context.open(&place.uri(), Mode::Read, window)?;
        Ok(array.read(&self.for_peer(schema)?)?)
    }
}

/// What came of a question.
pub(super) enum Answer {
    /// Both say this.
    Same(Columns),
    /// Both refuse to answer.
    Refused,
}

fn append(all: &mut Column, more: &Column) {
    let base = all.data.len() as u64;
    all.data.extend_from_slice(&more.data);
    if let (Some(all), Some(more)) = (&mut all.offsets, &more.offsets) {
        all.extend(more.iter().map(|offset| base + offset));
    }
    if let (Some(all), Some(more)) = (&mut all.validity, &more.validity) {
        all.extend_from_slice(more);
    }
}

fn fields(random: &mut Random, schema: &ArraySchema) -> Vec<String> {
    let dimensions = schema.domain.dimensions.iter().map(|dimension| dimension.name.clone());
    let mut names: Vec<_> = dimensions.chain(schema.attributes.iter().map(|attribute| attribute.name.clone())).collect();
    random.shuffle(&mut names);
    names.truncate(random.range(1, names.len()));
    names
}

/// Ranges that both engines mean the same by. Where the reference does not do what it should:
/// - ranges of a dense array that overlap, or are not given in ascending order, make it write beyond its buffers;
/// - several ranges in row-major and column-major order of a sparse array repeat cells and come unsorted (22-semantics §13);
/// - ranges that hold the empty string crash it in those orders;
/// - a range of the slowest dimension, if of strings, is answered as if the cells of a tile were ordered by it alone, which
///   they are not where another dimension has space tiles;
/// - overlapping ranges of strings lose their end when merged;
/// - ranges out of the domain are clamped to its edge.
fn ranges(random: &mut Random, schema: &ArraySchema, pools: &Pools, layout: Layout) -> Vec<Vec<Range>> {
    let dense = schema.is_dense();
    let several = layout != Layout::GlobalOrder && (dense || layout == Layout::Unordered);
    let whole = cells::whole(schema);
    let of_dimension = |(index, (dimension, whole)): (usize, (&Dimension, &Range))| {
        let most = match dimension.is_var() {
            true if in_doubt(schema, index) => 0,
            false if several => 3,
            _ => 1,
        };
        // A dense read wants a range for each dimension, or for none.
        let least = usize::from(dense);
        let mut ranges: Vec<Range> = Vec::new();
        for _ in 0..random.range(least, most) {
            let range = range(random, dimension, whole, index, schema, pools);
            let legacy = matches!(layout, Layout::RowMajor | Layout::ColMajor);
            if legacy && matches!(&range, Range::String(low, _) if low.is_empty()) {
                continue;
            }
            if !dense || !ranges.iter().any(|other| other.intersects(&range)) {
                ranges.push(range);
            }
        }
        if dense {
            ranges.sort_by(|a, b| a.low().partial_cmp(&b.low()).unwrap_or(std::cmp::Ordering::Equal));
        }
        ranges
    };
    schema.domain.dimensions.iter().zip(&whole.0).enumerate().map(of_dimension).collect()
}

/// Whether the cells of a tile are not ordered by the slowest dimension, which this is.
fn in_doubt(schema: &ArraySchema, index: usize) -> bool {
    let dimensions = &schema.domain.dimensions;
    let slowest = match schema.cell_order {
        Layout::RowMajor => 0,
        Layout::ColMajor => dimensions.len() - 1,
        _ => return false,
    };
    index == slowest && dimensions.iter().any(|dimension| dimension.tile_extent.is_some())
}

fn range(random: &mut Random, dimension: &Dimension, whole: &Range, index: usize, array: &ArraySchema, pools: &Pools) -> Range {
    if array.is_dense() {
        let (low, high) = schema::ends(whole).unwrap_or((0, 0));
        let (a, b) = (random.wide(low, high), random.wide(low, high));
        return schema::integers(dimension.datatype, a.min(b), a.max(b));
    }
    let mut ends = [pools.pick(random, index), pools.pick(random, index)];
    if random.chance(20) {
        ends[1] = ends[0].clone();
    }
    let point = |bytes: &[u8]| talavera_schema::Coordinate::from_le_bytes(dimension.datatype, bytes).map(Range::point);
    match (point(&ends[0]), point(&ends[1])) {
        (Some(mut first), Some(second)) => {
            first.union_with(&second);
            first
        }
        _ => whole.clone(),
    }
}

/// How far the order of an answer is fixed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ordered {
    /// Cell by cell.
    Cells,
    /// Coordinates are in order, and nothing is said of cells that share them.
    Coordinates,
    No,
}

impl Ordered {
    fn of(schema: &ArraySchema, layout: Layout) -> Self {
        match layout {
            _ if schema.is_dense() => Self::Cells,
            Layout::Unordered => Self::No,
            _ if schema.allows_dups => Self::Coordinates,
            _ => Self::Cells,
        }
    }
}

fn compare(schema: &ArraySchema, ours: &Columns, theirs: &Columns, ordered: Ordered) -> Result<(), String> {
    let same = |name: &str| {
        let find = |columns: &Columns| columns.iter().find(|(of, _)| of == name).map(|(_, column)| column.clone());
        match (find(ours), find(theirs)) {
            (None, None) => Ok(()),
            (Some(ours), Some(theirs)) if ours == theirs => Ok(()),
            (ours, theirs) => Err(format!("{name:?} differs: {}", difference(ours.as_ref(), theirs.as_ref()))),
        }
    };
    let (names, expected): (Vec<_>, Vec<_>) = (names(ours), names(theirs));
    if names != expected {
        return Err(format!("we answer {names:?}, the peer {expected:?}"));
    }
    match ordered {
        Ordered::Cells => return ours.iter().try_for_each(|(name, _)| same(name)),
        Ordered::Coordinates => schema.domain.dimensions.iter().try_for_each(|dimension| same(&dimension.name))?,
        Ordered::No => {}
    }
    let (mut ours, mut theirs) = (rows(schema, ours), rows(schema, theirs));
    ours.sort();
    theirs.sort();
    if ours != theirs {
        let missing = theirs.iter().filter(|row| !ours.contains(row)).count();
        let surplus = ours.iter().filter(|row| !theirs.contains(row)).count();
        return Err(format!(
            "we have {} cells, the peer {}; {missing} of the peer's are not ours, {surplus} of ours not the peer's",
            ours.len(),
            theirs.len()
        ));
    }
    Ok(())
}

fn names(columns: &Columns) -> Vec<&str> {
    columns.iter().map(|(name, _)| name.as_str()).collect()
}

/// Where two columns differ first.
fn difference(ours: Option<&Column>, theirs: Option<&Column>) -> String {
    let (Some(ours), Some(theirs)) = (ours, theirs) else { return "one of them lacks it".into() };
    let first = |a: &[u8], b: &[u8]| a.iter().zip(b).position(|(a, b)| a != b).unwrap_or(a.len().min(b.len()));
    if ours.offsets != theirs.offsets {
        let of = |column: &Column| column.offsets.as_ref().map_or(0, Vec::len);
        return format!("offsets, {} and {} of them", of(ours), of(theirs));
    }
    if ours.data != theirs.data {
        let at = first(&ours.data, &theirs.data);
        let show = |data: &[u8]| format!("{:02x?}", data.iter().skip(at & !7).take(16).collect::<Vec<_>>());
        let (ours_len, theirs_len) = (ours.data.len(), theirs.data.len());
        return format!("data of {ours_len} and {theirs_len} bytes at {at}: {} and {}", show(&ours.data), show(&theirs.data));
    }
    let valid = |column: &Column| column.validity.clone().unwrap_or_default();
    let at = first(&valid(ours), &valid(theirs));
    format!("validity of cell {at}: {:?} and {:?}", valid(ours).get(at), valid(theirs).get(at))
}

/// A cell: its validity, where it has one, and its bytes.
pub(super) type Cell = (Option<u8>, Vec<u8>);

/// The cells row by row, in the order of their fields.
pub(super) fn rows(schema: &ArraySchema, columns: &Columns) -> Vec<Vec<Cell>> {
    let fields: Vec<Vec<Cell>> = columns.iter().map(|(name, column)| cells_of(schema, name, column)).collect();
    let count = fields.first().map_or(0, Vec::len);
    (0..count).map(|cell| fields.iter().filter_map(|field| field.get(cell).cloned()).collect()).collect()
}

fn cells_of(schema: &ArraySchema, name: &str, column: &Column) -> Vec<Cell> {
    let valid = |cell: usize| column.validity.as_ref().and_then(|validity| validity.get(cell)).copied();
    if let Some(cells) = column.cells() {
        return cells.into_iter().enumerate().map(|(cell, bytes)| (valid(cell), bytes.to_vec())).collect();
    }
    let attribute = schema.attributes.iter().find(|attribute| attribute.name == name);
    let dimension = schema.domain.dimensions.iter().find(|dimension| dimension.name == name);
    let bytes = attribute.and_then(Attribute::cell_bytes).or(dimension.and_then(Dimension::cell_bytes)).unwrap_or(1);
    column.data.chunks(bytes).enumerate().map(|(cell, bytes)| (valid(cell), bytes.to_vec())).collect()
}

/// Rows of fields that were written.
pub(super) fn rows_of(fields: &[(String, FieldBuffer)]) -> Vec<Vec<Cell>> {
    let count = fields.first().map_or(0, |(_, field)| field.len());
    let cell = |field: &FieldBuffer, cell: usize| {
        (field.validity().and_then(|validity| validity.get(cell)).copied(), field.cell(cell).unwrap_or_default().to_vec())
    };
    (0..count).map(|index| fields.iter().map(|(_, field)| cell(field, index)).collect()).collect()
}
