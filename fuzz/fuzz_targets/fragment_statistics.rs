#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| talavera_fuzz::fragment::fragment_statistics(data));
