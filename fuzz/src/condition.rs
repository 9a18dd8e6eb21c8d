//! Query conditions: commits, text, evaluation.
//!
//! Conditions name fields of a schema that is not there, so two bytes in front say what all fields are: u8 datatype;
//! u8 flags (1 variable length, 2 two values in a cell, 4 nullable).

use std::borrow::Cow;

use talavera_condition::{
    Bitmap, BoundCondition, ConditionError, FieldType, FieldView, QueryCondition, TileBounds, Tri, Trust, UpdateCommit,
};
use talavera_types::{CellValNum, Datatype};

use crate::input::Input;

/// Cells that conditions are evaluated over.
const CELLS: usize = 70;

/// A delete condition; input: the two bytes; the payload.
pub fn delete_condition(data: &[u8]) {
    let mut input = Input::new(data);
    let fields = Fields::new(&mut input);
    let Ok(condition) = QueryCondition::decode(input.rest()) else { return };
    check_stored(&condition);
    fields.look_at(&condition);
}

/// An update commit; input: the two bytes; the payload.
pub fn update_commit(data: &[u8]) {
    let mut input = Input::new(data);
    let fields = Fields::new(&mut input);
    let Ok(commit) = UpdateCommit::decode(input.rest()) else { return };
    fields.look_at(&commit.condition);
    let Ok(first) = commit.encode() else { return };
    let again = UpdateCommit::decode(&first).expect("what was encoded is decoded");
    assert_eq!(again.encode().expect("and encoded again"), first, "a commit changed on its way");
}

/// A condition as text; input: the two bytes; the text.
pub fn condition_text(data: &[u8]) {
    let mut input = Input::new(data);
    let fields = Fields::new(&mut input);
    let Ok(text) = std::str::from_utf8(input.rest()) else { return };
    match QueryCondition::from_text(text) {
        Ok(condition) => {
            let shown = condition.to_string();
            let again = QueryCondition::from_text(&shown).expect("what is displayed is a condition");
            assert_eq!(again.to_string(), shown, "a condition changed on its way");
            fields.look_at(&condition);
        }
        Err(error) => {
            assert!(error.offset <= text.len(), "the error lies behind the text");
            let _ = (error.to_string(), error.caret(text));
        }
    }
}

/// What can be stored comes back.
fn check_stored(condition: &QueryCondition) {
    let Ok(first) = condition.encode() else { return };
    let again = QueryCondition::decode(&first).expect("what was encoded is decoded");
    assert_eq!(again.encode().expect("and encoded again"), first, "a condition changed on its way");
}

/// What all fields are, and their cells.
struct Fields {
    datatype: Datatype,
    cell_val_num: CellValNum,
    nullable: bool,
    data: Vec<u8>,
    offsets: Option<Vec<u64>>,
    validity: Option<Vec<u8>>,
}

impl Fields {
    fn new(input: &mut Input<'_>) -> Self {
        let (datatype, flags) = (input.datatype(), input.u8());
        let pair = std::num::NonZeroU32::MIN.saturating_add(1);
        let cell_val_num = match flags & 3 {
            0 => CellValNum::ONE,
            2 => CellValNum::Fixed(pair),
            _ => CellValNum::Var,
        };
        let nullable = flags & 4 != 0;
        let values = cell_val_num.fixed().map_or(1, |values| values as usize);
        let cell_bytes = datatype.size() * values;
        let bytes = (0u8..=255).cycle().map(|byte| byte.wrapping_mul(37));
        Self {
            datatype,
            cell_val_num,
            nullable,
            data: bytes.take(CELLS * cell_bytes).collect(),
            offsets: cell_val_num.is_var().then(|| (0..=CELLS as u64).map(|cell| cell * cell_bytes as u64).collect()),
            validity: nullable.then(|| (0..CELLS).map(|cell| u8::from(cell % 3 != 0)).collect()),
        }
    }

    fn look_at(&self, condition: &QueryCondition) {
        let _ = (condition.fields(), condition.to_string(), condition.clone().negate().to_string());
        self.evaluate(condition, condition.bind_stored_fields(|_| Some(self.field())));
        self.evaluate(condition, condition.bind_fields(|_| Some(self.field()), |_| None));
    }

    fn field(&self) -> FieldType<'static> {
        FieldType { datatype: self.datatype, cell_val_num: self.cell_val_num, nullable: self.nullable, enumeration: None }
    }

    fn evaluate(&self, condition: &QueryCondition, bound: Result<BoundCondition, ConditionError>) {
        let Ok(bound) = bound else { return };
        assert_eq!(bound.fields().len(), condition.fields().len());
        let view = FieldView { data: &self.data, offsets: self.offsets.as_deref(), validity: self.validity.as_deref() };
        let mut matches = Bitmap::new(0, false);
        bound.evaluate(CELLS, |_| Some(view), &mut matches).expect("the cells are right");
        assert_eq!((matches.len(), matches.iter_ones().count()), (CELLS, matches.count_ones()));
        if let Ok(stored) = bound.to_stored() {
            check_stored(&stored);
        }
        self.prune(&bound, &matches);
    }

    /// Bounds without trust or of null cells only may tell nothing that the cells deny.
    fn prune(&self, bound: &BoundCondition, matches: &Bitmap) {
        let nulls = self.validity.iter().flatten().filter(|valid| **valid == 0).count() as u64;
        let value = |byte| Some(Cow::Owned(vec![byte; self.datatype.size()]));
        let bounds = || TileBounds { min: value(0), max: value(0xff), null_count: Some(nulls), trust: Trust::Nothing };
        match bound.prune(CELLS as u64, |_| Some(bounds())) {
            Tri::AllMatch => assert!(matches.all(), "a tile was taken whole that does not match whole"),
            Tri::NoneMatch => assert!(matches.none(), "a tile was left out that has matches"),
            Tri::Unknown => {}
        }
        let _ = bound.prune(CELLS as u64, |_| Some(TileBounds { trust: Trust::Exact, ..bounds() }));
        let _ = bound.prune(CELLS as u64, |_| None);
    }
}
