//! A slow model: cells as values, conditions tested on one cell at a time.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::num::NonZeroU32;

use proptest::prelude::*;
use talavera_condition::{Combination, Comparison, FieldType, FieldView, Literal, QueryCondition, field};
use talavera_types::{CellValNum, Datatype};

#[derive(Debug, Clone)]
pub(crate) enum Cell {
    Int(i32),
    Float(f64),
    Byte(u8),
    Text(Vec<u8>),
}

/// Cells by field, with their bytes as a fragment would give them.
#[derive(Debug)]
pub(crate) struct Tile {
    pub(crate) cells: usize,
    pub(crate) columns: BTreeMap<&'static str, Vec<Option<Cell>>>,
    buffers: BTreeMap<&'static str, Buffers>,
}

#[derive(Debug, Default)]
struct Buffers {
    data: Vec<u8>,
    offsets: Option<Vec<u64>>,
    validity: Option<Vec<u8>>,
}

pub(crate) fn field_type(name: &str) -> Option<FieldType<'static>> {
    let three = CellValNum::Fixed(NonZeroU32::new(3).unwrap());
    let (datatype, cell_val_num, nullable) = match name {
        "int" => (Datatype::Int32, CellValNum::ONE, true),
        "float" => (Datatype::Float64, CellValNum::ONE, false),
        "byte" => (Datatype::UInt8, CellValNum::ONE, true),
        "text" => (Datatype::StringUtf8, CellValNum::Var, true),
        "chars" => (Datatype::Char, three, true),
        _ => return None,
    };
    Some(FieldType { datatype, cell_val_num, nullable, enumeration: None })
}

impl Cell {
    pub(crate) fn bytes(&self) -> Vec<u8> {
        match self {
            Self::Int(value) => value.to_le_bytes().to_vec(),
            Self::Float(value) => value.to_le_bytes().to_vec(),
            Self::Byte(value) => vec![*value],
            Self::Text(value) => value.clone(),
        }
    }

    pub(crate) fn is_nan(&self) -> bool {
        matches!(self, Self::Float(value) if value.is_nan())
    }

    pub(crate) fn less(&self, other: &Self) -> bool {
        self.order(other) == Some(Ordering::Less)
    }

    fn order(&self, other: &Self) -> Option<Ordering> {
        match (self, other) {
            (Self::Int(a), Self::Int(b)) => a.partial_cmp(b),
            (Self::Float(a), Self::Float(b)) => a.partial_cmp(b),
            (Self::Byte(a), Self::Byte(b)) => a.partial_cmp(b),
            (Self::Text(a), Self::Text(b)) => a.partial_cmp(b),
            _ => panic!("two kinds of cells"),
        }
    }

    fn literal(&self) -> Literal {
        match self {
            Self::Int(value) => (*value).into(),
            Self::Float(value) => (*value).into(),
            Self::Byte(value) => (*value).into(),
            Self::Text(value) => value.clone().into(),
        }
    }

    /// The cell of the field that a literal stands for.
    fn of(literal: &Literal, field: &str) -> Self {
        match (literal, field) {
            (Literal::Int(value), "int") => Self::Int((*value).try_into().unwrap()),
            (Literal::Int(value), "byte") => Self::Byte((*value).try_into().unwrap()),
            (Literal::Float(value), _) => Self::Float(*value),
            (Literal::Bytes(value), _) => Self::Text(value.clone()),
            (Literal::Text(value), _) => Self::Text(value.clone().into_bytes()),
            other => panic!("{other:?}"),
        }
    }
}

impl Tile {
    pub(crate) fn new(cells: usize, columns: impl IntoIterator<Item = (&'static str, Vec<Option<Cell>>)>) -> Self {
        let columns: BTreeMap<_, _> = columns.into_iter().collect();
        let buffers = columns.iter().map(|(name, column)| (*name, buffers(name, column))).collect();
        Self { cells, columns, buffers }
    }

    pub(crate) fn view(&self, name: &str) -> Option<FieldView<'_>> {
        self.buffers.get(name).map(|buffers| FieldView {
            data: &buffers.data,
            offsets: buffers.offsets.as_deref(),
            validity: buffers.validity.as_deref(),
        })
    }
}

fn buffers(name: &str, column: &[Option<Cell>]) -> Buffers {
    let ty = field_type(name).unwrap();
    let mut buffers = Buffers { offsets: ty.cell_val_num.is_var().then(|| vec![0]), ..Buffers::default() };
    for (index, cell) in column.iter().enumerate() {
        // What lies under a null is data too, and must not matter.
        let under_null = vec![b'a'; ty.datatype.size() * ty.cell_val_num.fixed().unwrap_or(2) as usize];
        buffers.data.extend(cell.as_ref().map_or(under_null, Cell::bytes));
        if let Some(offsets) = &mut buffers.offsets {
            offsets.push(buffers.data.len() as u64);
        }
        if ty.nullable {
            // Any byte but 0 means valid.
            let valid = if index % 3 == 0 { 255 } else { 1 };
            buffers.validity.get_or_insert_default().push(if cell.is_some() { valid } else { 0 });
        }
    }
    buffers
}

/// Whether a cell matches, by the rules of the format alone.
pub(crate) fn matches(condition: &QueryCondition, tile: &Tile, index: usize) -> bool {
    let cell = |field: &str| tile.columns.get(field).map(|column| column[index].as_ref());
    match condition {
        QueryCondition::Constant(holds) => *holds,
        QueryCondition::IsNull { field } => matches!(cell(field), Some(None)),
        QueryCondition::IsNotNull { field } => matches!(cell(field), Some(Some(_))),
        QueryCondition::Compare { field, comparison, value } => match cell(field) {
            Some(Some(cell)) => compare(cell, *comparison, &Cell::of(value, field)),
            _ => false,
        },
        QueryCondition::In { field, negated, values } => match cell(field) {
            Some(Some(cell)) => values.iter().any(|value| Cell::of(value, field).bytes() == cell.bytes()) != *negated,
            _ => false,
        },
        QueryCondition::Combine { combination: Combination::And, children } => {
            children.iter().all(|child| matches(child, tile, index))
        }
        QueryCondition::Combine { combination: Combination::Or, children } => {
            children.iter().any(|child| matches(child, tile, index))
        }
        other => panic!("{other:?}"),
    }
}

fn compare(cell: &Cell, comparison: Comparison, value: &Cell) -> bool {
    let order = cell.order(value);
    match comparison {
        Comparison::Lt => order == Some(Ordering::Less),
        Comparison::Le => matches!(order, Some(Ordering::Less | Ordering::Equal)),
        Comparison::Gt => order == Some(Ordering::Greater),
        Comparison::Ge => matches!(order, Some(Ordering::Greater | Ordering::Equal)),
        Comparison::Eq => order == Some(Ordering::Equal),
        Comparison::Ne => order != Some(Ordering::Equal),
    }
}

/// Values from a small set, so that conditions and cells meet.
fn values(name: &'static str) -> BoxedStrategy<Cell> {
    let text =
        |options: &[&'static [u8]]| prop::sample::select(options.to_vec()).prop_map(|text| Cell::Text(text.to_vec())).boxed();
    match name {
        "int" => prop_oneof![4 => -3..4_i32, 1 => any::<i32>()].prop_map(Cell::Int).boxed(),
        "byte" => prop_oneof![4 => 0..4_u8, 1 => any::<u8>()].prop_map(Cell::Byte).boxed(),
        "float" => prop::sample::select(vec![0.0, -0.0, 1.5, -2.0, f64::NAN, f64::INFINITY]).prop_map(Cell::Float).boxed(),
        "text" => text(&[b"", b"a", b"aa", b"ab", b"b\xff", b"b", b"longer than a word"]),
        _ => text(&[b"aaa", b"aab", b"b\0\0", b"\xff  "]),
    }
}

fn names() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec!["int", "float", "byte", "text", "chars"])
}

pub(crate) fn conditions() -> impl Strategy<Value = QueryCondition> {
    let compare = names().prop_flat_map(|name| (Just(name), 0..6_usize, values(name)));
    let members = names().prop_flat_map(|name| {
        // More than a few, sometimes, for the other way of searching.
        (
            Just(name),
            any::<bool>(),
            prop_oneof![3 => prop::collection::vec(values(name), 0..4), 1 => prop::collection::vec(values(name), 40)],
        )
    });
    let leaf = prop_oneof![
        8 => compare.prop_map(|(name, index, value)| field(name).compare(Comparison::ALL[index], value.literal())),
        4 => members.prop_map(|(name, negated, values)| QueryCondition::In {
            field: name.to_owned(),
            negated,
            values: values.iter().map(Cell::literal).collect(),
        }),
        1 => names().prop_map(|name| field(name).is_null()),
        1 => names().prop_map(|name| field(name).is_not_null()),
        1 => any::<bool>().prop_map(QueryCondition::Constant),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        let combination = prop_oneof![Just(Combination::And), Just(Combination::Or)];
        (combination, prop::collection::vec(inner, 1..4))
            .prop_map(|(combination, children)| QueryCondition::Combine { combination, children })
    })
}

/// A tile of up to some words' worth of cells, in which fields may be missing.
pub(crate) fn cells() -> impl Strategy<Value = Tile> {
    prop_oneof![1..4_usize, 1..200_usize, Just(64), Just(128)].prop_flat_map(|cells| {
        let column = |name: &'static str| {
            let nullable = field_type(name).unwrap().nullable;
            let cell = (values(name), 0..4_u8).prop_map(move |(cell, dice)| (!nullable || dice > 0).then_some(cell));
            prop::option::weighted(0.9, prop::collection::vec(cell, cells)).prop_map(move |column| Some((name, column?)))
        };
        (column("int"), column("float"), column("byte"), column("text"), column("chars"))
            .prop_map(move |(a, b, c, d, e)| Tile::new(cells, [a, b, c, d, e].into_iter().flatten()))
    })
}
