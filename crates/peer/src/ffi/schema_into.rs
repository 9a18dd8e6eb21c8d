//! Plain data into schema objects of the library.

use std::ptr;

use super::api::NdRange;
use super::{Context, Handle, c_string};
use crate::{Attribute, Column, Dimension, Enumeration, Filter, FilterList, PeerError, Range, Schema, VAR};

impl Context {
    /// Creates an array.
    ///
    /// # Errors
    /// [`PeerError`] when the library refuses the schema or the place, or lacks something that the schema has.
    pub fn create(&self, uri: &str, schema: &Schema) -> Result<(), PeerError> {
        let schema = self.schema_into(schema)?;
        let uri = c_string(uri)?;
        // SAFETY: the schema is alive; text and key outlive the call.
        unsafe {
            match self.key_for_calls() {
                Some(key) => {
                    let length = super::short(key.len())?;
                    self.tiledb_array_create_with_key(uri.as_ptr(), schema.raw(), AES_256_GCM, key.as_ptr().cast(), length)
                }
                None => self.tiledb_array_create(uri.as_ptr(), schema.raw()),
            }
        }
    }

    fn schema_into(&self, schema: &Schema) -> Result<Handle, PeerError> {
        let domain = self.domain_into(&schema.dimensions)?;
        // SAFETY: all handles are alive while they are used, the library copies what it is given, and the object made
        // is owned by the handle.
        unsafe {
            let made = self.new_schema(|out| self.tiledb_array_schema_alloc(schema.array_type.code(), out))?;
            let s = made.raw();
            self.tiledb_array_schema_set_domain(s, domain.raw())?;
            self.tiledb_array_schema_set_cell_order(s, schema.cell_order.code())?;
            self.tiledb_array_schema_set_tile_order(s, schema.tile_order.code())?;
            if let Some(capacity) = schema.capacity {
                self.tiledb_array_schema_set_capacity(s, capacity)?;
            }
            if schema.allows_dups {
                self.tiledb_array_schema_set_allows_dups(s, 1)?;
            }
            if let Some(filters) = &schema.coords_filters {
                self.tiledb_array_schema_set_coords_filter_list(s, self.filter_list_into(filters)?.raw())?;
            }
            if let Some(filters) = &schema.offsets_filters {
                self.tiledb_array_schema_set_offsets_filter_list(s, self.filter_list_into(filters)?.raw())?;
            }
            if let Some(filters) = &schema.validity_filters {
                self.tiledb_array_schema_set_validity_filter_list(s, self.filter_list_into(filters)?.raw())?;
            }
            for enumeration in &schema.enumerations {
                self.tiledb_array_schema_add_enumeration(s, self.enumeration_into(enumeration)?.raw())?;
            }
            for attribute in &schema.attributes {
                self.tiledb_array_schema_add_attribute(s, self.attribute_into(attribute)?.raw())?;
            }
            for label in &schema.labels {
                let (name, datatype) = (c_string(&label.name)?, label.datatype.code().into());
                let order = label.order.code();
                self.tiledb_array_schema_add_dimension_label(s, label.dimension, name.as_ptr(), order, datatype)?;
            }
            if let Some(ranges) = &schema.current_domain {
                let current_domain = self.current_domain_into(&domain, ranges)?;
                self.tiledb_array_schema_set_current_domain(s, current_domain.raw())?;
            }
            self.tiledb_array_schema_check(s)?;
            Ok(made)
        }
    }

    fn domain_into(&self, dimensions: &[Dimension]) -> Result<Handle, PeerError> {
        // SAFETY: the handles are alive while they are used, and the object made is owned by the handle.
        unsafe {
            let domain = self.new_domain(|out| self.tiledb_domain_alloc(out))?;
            for dimension in dimensions {
                self.tiledb_domain_add_dimension(domain.raw(), self.dimension_into(dimension)?.raw())?;
            }
            Ok(domain)
        }
    }

    fn dimension_into(&self, dimension: &Dimension) -> Result<Handle, PeerError> {
        let (name, value_bytes) = (c_string(&dimension.name)?, dimension.datatype.size());
        let domain = dimension.domain.as_ref().map(Range::joined);
        if domain.as_ref().is_some_and(|domain| domain.len() != 2 * value_bytes)
            || dimension.extent.as_ref().is_some_and(|extent| extent.len() != value_bytes)
        {
            return Err(PeerError::invalid(format!("{}: domain or extent of another datatype", dimension.name)));
        }
        let domain = domain.as_ref().map_or(ptr::null(), |bytes| bytes.as_ptr().cast());
        let extent = dimension.extent.as_ref().map_or(ptr::null(), |bytes| bytes.as_ptr().cast());
        // SAFETY: domain and extent are null or as long as the datatype asks, checked above; the library copies them.
        unsafe {
            let datatype = dimension.datatype.code().into();
            let made = self.new_dimension(|out| self.tiledb_dimension_alloc(name.as_ptr(), datatype, domain, extent, out))?;
            if dimension.cell_val_num() == VAR {
                self.tiledb_dimension_set_cell_val_num(made.raw(), VAR)?;
            }
            if let Some(filters) = &dimension.filters {
                self.tiledb_dimension_set_filter_list(made.raw(), self.filter_list_into(filters)?.raw())?;
            }
            Ok(made)
        }
    }

    pub(super) fn attribute_into(&self, attribute: &Attribute) -> Result<Handle, PeerError> {
        let name = c_string(&attribute.name)?;
        // SAFETY: the handles are alive while they are used; values are passed with their length and copied.
        unsafe {
            let datatype = attribute.datatype.code().into();
            let made = self.new_attribute(|out| self.tiledb_attribute_alloc(name.as_ptr(), datatype, out))?;
            let a = made.raw();
            if attribute.cell_val_num != 1 {
                self.tiledb_attribute_set_cell_val_num(a, attribute.cell_val_num)?;
            }
            if attribute.nullable {
                self.tiledb_attribute_set_nullable(a, 1)?;
            }
            if let Some(filters) = &attribute.filters {
                self.tiledb_attribute_set_filter_list(a, self.filter_list_into(filters)?.raw())?;
            }
            if let Some(fill) = &attribute.fill {
                let (value, length) = (fill.value.as_ptr().cast(), fill.value.len() as u64);
                if attribute.nullable {
                    self.tiledb_attribute_set_fill_value_nullable(a, value, length, fill.valid.into())?;
                } else {
                    self.tiledb_attribute_set_fill_value(a, value, length)?;
                }
            }
            if let Some(enumeration) = &attribute.enumeration {
                self.tiledb_attribute_set_enumeration_name(a, c_string(enumeration)?.as_ptr())?;
            }
            Ok(made)
        }
    }

    fn filter_list_into(&self, list: &FilterList) -> Result<Handle, PeerError> {
        // SAFETY: the handles are alive while they are used, and the object made is owned by the handle.
        unsafe {
            let made = self.new_filter_list(|out| self.tiledb_filter_list_alloc(out))?;
            for filter in &list.filters {
                self.tiledb_filter_list_add_filter(made.raw(), self.filter_into(filter)?.raw())?;
            }
            if let Some(bytes) = list.max_chunk_bytes {
                self.tiledb_filter_list_set_max_chunk_size(made.raw(), bytes)?;
            }
            Ok(made)
        }
    }

    fn filter_into(&self, filter: &Filter) -> Result<Handle, PeerError> {
        // SAFETY: the handle is alive; each option's value has the type that the C API asks for, and is copied.
        unsafe {
            let made = self.new_filter(|out| self.tiledb_filter_alloc(filter.filter_type.code(), out))?;
            for option in &filter.options {
                let (code, value) = option.to_bytes();
                self.tiledb_filter_set_option(made.raw(), code, value.as_ptr().cast())?;
            }
            Ok(made)
        }
    }

    pub(super) fn enumeration_into(&self, enumeration: &Enumeration) -> Result<Handle, PeerError> {
        let (name, members) = (c_string(&enumeration.name)?, Members::new(&enumeration.values));
        let offsets = if enumeration.cell_val_num == VAR { members.offsets() } else { (ptr::null(), 0) };
        let (datatype, ordered) = (enumeration.datatype.code().into(), enumeration.ordered.into());
        let (data, data_bytes) = members.data();
        // SAFETY: data and offsets are passed with their lengths and copied.
        unsafe {
            self.new_enumeration(|out| {
                let count = enumeration.cell_val_num;
                self.tiledb_enumeration_alloc(
                    name.as_ptr(),
                    datatype,
                    count,
                    ordered,
                    data,
                    data_bytes,
                    offsets.0,
                    offsets.1,
                    out,
                )
            })
        }
    }

    /// The current domain with these ranges, one per dimension of `domain`.
    pub(super) fn current_domain_into(&self, domain: &Handle, ranges: &[Range]) -> Result<Handle, PeerError> {
        // SAFETY: the handles are alive while they are used; each range outlives the call, which copies it.
        unsafe {
            let rectangle = self.new_ndrectangle(|out| self.tiledb_ndrectangle_alloc(domain.raw(), out))?;
            for (index, range) in (0..).zip(ranges) {
                let mut range = NdRange {
                    low: range.low.as_ptr().cast(),
                    low_bytes: range.low.len() as u64,
                    high: range.high.as_ptr().cast(),
                    high_bytes: range.high.len() as u64,
                };
                self.tiledb_ndrectangle_set_range(rectangle.raw(), index, &raw mut range)?;
            }
            let made = self.new_current_domain(|out| self.tiledb_current_domain_create(out))?;
            if self.current_domains_want_context() {
                self.tiledb_current_domain_set_ndrectangle(made.raw(), rectangle.raw())?;
            } else {
                let name = "tiledb_current_domain_set_ndrectangle";
                let set = self.library().function::<WithoutContext<super::Raw>>(name)?;
                self.check(name, set(made.raw(), rectangle.raw()))?;
            }
            Ok(made)
        }
    }

    /// Until 2.26 the header declares the functions of current domains without a context.
    pub(super) fn current_domains_want_context(&self) -> bool {
        self.library().version() >= (2, 26, 0)
    }
}

/// The number of the one kind of encryption.
pub(super) const AES_256_GCM: i32 = 1;

/// Values of variable length as the C API takes lists of them.
pub(super) struct Members {
    column: Column,
    offsets: Vec<u64>,
}

impl Members {
    pub(super) fn new(values: &[Vec<u8>]) -> Self {
        let mut column = Column::var(values);
        let offsets = column.offsets.take().unwrap_or_default();
        Self { column, offsets }
    }

    /// Address and bytes of all values, valid as long as `self`; null where there is none.
    pub(super) fn data(&self) -> (super::Bytes, u64) {
        let data = &self.column.data;
        (if data.is_empty() { ptr::null() } else { data.as_ptr().cast() }, data.len() as u64)
    }

    /// Address and bytes of the offsets, valid as long as `self`; null where there is none.
    pub(super) fn offsets(&self) -> (super::Bytes, u64) {
        let bytes = size_of_val(self.offsets.as_slice()) as u64;
        (if bytes == 0 { ptr::null() } else { self.offsets.as_ptr().cast() }, bytes)
    }
}

/// A function of a current domain and one thing more.
pub(super) type WithoutContext<T> = unsafe extern "C" fn(super::Raw, T) -> i32;
