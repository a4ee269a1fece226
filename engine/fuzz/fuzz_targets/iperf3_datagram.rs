//! A datagram of an iperf3 client or server: the opening of a stream, or a numbered one.
#![no_main]

use iperf3::{Counter, DatagramHeader, opens_stream, replies_to_opening};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|datagram: &[u8]| {
    if let Some(reply) = opens_stream(datagram) {
        assert!(replies_to_opening(&reply));
    }
    for counter in [Counter::Narrow, Counter::Wide] {
        if let Some(header) = DatagramHeader::read(counter, datagram) {
            let mut written = datagram.to_vec();
            header.write(counter, &mut written);
            assert_eq!(written, datagram);
        }
    }
});
