//! The results of an iperf3 client or server.
#![no_main]

use iperf3::{Results, parse_json};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &[u8]| {
    let Ok(results) = parse_json::<Results>(text) else { return };
    let said = serde_json::to_vec(&results).expect("results can be said");
    let read: Results = parse_json(&said).expect("what was read and said is read again");
    assert_eq!(read.streams.len(), results.streams.len());
    for (read, stream) in read.streams.iter().zip(&results.streams) {
        assert_eq!((read.id, read.bytes, read.packets), (stream.id, stream.bytes, stream.packets));
    }
});
