//! What controller and engine say to each other: frames, and the messages in them.
#![no_main]

use libfuzzer_sys::fuzz_target;
use wire::{Event, FrameKind, HEADER_BYTES, MAX_PAYLOAD_BYTES, Request, decode_header, encode};

fuzz_target!(|bytes: &[u8]| {
    let mut rest = bytes;
    while let Some((header, behind)) = rest.split_first_chunk::<HEADER_BYTES>() {
        let Ok((kind, length)) = decode_header(*header) else { return };
        assert!(length <= MAX_PAYLOAD_BYTES);
        let Some((payload, behind)) = behind.split_at_checked(length) else { return };
        assert_eq!(encode(kind, payload).expect("it was one"), rest[..HEADER_BYTES + length]);
        if kind == FrameKind::Json {
            if let Ok(request) = serde_json::from_slice::<Request>(payload) {
                let said = serde_json::to_vec(&request).expect("requests can be said");
                assert_eq!(serde_json::from_slice::<Request>(&said).expect("it was said"), request);
            }
            if let Ok(event) = serde_json::from_slice::<Event>(payload) {
                serde_json::to_vec(&event).expect("events can be said");
            }
        }
        rest = behind;
    }
});
