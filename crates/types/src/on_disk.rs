//! Enumerations on disk: one macro writes the enum, its names, and both directions.

/// Declares an enum whose variants are one-byte codes on disk, with their names in the format's spelling.
macro_rules! on_disk {
    (
        $(#[$doc:meta])*
        pub enum $name:ident, $expected:literal {
            $($(#[$variant_doc:meta])* $variant:ident = $code:literal $text:literal,)*
        }
    ) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        pub enum $name {
            $($(#[$variant_doc])* $variant = $code,)*
        }

        impl $name {
            /// Every value, by code.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The value with this code on disk.
            #[must_use]
            pub fn from_code(code: u8) -> Option<Self> {
                match code {
                    $($code => Some(Self::$variant),)*
                    _ => None,
                }
            }

            /// The code on disk.
            #[must_use]
            pub fn code(self) -> u8 {
                self as u8
            }

            /// The name that the format uses.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $text,)*
                }
            }

            /// The value with this name, in the format's spelling.
            #[must_use]
            pub fn from_name(name: &str) -> Option<Self> {
                match name {
                    $($text => Some(Self::$variant),)*
                    _ => None,
                }
            }

            /// Reads the one-byte code.
            ///
            /// # Errors
            /// [`Invalid`](talavera_codec::DecodeErrorKind::Invalid) for a code that stands for nothing,
            /// [`Truncated`](talavera_codec::DecodeErrorKind::Truncated) when there is no byte.
            pub fn decode(r: &mut talavera_codec::Reader<'_>, field: &'static str) -> Result<Self, talavera_codec::DecodeError> {
                let offset = r.offset();
                let code = r.u8(field)?;
                Self::from_code(code).ok_or_else(|| {
                    talavera_codec::DecodeErrorKind::Invalid { found: code.into(), expected: $expected }.at(field, offset)
                })
            }

            /// Writes the one-byte code.
            pub fn encode(self, w: &mut talavera_codec::Writer) {
                w.u8(self.code());
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.name())
            }
        }
    };
}

pub(crate) use on_disk;
