//! The parameters of an iperf3 client.
#![no_main]

use iperf3::{Params, limits::STREAMS_MAX, parse_json};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &[u8]| {
    let Ok(params) = parse_json::<Params>(text) else { return };
    if params.check().is_ok() {
        assert!((1..=STREAMS_MAX).contains(&params.streams()));
        assert!(params.protocol().is_ok());
    }
    // What is missing counts as 0, so that only what was said once stays as it is.
    let said = serde_json::to_vec(&params).expect("parameters can be said");
    let _ = parse_json::<Params>(&said);
});
