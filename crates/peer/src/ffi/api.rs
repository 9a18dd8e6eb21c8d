//! The functions of the C API that are used, with the types of its headers, each looked up when it is called.

use super::{Bytes, Context, Free, Handle, Raw, Text};
use crate::PeerError;

/// Writes one method per function that takes a context first; a failure becomes the library's message.
macro_rules! functions {
    ($($name:ident($($argument:ident: $type:ty),*);)*) => {
        #[allow(clippy::too_many_arguments, reason = "as many as the C function has")]
        impl Context {
            $(
                /// # Safety
                /// The arguments are valid as the C API's reference asks.
                pub(super) unsafe fn $name(&self, $($argument: $type),*) -> Result<(), PeerError> {
                    type Function = unsafe extern "C" fn(Raw, $($type),*) -> i32;
                    let name = stringify!($name);
                    // SAFETY: the C header declares the function with this type.
                    let function = unsafe { self.library().function::<Function>(name) }?;
                    // SAFETY: the context is alive, and the caller vouches for the arguments.
                    let code = unsafe { function(self.raw(), $($argument),*) };
                    self.check(name, code)
                }
            )*
        }
    };
}

/// Writes one method per kind of object: calls what makes it and hands it to the function that frees it.
macro_rules! objects {
    ($($name:ident = $free:literal;)*) => {
        impl Context {
            $(
                /// # Safety
                /// `make` stores an object of this kind that the caller owns, or null, or fails.
                pub(super) unsafe fn $name(
                    &self,
                    make: impl FnOnce(*mut Raw) -> Result<(), PeerError>,
                ) -> Result<Handle, PeerError> {
                    // SAFETY: the C header declares all functions that free with this type.
                    let free = unsafe { self.library().function::<Free>($free) }?;
                    let mut raw: Raw = std::ptr::null_mut();
                    make(&raw mut raw)?;
                    Ok(Handle { raw, free, _context: self.share() })
                }
            )*
        }
    };
}

objects! {
    new_array = "tiledb_array_free";
    new_attribute = "tiledb_attribute_free";
    new_condition = "tiledb_query_condition_free";
    new_current_domain = "tiledb_current_domain_free";
    new_dimension = "tiledb_dimension_free";
    new_domain = "tiledb_domain_free";
    new_enumeration = "tiledb_enumeration_free";
    new_evolution = "tiledb_array_schema_evolution_free";
    new_filter = "tiledb_filter_free";
    new_filter_list = "tiledb_filter_list_free";
    new_fragment_info = "tiledb_fragment_info_free";
    new_group = "tiledb_group_free";
    new_label = "tiledb_dimension_label_free";
    new_ndrectangle = "tiledb_ndrectangle_free";
    new_query = "tiledb_query_free";
    new_schema = "tiledb_array_schema_free";
    new_string = "tiledb_string_free";
    new_subarray = "tiledb_subarray_free";
}

// Schemas.
functions! {
    tiledb_filter_alloc(filter_type: i32, filter: *mut Raw);
    tiledb_filter_set_option(filter: Raw, option: i32, value: Bytes);
    tiledb_filter_get_option(filter: Raw, option: i32, value: Raw);
    tiledb_filter_get_type(filter: Raw, filter_type: *mut i32);
    tiledb_filter_list_alloc(list: *mut Raw);
    tiledb_filter_list_add_filter(list: Raw, filter: Raw);
    tiledb_filter_list_set_max_chunk_size(list: Raw, bytes: u32);
    tiledb_filter_list_get_max_chunk_size(list: Raw, bytes: *mut u32);
    tiledb_filter_list_get_nfilters(list: Raw, count: *mut u32);
    tiledb_filter_list_get_filter_from_index(list: Raw, index: u32, filter: *mut Raw);
    tiledb_attribute_alloc(name: Text, datatype: i32, attribute: *mut Raw);
    tiledb_attribute_set_cell_val_num(attribute: Raw, count: u32);
    tiledb_attribute_set_nullable(attribute: Raw, nullable: u8);
    tiledb_attribute_set_filter_list(attribute: Raw, list: Raw);
    tiledb_attribute_set_fill_value(attribute: Raw, value: Bytes, bytes: u64);
    tiledb_attribute_set_fill_value_nullable(attribute: Raw, value: Bytes, bytes: u64, valid: u8);
    tiledb_attribute_set_enumeration_name(attribute: Raw, name: Text);
    tiledb_attribute_get_name(attribute: Raw, name: *mut Text);
    tiledb_attribute_get_type(attribute: Raw, datatype: *mut i32);
    tiledb_attribute_get_cell_val_num(attribute: Raw, count: *mut u32);
    tiledb_attribute_get_nullable(attribute: Raw, nullable: *mut u8);
    tiledb_attribute_get_filter_list(attribute: Raw, list: *mut Raw);
    tiledb_attribute_get_fill_value(attribute: Raw, value: *mut Bytes, bytes: *mut u64);
    tiledb_attribute_get_fill_value_nullable(attribute: Raw, value: *mut Bytes, bytes: *mut u64, valid: *mut u8);
    tiledb_attribute_get_enumeration_name(attribute: Raw, name: *mut Raw);
    tiledb_dimension_alloc(name: Text, datatype: i32, domain: Bytes, extent: Bytes, dimension: *mut Raw);
    tiledb_dimension_set_cell_val_num(dimension: Raw, count: u32);
    tiledb_dimension_set_filter_list(dimension: Raw, list: Raw);
    tiledb_dimension_get_name(dimension: Raw, name: *mut Text);
    tiledb_dimension_get_type(dimension: Raw, datatype: *mut i32);
    tiledb_dimension_get_domain(dimension: Raw, domain: *mut Bytes);
    tiledb_dimension_get_tile_extent(dimension: Raw, extent: *mut Bytes);
    tiledb_dimension_get_filter_list(dimension: Raw, list: *mut Raw);
    tiledb_domain_alloc(domain: *mut Raw);
    tiledb_domain_add_dimension(domain: Raw, dimension: Raw);
    tiledb_domain_get_ndim(domain: Raw, count: *mut u32);
    tiledb_domain_get_dimension_from_index(domain: Raw, index: u32, dimension: *mut Raw);
    tiledb_enumeration_alloc(name: Text, datatype: i32, cell_val_num: u32, ordered: i32, data: Bytes, data_bytes: u64,
        offsets: Bytes, offsets_bytes: u64, enumeration: *mut Raw);
    tiledb_enumeration_extend(old: Raw, data: Bytes, data_bytes: u64, offsets: Bytes, offsets_bytes: u64, new: *mut Raw);
    tiledb_enumeration_get_type(enumeration: Raw, datatype: *mut i32);
    tiledb_enumeration_get_cell_val_num(enumeration: Raw, count: *mut u32);
    tiledb_enumeration_get_ordered(enumeration: Raw, ordered: *mut i32);
    tiledb_enumeration_get_data(enumeration: Raw, data: *mut Bytes, bytes: *mut u64);
    tiledb_enumeration_get_offsets(enumeration: Raw, offsets: *mut Bytes, bytes: *mut u64);
    tiledb_dimension_label_get_uri(label: Raw, uri: *mut Text);
    tiledb_dimension_label_get_name(label: Raw, name: *mut Text);
    tiledb_dimension_label_get_dimension_index(label: Raw, index: *mut u32);
    tiledb_dimension_label_get_label_attr_name(label: Raw, name: *mut Text);
    tiledb_dimension_label_get_label_order(label: Raw, order: *mut i32);
    tiledb_dimension_label_get_label_type(label: Raw, datatype: *mut i32);
    tiledb_dimension_label_get_label_cell_val_num(label: Raw, count: *mut u32);
    tiledb_ndrectangle_alloc(domain: Raw, rectangle: *mut Raw);
    tiledb_ndrectangle_set_range(rectangle: Raw, index: u32, range: *mut NdRange);
    tiledb_ndrectangle_get_range(rectangle: Raw, index: u32, range: *mut NdRange);
    tiledb_current_domain_create(current_domain: *mut Raw);
    tiledb_current_domain_set_ndrectangle(current_domain: Raw, rectangle: Raw);
    tiledb_current_domain_get_is_empty(current_domain: Raw, empty: *mut u32);
    tiledb_current_domain_get_ndrectangle(current_domain: Raw, rectangle: *mut Raw);
    tiledb_array_schema_alloc(array_type: i32, schema: *mut Raw);
    tiledb_array_schema_set_domain(schema: Raw, domain: Raw);
    tiledb_array_schema_set_cell_order(schema: Raw, layout: i32);
    tiledb_array_schema_set_tile_order(schema: Raw, layout: i32);
    tiledb_array_schema_set_capacity(schema: Raw, cells: u64);
    tiledb_array_schema_set_allows_dups(schema: Raw, allows: i32);
    tiledb_array_schema_set_coords_filter_list(schema: Raw, list: Raw);
    tiledb_array_schema_set_offsets_filter_list(schema: Raw, list: Raw);
    tiledb_array_schema_set_validity_filter_list(schema: Raw, list: Raw);
    tiledb_array_schema_add_enumeration(schema: Raw, enumeration: Raw);
    tiledb_array_schema_add_attribute(schema: Raw, attribute: Raw);
    tiledb_array_schema_add_dimension_label(schema: Raw, dimension: u32, name: Text, order: i32, datatype: i32);
    tiledb_array_schema_set_current_domain(schema: Raw, current_domain: Raw);
    tiledb_array_schema_check(schema: Raw);
    tiledb_array_schema_load(uri: Text, schema: *mut Raw);
    tiledb_array_schema_get_array_type(schema: Raw, array_type: *mut i32);
    tiledb_array_schema_get_version(schema: Raw, version: *mut u32);
    tiledb_array_schema_get_cell_order(schema: Raw, layout: *mut i32);
    tiledb_array_schema_get_tile_order(schema: Raw, layout: *mut i32);
    tiledb_array_schema_get_capacity(schema: Raw, cells: *mut u64);
    tiledb_array_schema_get_allows_dups(schema: Raw, allows: *mut i32);
    tiledb_array_schema_get_coords_filter_list(schema: Raw, list: *mut Raw);
    tiledb_array_schema_get_offsets_filter_list(schema: Raw, list: *mut Raw);
    tiledb_array_schema_get_validity_filter_list(schema: Raw, list: *mut Raw);
    tiledb_array_schema_get_domain(schema: Raw, domain: *mut Raw);
    tiledb_array_schema_get_attribute_num(schema: Raw, count: *mut u32);
    tiledb_array_schema_get_attribute_from_index(schema: Raw, index: u32, attribute: *mut Raw);
    tiledb_array_schema_get_current_domain(schema: Raw, current_domain: *mut Raw);
    tiledb_array_schema_get_dimension_label_num(schema: Raw, count: *mut u64);
    tiledb_array_schema_get_dimension_label_from_index(schema: Raw, index: u64, label: *mut Raw);
}

// Arrays, their metadata and maintenance.
functions! {
    tiledb_array_create(uri: Text, schema: Raw);
    tiledb_array_create_with_key(uri: Text, schema: Raw, encryption: i32, key: Bytes, key_bytes: u32);
    tiledb_array_alloc(uri: Text, array: *mut Raw);
    tiledb_array_set_open_timestamp_start(array: Raw, timestamp: u64);
    tiledb_array_set_open_timestamp_end(array: Raw, timestamp: u64);
    tiledb_array_open(array: Raw, mode: i32);
    tiledb_array_open_with_key(array: Raw, mode: i32, encryption: i32, key: Bytes, key_bytes: u32);
    tiledb_array_open_at(array: Raw, mode: i32, timestamp: u64);
    tiledb_array_open_at_with_key(array: Raw, mode: i32, encryption: i32, key: Bytes, key_bytes: u32, timestamp: u64);
    tiledb_array_close(array: Raw);
    tiledb_array_get_schema(array: Raw, schema: *mut Raw);
    tiledb_array_get_enumeration(array: Raw, name: Text, enumeration: *mut Raw);
    tiledb_array_get_non_empty_domain_from_index(array: Raw, index: u32, domain: Raw, empty: *mut i32);
    tiledb_array_get_non_empty_domain_var_size_from_index(array: Raw, index: u32, low: *mut u64, high: *mut u64,
        empty: *mut i32);
    tiledb_array_get_non_empty_domain_var_from_index(array: Raw, index: u32, low: Raw, high: Raw, empty: *mut i32);
    tiledb_array_put_metadata(array: Raw, key: Text, datatype: i32, count: u32, value: Bytes);
    tiledb_array_delete_metadata(array: Raw, key: Text);
    tiledb_array_get_metadata_num(array: Raw, count: *mut u64);
    tiledb_array_get_metadata_from_index(array: Raw, index: u64, key: *mut Text, key_bytes: *mut u32, datatype: *mut i32,
        count: *mut u32, value: *mut Bytes);
    tiledb_array_consolidate(uri: Text, config: Raw);
    tiledb_array_consolidate_with_key(uri: Text, encryption: i32, key: Bytes, key_bytes: u32, config: Raw);
    tiledb_array_vacuum(uri: Text, config: Raw);
    tiledb_array_upgrade_version(uri: Text, config: Raw);
    tiledb_array_delete_fragments_v2(uri: Text, start: u64, end: u64);
    tiledb_array_evolve(uri: Text, evolution: Raw);
    tiledb_array_schema_evolution_alloc(evolution: *mut Raw);
    tiledb_array_schema_evolution_timestamp_range(evolution: Raw, low: u64, high: u64);
    tiledb_array_schema_evolution_add_enumeration(evolution: Raw, enumeration: Raw);
    tiledb_array_schema_evolution_extend_enumeration(evolution: Raw, enumeration: Raw);
    tiledb_array_schema_evolution_drop_enumeration(evolution: Raw, name: Text);
    tiledb_array_schema_evolution_add_attribute(evolution: Raw, attribute: Raw);
    tiledb_array_schema_evolution_drop_attribute(evolution: Raw, name: Text);
    tiledb_array_schema_evolution_expand_current_domain(evolution: Raw, current_domain: Raw);
    tiledb_fragment_info_alloc(uri: Text, info: *mut Raw);
    tiledb_fragment_info_set_config(info: Raw, config: Raw);
    tiledb_fragment_info_load(info: Raw);
    tiledb_fragment_info_get_fragment_num(info: Raw, count: *mut u32);
    tiledb_fragment_info_get_fragment_name(info: Raw, index: u32, name: *mut Text);
    tiledb_fragment_info_get_fragment_name_v2(info: Raw, index: u32, name: *mut Raw);
    tiledb_fragment_info_get_timestamp_range(info: Raw, index: u32, start: *mut u64, end: *mut u64);
    tiledb_fragment_info_get_version(info: Raw, index: u32, version: *mut u32);
    tiledb_fragment_info_get_dense(info: Raw, index: u32, dense: *mut i32);
    tiledb_fragment_info_get_cell_num(info: Raw, index: u32, cells: *mut u64);
    tiledb_fragment_info_get_non_empty_domain_from_index(info: Raw, index: u32, dimension: u32, domain: Raw);
    tiledb_fragment_info_get_non_empty_domain_var_size_from_index(info: Raw, index: u32, dimension: u32, low: *mut u64,
        high: *mut u64);
    tiledb_fragment_info_get_non_empty_domain_var_from_index(info: Raw, index: u32, dimension: u32, low: Raw, high: Raw);
    tiledb_fragment_info_get_to_vacuum_num(info: Raw, count: *mut u32);
    tiledb_fragment_info_get_to_vacuum_uri(info: Raw, index: u32, uri: *mut Text);
    tiledb_object_type(uri: Text, object_type: *mut i32);
}

// Queries.
functions! {
    tiledb_query_alloc(array: Raw, mode: i32, query: *mut Raw);
    tiledb_query_set_layout(query: Raw, layout: i32);
    tiledb_query_set_subarray(query: Raw, subarray: Bytes);
    tiledb_query_set_subarray_t(query: Raw, subarray: Raw);
    tiledb_query_add_range(query: Raw, dimension: u32, low: Bytes, high: Bytes, stride: Bytes);
    tiledb_query_add_range_var(query: Raw, dimension: u32, low: Bytes, low_bytes: u64, high: Bytes, high_bytes: u64);
    tiledb_query_get_default_channel(query: Raw, channel: *mut Raw);
    tiledb_aggregate_count_get(aggregate: *mut Raw);
    tiledb_channel_operator_sum_get(operator: *mut Raw);
    tiledb_channel_operator_min_get(operator: *mut Raw);
    tiledb_channel_operator_max_get(operator: *mut Raw);
    tiledb_channel_operator_mean_get(operator: *mut Raw);
    tiledb_channel_operator_null_count_get(operator: *mut Raw);
    tiledb_create_unary_aggregate(query: Raw, operator: Raw, field: Text, aggregate: *mut Raw);
    tiledb_aggregate_free(aggregate: *mut Raw);
    tiledb_query_channel_free(channel: *mut Raw);
    tiledb_channel_apply_aggregate(channel: Raw, output: Text, aggregate: Raw);
    tiledb_query_set_condition(query: Raw, condition: Raw);
    tiledb_query_set_buffer(query: Raw, name: Text, data: Raw, data_bytes: *mut u64);
    tiledb_query_set_buffer_var(query: Raw, name: Text, offsets: *mut u64, offsets_bytes: *mut u64, data: Raw,
        data_bytes: *mut u64);
    tiledb_query_set_buffer_nullable(query: Raw, name: Text, data: Raw, data_bytes: *mut u64, validity: *mut u8,
        validity_bytes: *mut u64);
    tiledb_query_set_buffer_var_nullable(query: Raw, name: Text, offsets: *mut u64, offsets_bytes: *mut u64, data: Raw,
        data_bytes: *mut u64, validity: *mut u8, validity_bytes: *mut u64);
    tiledb_query_set_data_buffer(query: Raw, name: Text, data: Raw, data_bytes: *mut u64);
    tiledb_query_set_offsets_buffer(query: Raw, name: Text, offsets: *mut u64, offsets_bytes: *mut u64);
    tiledb_query_set_validity_buffer(query: Raw, name: Text, validity: *mut u8, validity_bytes: *mut u64);
    tiledb_query_submit(query: Raw);
    tiledb_query_finalize(query: Raw);
    tiledb_query_submit_and_finalize(query: Raw);
    tiledb_query_get_status(query: Raw, status: *mut i32);
    tiledb_subarray_alloc(array: Raw, subarray: *mut Raw);
    tiledb_subarray_add_range(subarray: Raw, dimension: u32, low: Bytes, high: Bytes, stride: Bytes);
    tiledb_subarray_add_range_var(subarray: Raw, dimension: u32, low: Bytes, low_bytes: u64, high: Bytes, high_bytes: u64);
    tiledb_query_condition_alloc(condition: *mut Raw);
    tiledb_query_condition_alloc_set_membership(field: Text, data: Bytes, data_bytes: u64, offsets: Bytes,
        offsets_bytes: u64, operator: i32, condition: *mut Raw);
    tiledb_query_condition_init(condition: Raw, field: Text, value: Bytes, value_bytes: u64, operator: i32);
    tiledb_query_condition_set_use_enumeration(condition: Raw, use_enumeration: i32);
    tiledb_query_condition_combine(left: Raw, right: Raw, combination: i32, condition: *mut Raw);
    tiledb_query_condition_negate(condition: Raw, negated: *mut Raw);
}

// Groups.
functions! {
    tiledb_group_create(uri: Text);
    tiledb_group_alloc(uri: Text, group: *mut Raw);
    tiledb_group_open(group: Raw, mode: i32);
    tiledb_group_close(group: Raw);
    tiledb_group_put_metadata(group: Raw, key: Text, datatype: i32, count: u32, value: Bytes);
    tiledb_group_delete_metadata(group: Raw, key: Text);
    tiledb_group_get_metadata_num(group: Raw, count: *mut u64);
    tiledb_group_get_metadata_from_index(group: Raw, index: u64, key: *mut Text, key_bytes: *mut u32, datatype: *mut i32,
        count: *mut u32, value: *mut Bytes);
    tiledb_group_add_member(group: Raw, uri: Text, relative: u8, name: Text);
    tiledb_group_remove_member(group: Raw, name_or_uri: Text);
    tiledb_group_get_member_count(group: Raw, count: *mut u64);
    tiledb_group_get_member_by_index_v2(group: Raw, index: u64, uri: *mut Raw, object_type: *mut i32, name: *mut Raw);
}

/// One range of an n-dimensional rectangle, as the C API lays it out.
#[repr(C)]
pub(super) struct NdRange {
    pub(super) low: Bytes,
    pub(super) low_bytes: u64,
    pub(super) high: Bytes,
    pub(super) high_bytes: u64,
}

impl Default for NdRange {
    fn default() -> Self {
        Self { low: std::ptr::null(), low_bytes: 0, high: std::ptr::null(), high_bytes: 0 }
    }
}
