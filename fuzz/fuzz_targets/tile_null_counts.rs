#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| talavera_fuzz::fragment::tile_null_counts(data));
