#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| talavera_fuzz::condition::condition_text(data));
