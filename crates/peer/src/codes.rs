//! Numbers of the C API that have names.

/// Writes an enum with the C API's numbers and names.
macro_rules! codes {
    ($(#[$doc:meta])* $type:ident { $($variant:ident = $code:literal $name:literal,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum $type {
            $(#[doc = concat!("`", $name, "`.")] $variant,)*
        }

        impl $type {
            const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// Its number in the C API.
            #[must_use]
            pub fn code(self) -> i32 {
                match self { $(Self::$variant => $code,)* }
            }

            /// Its name in the C API, without the prefix.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// The value with this number, or `None`.
            #[must_use]
            pub fn from_code(code: i32) -> Option<Self> {
                Self::ALL.iter().copied().find(|value| value.code() == code)
            }
        }
    };
}

pub(crate) use codes;

codes! {
    /// Dense or sparse.
    ArrayType { Dense = 0 "dense", Sparse = 1 "sparse", }
}

codes! {
    /// An order of cells or tiles.
    Layout {
        RowMajor = 0 "row-major",
        ColMajor = 1 "col-major",
        GlobalOrder = 2 "global",
        Unordered = 3 "unordered",
        Hilbert = 4 "hilbert",
    }
}

codes! {
    /// The order of a dimension label's values.
    LabelOrder { Unordered = 0 "unordered", Increasing = 1 "increasing", Decreasing = 2 "decreasing", }
}
