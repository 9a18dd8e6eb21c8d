//! Schema objects of the library into plain data. What a release does not know yet is left at its default.

use std::ptr;

use super::api::NdRange;
use super::schema_into::WithoutContext;
use super::{Context, Handle, Raw, copy, out, size, text};
use crate::{
    ArrayType, Attribute, Datatype, Dimension, Enumeration, FillValue, Filter, FilterList, FilterType, Label, LabelOrder, Layout,
    PeerError, Range, Schema, VAR,
};

impl Context {
    /// Describes a schema, without its enumerations.
    pub(super) fn schema_from(&self, schema: &Handle) -> Result<Schema, PeerError> {
        let s = schema.raw();
        let has = |name: &str| self.library().has(name);
        // SAFETY: the schema is alive, and every address outlives its call.
        unsafe {
            let dims = self.new_domain(|out| self.tiledb_array_schema_get_domain(s, out))?;
            let dups = "tiledb_array_schema_get_allows_dups";
            Ok(Schema {
                array_type: known(ArrayType::from_code, out(|v| self.tiledb_array_schema_get_array_type(s, v))?)?,
                cell_order: known(Layout::from_code, out(|v| self.tiledb_array_schema_get_cell_order(s, v))?)?,
                tile_order: known(Layout::from_code, out(|v| self.tiledb_array_schema_get_tile_order(s, v))?)?,
                capacity: Some(out(|v| self.tiledb_array_schema_get_capacity(s, v))?),
                allows_dups: has(dups) && out(|v| self.tiledb_array_schema_get_allows_dups(s, v))? != 0,
                coords_filters: Some(self.filters(|v| self.tiledb_array_schema_get_coords_filter_list(s, v))?),
                offsets_filters: Some(self.filters(|v| self.tiledb_array_schema_get_offsets_filter_list(s, v))?),
                validity_filters: has("tiledb_array_schema_get_validity_filter_list")
                    .then(|| self.filters(|v| self.tiledb_array_schema_get_validity_filter_list(s, v)))
                    .transpose()?,
                dimensions: self.dimensions_from(&dims)?,
                attributes: self.attributes_from(schema)?,
                enumerations: Vec::new(),
                labels: self.labels_from(schema)?,
                current_domain: self.current_domain_from(schema, &dims)?,
                format_version: has("tiledb_array_schema_get_version")
                    .then(|| out(|v| self.tiledb_array_schema_get_version(s, v)))
                    .transpose()?,
            })
        }
    }

    /// Describes the list that `get` stores.
    fn filters(&self, get: impl FnOnce(*mut Raw) -> Result<(), PeerError>) -> Result<FilterList, PeerError> {
        // SAFETY: the callers' functions store a filter list that the caller owns.
        unsafe {
            let list = self.new_filter_list(get)?;
            let max_chunk_bytes = Some(out(|v| self.tiledb_filter_list_get_max_chunk_size(list.raw(), v))?);
            let mut filters = Vec::new();
            for index in 0..out(|v| self.tiledb_filter_list_get_nfilters(list.raw(), v))? {
                let get = |out| self.tiledb_filter_list_get_filter_from_index(list.raw(), index, out);
                filters.push(self.filter_from(&self.new_filter(get)?)?);
            }
            Ok(FilterList { filters, max_chunk_bytes })
        }
    }

    fn filter_from(&self, filter: &Handle) -> Result<Filter, PeerError> {
        // SAFETY: the filter is alive, and no option's value is longer than the eight bytes.
        unsafe {
            let code = out(|v| self.tiledb_filter_get_type(filter.raw(), v))?;
            let filter_type = known(FilterType::from_code, code)?;
            let mut options = Vec::new();
            for option in filter_type.options() {
                let mut value = [0u8; 8];
                // Older releases refuse options that came later.
                if self.tiledb_filter_get_option(filter.raw(), option.to_bytes().0, value.as_mut_ptr().cast()).is_ok() {
                    options.push(option.with_bytes(&value));
                }
            }
            Ok(Filter { filter_type, options })
        }
    }

    fn dimensions_from(&self, domain: &Handle) -> Result<Vec<Dimension>, PeerError> {
        // SAFETY: the domain is alive; a dimension's domain is two values and its extent one, in its own memory.
        unsafe {
            let mut dimensions = Vec::new();
            for index in 0..out(|v| self.tiledb_domain_get_ndim(domain.raw(), v))? {
                let get = |out| self.tiledb_domain_get_dimension_from_index(domain.raw(), index, out);
                let dimension = self.new_dimension(get)?;
                let d = dimension.raw();
                let datatype = self.datatype(out(|v| self.tiledb_dimension_get_type(d, v))?)?;
                let (range, extent) = if datatype == Datatype::StringAscii {
                    (ptr::null(), ptr::null())
                } else {
                    (out(|v| self.tiledb_dimension_get_domain(d, v))?, out(|v| self.tiledb_dimension_get_tile_extent(d, v))?)
                };
                let value_bytes = datatype.size() as u64;
                let has_filters = self.library().has("tiledb_dimension_get_filter_list");
                dimensions.push(Dimension {
                    name: text(out(|v| self.tiledb_dimension_get_name(d, v))?),
                    datatype,
                    domain: if range.is_null() { None } else { Some(Range::split(&copy(range, 2 * value_bytes)?)) },
                    extent: if extent.is_null() { None } else { Some(copy(extent, value_bytes)?) },
                    filters: has_filters.then(|| self.filters(|v| self.tiledb_dimension_get_filter_list(d, v))).transpose()?,
                });
            }
            Ok(dimensions)
        }
    }

    fn attributes_from(&self, schema: &Handle) -> Result<Vec<Attribute>, PeerError> {
        // SAFETY: the schema is alive, and every address outlives its call.
        unsafe {
            let mut attributes = Vec::new();
            for index in 0..out(|v| self.tiledb_array_schema_get_attribute_num(schema.raw(), v))? {
                let get = |out| self.tiledb_array_schema_get_attribute_from_index(schema.raw(), index, out);
                attributes.push(self.attribute_from(&self.new_attribute(get)?)?);
            }
            Ok(attributes)
        }
    }

    fn attribute_from(&self, attribute: &Handle) -> Result<Attribute, PeerError> {
        let a = attribute.raw();
        let has = |name: &str| self.library().has(name);
        // SAFETY: the attribute is alive; its fill value lies in its own memory and is as long as the library says.
        unsafe {
            let nullable = has("tiledb_attribute_get_nullable") && out(|v| self.tiledb_attribute_get_nullable(a, v))? != 0;
            let (mut value, mut length, mut valid) = (ptr::null(), 0, 1);
            let (address, bytes) = (&raw mut value, &raw mut length);
            if nullable {
                self.tiledb_attribute_get_fill_value_nullable(a, address, bytes, &raw mut valid)?;
            } else if has("tiledb_attribute_get_fill_value") {
                self.tiledb_attribute_get_fill_value(a, address, bytes)?;
            }
            let mut enumeration = None;
            if has("tiledb_attribute_get_enumeration_name") {
                let name = self.new_string(|out| self.tiledb_attribute_get_enumeration_name(a, out))?;
                enumeration = Some(self.string(&name)?).filter(|name| !name.is_empty());
            }
            Ok(Attribute {
                name: text(out(|v| self.tiledb_attribute_get_name(a, v))?),
                datatype: self.datatype(out(|v| self.tiledb_attribute_get_type(a, v))?)?,
                cell_val_num: out(|v| self.tiledb_attribute_get_cell_val_num(a, v))?,
                nullable,
                fill: if value.is_null() { None } else { Some(FillValue { value: copy(value, length)?, valid: valid != 0 }) },
                filters: Some(self.filters(|v| self.tiledb_attribute_get_filter_list(a, v))?),
                enumeration,
            })
        }
    }

    pub(super) fn enumeration_from(&self, name: &str, enumeration: &Handle) -> Result<Enumeration, PeerError> {
        let e = enumeration.raw();
        let (mut data, mut data_bytes, mut starts, mut starts_bytes) = (ptr::null(), 0, ptr::null(), 0);
        // SAFETY: the enumeration is alive; data and offsets lie in its own memory, as long as the library says.
        unsafe {
            let datatype = self.datatype(out(|v| self.tiledb_enumeration_get_type(e, v))?)?;
            let cell_val_num = out(|v| self.tiledb_enumeration_get_cell_val_num(e, v))?;
            self.tiledb_enumeration_get_data(e, &raw mut data, &raw mut data_bytes)?;
            let data = copy(data, data_bytes)?;
            let values = if cell_val_num == VAR {
                self.tiledb_enumeration_get_offsets(e, &raw mut starts, &raw mut starts_bytes)?;
                let starts = copy(starts, starts_bytes)?;
                let offsets = starts.chunks_exact(8).filter_map(crate::Scalar::from_bytes).collect();
                let column = crate::Column { data, offsets: Some(offsets), validity: None };
                let cells = column.cells().ok_or_else(|| PeerError::invalid(format!("{name}: offsets outside the data")))?;
                cells.into_iter().map(<[u8]>::to_vec).collect()
            } else {
                let member_bytes = datatype.size() * size(cell_val_num.into())?;
                data.chunks_exact(member_bytes.max(1)).map(<[u8]>::to_vec).collect()
            };
            let ordered = out(|v| self.tiledb_enumeration_get_ordered(e, v))? != 0;
            Ok(Enumeration { name: name.into(), datatype, cell_val_num, ordered, values })
        }
    }

    fn labels_from(&self, schema: &Handle) -> Result<Vec<Label>, PeerError> {
        let mut labels = Vec::new();
        if !self.library().has("tiledb_array_schema_get_dimension_label_num") {
            return Ok(labels);
        }
        // SAFETY: schema and label are alive, and texts lie in the label's own memory.
        unsafe {
            for index in 0..out(|v| self.tiledb_array_schema_get_dimension_label_num(schema.raw(), v))? {
                let get = |out| self.tiledb_array_schema_get_dimension_label_from_index(schema.raw(), index, out);
                let label = self.new_label(get)?;
                let l = label.raw();
                let uri = text(out(|v| self.tiledb_dimension_label_get_uri(l, v))?);
                labels.push(Label {
                    dimension: out(|v| self.tiledb_dimension_label_get_dimension_index(l, v))?,
                    name: text(out(|v| self.tiledb_dimension_label_get_name(l, v))?),
                    order: known(LabelOrder::from_code, out(|v| self.tiledb_dimension_label_get_label_order(l, v))?)?,
                    datatype: self.datatype(out(|v| self.tiledb_dimension_label_get_label_type(l, v))?)?,
                    cell_val_num: out(|v| self.tiledb_dimension_label_get_label_cell_val_num(l, v))?,
                    path: format!("__labels/{}", uri.rsplit("__labels/").next().unwrap_or_default()),
                    attribute: text(out(|v| self.tiledb_dimension_label_get_label_attr_name(l, v))?),
                });
            }
        }
        Ok(labels)
    }

    fn current_domain_from(&self, schema: &Handle, domain: &Handle) -> Result<Option<Vec<Range>>, PeerError> {
        if !self.library().has("tiledb_array_schema_get_current_domain") {
            return Ok(None);
        }
        // SAFETY: all objects are alive; a range lies in the rectangle's memory, as long as the library says.
        unsafe {
            let current = self.new_current_domain(|out| self.tiledb_array_schema_get_current_domain(schema.raw(), out))?;
            if out(|v| self.current_domain_is_empty(&current, v))? != 0 {
                return Ok(None);
            }
            let rectangle = self.new_ndrectangle(|out| self.rectangle_of(&current, out))?;
            let mut ranges = Vec::new();
            for index in 0..out(|v| self.tiledb_domain_get_ndim(domain.raw(), v))? {
                let range: NdRange = out(|v| self.tiledb_ndrectangle_get_range(rectangle.raw(), index, v))?;
                ranges.push(Range { low: copy(range.low, range.low_bytes)?, high: copy(range.high, range.high_bytes)? });
            }
            Ok(Some(ranges))
        }
    }

    /// # Safety
    /// The address is valid.
    unsafe fn current_domain_is_empty(&self, current: &Handle, empty: *mut u32) -> Result<(), PeerError> {
        // SAFETY: the object is alive; the header declares the functions so.
        unsafe {
            if self.current_domains_want_context() {
                return self.tiledb_current_domain_get_is_empty(current.raw(), empty);
            }
            let name = "tiledb_current_domain_get_is_empty";
            let get = self.library().function::<WithoutContext<*mut u32>>(name)?;
            self.check(name, get(current.raw(), empty))
        }
    }

    /// # Safety
    /// The address is valid.
    unsafe fn rectangle_of(&self, current: &Handle, rectangle: *mut Raw) -> Result<(), PeerError> {
        // SAFETY: the object is alive; the header declares the functions so.
        unsafe {
            if self.current_domains_want_context() {
                return self.tiledb_current_domain_get_ndrectangle(current.raw(), rectangle);
            }
            let name = "tiledb_current_domain_get_ndrectangle";
            let get = self.library().function::<WithoutContext<*mut Raw>>(name)?;
            self.check(name, get(current.raw(), rectangle))
        }
    }

    #[expect(clippy::unused_self, reason = "reads like its neighbours")]
    pub(super) fn datatype(&self, code: i32) -> Result<Datatype, PeerError> {
        known(|code| Datatype::from_code(u8::try_from(code).ok()?), code)
    }
}

/// The value of a number that the library gave.
pub(super) fn known<T>(from_code: impl FnOnce(i32) -> Option<T>, code: i32) -> Result<T, PeerError> {
    from_code(code).ok_or_else(|| PeerError::invalid(format!("{}: unknown number {code}", std::any::type_name::<T>())))
}
