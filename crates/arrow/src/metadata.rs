//! What a field was in TileDB, as metadata of the Arrow field: enough to make the same attribute or dimension again.

/// The key of the datatype's name: `DATETIME_MONTH`. Of an enumerated attribute it is the datatype of the indices.
pub const DATATYPE: &str = "tiledb:datatype";
/// The key of the number of values in a cell: `1`, `3`, or `var`.
pub const CELL_VAL_NUM: &str = "tiledb:cell_val_num";
/// The key of whether cells may be null in the array: `true` or `false`.
pub const NULLABLE: &str = "tiledb:nullable";
/// The key of what the field is: `attribute`, `dimension`, or `timestamps`.
pub const ROLE: &str = "tiledb:role";
/// The key of the name of an attribute's enumeration.
pub const ENUMERATION: &str = "tiledb:enumeration";
/// The key of the datatype of the enumeration's values, for attributes that became dictionaries.
pub const ENUMERATION_DATATYPE: &str = "tiledb:enumeration_datatype";
