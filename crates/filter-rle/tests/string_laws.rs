//! The laws of encoder and decoder for strings.

use talavera_filter_rle::Rle;

talavera_testkit::string_filter_laws! { mod laws { filter: Rle } }
