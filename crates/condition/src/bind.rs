//! Binding: fields are looked up, values become bytes of the field's width, labels become indices.

use std::collections::BTreeMap;

use talavera_schema::{ArraySchema, Enumeration};
use talavera_types::{CellValNum, Datatype};

use crate::bound::{BoundCondition, BoundField, Leaf, Node, Test};
use crate::literal::is_text;
use crate::members::Members;
use crate::{Comparison, ConditionError, Literal, QueryCondition};

/// What a condition must know about a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FieldType<'a> {
    /// The field's datatype.
    pub datatype: Datatype,
    /// How many values make a cell.
    pub cell_val_num: CellValNum,
    /// Whether cells may be null.
    pub nullable: bool,
    /// The name of the enumeration whose labels the condition's values are. Without one, values of an enumerated
    /// attribute are indices.
    pub enumeration: Option<&'a str>,
}

impl QueryCondition {
    /// Binds the condition to a schema, as in a query: values of enumerated attributes are labels.
    ///
    /// `enumerations` gives the enumerations by name; [`fields`](Self::fields) tells which will be asked for. A label
    /// that an enumeration lacks is not an error: no cell equals it, all that are not null differ from it. `<`, `<=`,
    /// `>` and `>=` on labels need an ordered enumeration and compare indices.
    ///
    /// # Errors
    /// [`ConditionError`] when a field does not exist; when it cannot be compared (cells of several numbers or of a
    /// variable number of them, and ANY, BLOB, GEOM, UTF-16, UTF-32, UCS-2 and UCS-4, which only null tests take);
    /// when a value does not fit the field; when an enumeration is missing or has no order; when a combination is
    /// empty or nested too deep.
    pub fn bind<'e>(
        &self,
        schema: &ArraySchema,
        enumerations: impl Fn(&str) -> Option<&'e Enumeration>,
    ) -> Result<BoundCondition, ConditionError> {
        self.bind_fields(|name| field_type(schema, name), enumerations)
    }

    /// Binds a condition from a delete or update commit: its values are bytes in the width of the field, and those of
    /// enumerated attributes are indices.
    ///
    /// `=` and `!=` with no bytes at all is what a null test leaves behind in a commit. On fixed-length nullable
    /// fields it is taken for that test, on strings for a comparison with the empty string, as the reference
    /// implementation does.
    ///
    /// # Errors
    /// As [`bind`](Self::bind).
    pub fn bind_stored(&self, schema: &ArraySchema) -> Result<BoundCondition, ConditionError> {
        self.bind_stored_fields(|name| field_type(schema, name))
    }

    /// As [`bind`](Self::bind), for fields that are described without a schema.
    ///
    /// # Errors
    /// As [`bind`](Self::bind).
    pub fn bind_fields<'f, 'e>(
        &self,
        fields: impl Fn(&str) -> Option<FieldType<'f>>,
        enumerations: impl Fn(&str) -> Option<&'e Enumeration>,
    ) -> Result<BoundCondition, ConditionError> {
        Binder { fields: &fields, enumerations: &enumerations, stored: false }.bind(self)
    }

    /// As [`bind_stored`](Self::bind_stored), for fields that are described without a schema.
    ///
    /// # Errors
    /// As [`bind`](Self::bind).
    pub fn bind_stored_fields<'f>(
        &self,
        fields: impl Fn(&str) -> Option<FieldType<'f>>,
    ) -> Result<BoundCondition, ConditionError> {
        Binder { fields: &fields, enumerations: &|_| None, stored: true }.bind(self)
    }
}

/// The field with this name; `__timestamps` is one of every array.
fn field_type<'a>(schema: &'a ArraySchema, name: &str) -> Option<FieldType<'a>> {
    let attribute = schema.attribute(name).map(|(_, attribute)| FieldType {
        datatype: attribute.datatype,
        cell_val_num: attribute.cell_val_num,
        nullable: attribute.nullable,
        enumeration: attribute.enumeration.as_deref(),
    });
    let dimension = || {
        schema.dimension(name).map(|(_, dimension)| FieldType {
            datatype: dimension.datatype,
            cell_val_num: dimension.cell_val_num(),
            nullable: false,
            enumeration: None,
        })
    };
    let timestamps = || {
        let cell_val_num = CellValNum::ONE;
        (name == TIMESTAMPS).then_some(FieldType { datatype: Datatype::UInt64, cell_val_num, nullable: false, enumeration: None })
    };
    attribute.or_else(dimension).or_else(timestamps)
}

struct Binder<'b, 'f, 'e> {
    fields: &'b dyn Fn(&str) -> Option<FieldType<'f>>,
    enumerations: &'b dyn Fn(&str) -> Option<&'e Enumeration>,
    stored: bool,
}

impl<'f, 'e> Binder<'_, 'f, 'e> {
    fn bind(&self, condition: &QueryCondition) -> Result<BoundCondition, ConditionError> {
        let mut fields = BTreeMap::new();
        for name in condition.fields() {
            let field = (self.fields)(name).ok_or_else(|| ConditionError::UnknownField { field: name.to_owned() })?;
            fields.insert(name, (fields.len(), field));
        }
        let root = self.node(condition, &fields, 0)?;
        let fields = fields.into_iter().map(|(name, (_, field))| BoundField {
            name: name.to_owned(),
            datatype: field.datatype,
            cell_val_num: field.cell_val_num,
            nullable: field.nullable,
        });
        Ok(BoundCondition { fields: fields.collect(), root })
    }

    fn node(
        &self,
        condition: &QueryCondition,
        fields: &BTreeMap<&str, (usize, FieldType<'f>)>,
        depth: usize,
    ) -> Result<Node, ConditionError> {
        if depth >= QueryCondition::MAX_DEPTH {
            return Err(ConditionError::Depth { limit: QueryCondition::MAX_DEPTH });
        }
        let leaf = |name: &String, test: &dyn Fn(&Target<'_, 'f>) -> Result<Test, ConditionError>| {
            let Some(&(field, ty)) = fields.get(name.as_str()) else {
                return Err(ConditionError::UnknownField { field: name.clone() });
            };
            Ok(Node::Leaf(Leaf { field, test: test(&Target { name, ty })? }))
        };
        match condition {
            QueryCondition::Constant(holds) => Ok(Node::Constant(*holds)),
            QueryCondition::IsNull { field } => leaf(field, &|_| Ok(Test::IsNull)),
            QueryCondition::IsNotNull { field } => leaf(field, &|_| Ok(Test::IsNotNull)),
            QueryCondition::Compare { field, comparison, value } => {
                leaf(field, &|target| self.compare(target, *comparison, value))
            }
            QueryCondition::In { field, negated, values } => leaf(field, &|target| self.members(target, *negated, values)),
            QueryCondition::Combine { children, .. } if children.is_empty() => Err(ConditionError::Empty),
            QueryCondition::Combine { combination, children } => Ok(Node::Combine(
                *combination,
                children.iter().map(|child| self.node(child, fields, depth + 1)).collect::<Result<_, _>>()?,
            )),
        }
    }

    fn compare(&self, target: &Target<'_, 'f>, comparison: Comparison, value: &Literal) -> Result<Test, ConditionError> {
        target.check_comparable()?;
        if let Some(test) = self.stored_null_test(target, comparison, value) {
            return Ok(test);
        }
        let Some(value) = self.value(target, value, Some(comparison))? else {
            return Ok(if comparison == Comparison::Ne { Test::IsNotNull } else { Test::Never });
        };
        Ok(if target.compares_bytes() {
            Test::Text { comparison, value }
        } else {
            Test::Number { datatype: target.ty.datatype, comparison, value }
        })
    }

    fn members(&self, target: &Target<'_, 'f>, negated: bool, values: &[Literal]) -> Result<Test, ConditionError> {
        target.check_comparable()?;
        let mut members = Vec::with_capacity(values.len());
        for value in values {
            members.extend(self.value(target, value, None)?);
        }
        let width = if target.compares_bytes() { 0 } else { target.ty.datatype.size() };
        Ok(Test::Member { negated, members: Members::new(width, members) })
    }

    /// What a null test has become in a commit.
    fn stored_null_test(&self, target: &Target<'_, 'f>, comparison: Comparison, value: &Literal) -> Option<Test> {
        let no_bytes = matches!(value, Literal::Bytes(bytes) if bytes.is_empty());
        let fixed_nullable = target.ty.nullable && !target.ty.cell_val_num.is_var();
        match comparison {
            _ if !(self.stored && no_bytes && fixed_nullable) => None,
            Comparison::Eq => Some(Test::IsNull),
            Comparison::Ne => Some(Test::IsNotNull),
            _ => None,
        }
    }

    /// The bytes to compare cells with; `None` for a label that the enumeration lacks. `comparison` is `None` in a list.
    fn value(
        &self,
        target: &Target<'_, 'f>,
        value: &Literal,
        comparison: Option<Comparison>,
    ) -> Result<Option<Vec<u8>>, ConditionError> {
        match target.ty.enumeration.filter(|_| !self.stored) {
            Some(enumeration) => self.index(target, enumeration, value, comparison),
            None => target.bytes(value).map(Some),
        }
    }

    fn index(
        &self,
        target: &Target<'_, 'f>,
        name: &str,
        label: &Literal,
        comparison: Option<Comparison>,
    ) -> Result<Option<Vec<u8>>, ConditionError> {
        let (field, enumeration) = (target.name.to_owned(), name.to_owned());
        let Some(labels) = (self.enumerations)(name) else {
            return Err(ConditionError::MissingEnumeration { field, enumeration });
        };
        let needs_order = !matches!(comparison, None | Some(Comparison::Eq | Comparison::Ne));
        if needs_order && !labels.ordered() {
            return Err(ConditionError::UnorderedEnumeration { field, enumeration });
        }
        let bytes =
            label.to_native(labels.datatype()).map_err(|reason| target.literal_error(labels.datatype(), label, reason))?;
        let index = labels.index_of(&bytes).and_then(|index| i128::try_from(index).ok());
        // An index too large for the attribute is in no cell, like a label that does not exist.
        Ok(index.and_then(|index| Literal::Int(index).to_native(target.ty.datatype).ok()))
    }
}

/// The field that a leaf tests.
struct Target<'n, 'f> {
    name: &'n str,
    ty: FieldType<'f>,
}

impl Target<'_, '_> {
    fn check_comparable(&self) -> Result<(), ConditionError> {
        use Datatype as D;
        let datatype = self.ty.datatype;
        let reason = match datatype {
            D::Any | D::Blob | D::GeomWkb | D::GeomWkt => "only null tests are possible on this datatype",
            D::StringUtf16 | D::StringUtf32 | D::StringUcs2 | D::StringUcs4 => "only null tests are possible on wide characters",
            _ if is_text(datatype) || self.ty.cell_val_num == CellValNum::ONE => return Ok(()),
            _ => "only null tests are possible on cells of several numbers",
        };
        Err(ConditionError::Unsupported { field: self.name.to_owned(), datatype, reason })
    }

    /// Whether cells compare byte by byte; a single CHAR is a number of one byte.
    fn compares_bytes(&self) -> bool {
        match self.ty.datatype {
            Datatype::Char => self.ty.cell_val_num != CellValNum::ONE,
            datatype => is_text(datatype),
        }
    }

    /// The value's bytes, in the width of the field where cells have one. Strings of a fixed length compare with
    /// strings of any length, as those of a variable length do; characters do not.
    fn bytes(&self, value: &Literal) -> Result<Vec<u8>, ConditionError> {
        let datatype = self.ty.datatype;
        let bytes = value.to_native(datatype).map_err(|reason| self.literal_error(datatype, value, reason))?;
        let values = self.ty.cell_val_num.fixed().filter(|_| !datatype.is_string());
        let fits = values.is_none_or(|values| {
            usize::try_from(values).ok().and_then(|values| values.checked_mul(datatype.size())) == Some(bytes.len())
        });
        if fits { Ok(bytes) } else { Err(self.literal_error(datatype, value, "its size is not that of a cell")) }
    }

    fn literal_error(&self, datatype: Datatype, literal: &Literal, reason: &'static str) -> ConditionError {
        ConditionError::Literal { field: self.name.to_owned(), datatype, literal: literal.to_string(), reason }
    }
}

/// The field of cell timestamps, which every array may be asked about.
const TIMESTAMPS: &str = "__timestamps";
