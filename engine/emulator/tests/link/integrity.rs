//! What is sent is what is received, however it was cut on the way.

use std::{
    io::{Read, Write},
    net::Shutdown,
    thread,
};

use wire::EmulatedDirection;

use crate::lab::{Lab, OPEN};

#[test]
fn tcp_gets_every_byte_over_a_link_that_cuts_loses_duplicates_and_reorders() {
    let slow = EmulatedDirection { rate_bps: Some(60_000_000), delay_us: 2000, ..OPEN };
    for (what, direction) in [
        ("short queue", EmulatedDirection { queue_packets: Some(20), ..slow.clone() }),
        ("loss", EmulatedDirection { rate_bps: None, delay_us: 500, loss: 0.01, ..OPEN }),
        ("duplication", EmulatedDirection { duplicate: 0.1, ..slow.clone() }),
        ("reordering", EmulatedDirection { jitter_us: 1000, reorder: true, ..slow }),
    ] {
        for ipv6 in [false, true] {
            let Some(lab) = Lab::new(&direction) else { return };
            let (mut client, mut server) = lab.tcp(ipv6, None);
            let sent: Vec<u8> = (0..1_500_000_u32).flat_map(u32::to_le_bytes).collect();
            let copy = sent.clone();
            let writing = thread::spawn(move || {
                client.write_all(&copy).unwrap();
                client.shutdown(Shutdown::Write).unwrap();
                client
            });
            let mut received = Vec::new();
            server.read_to_end(&mut received).unwrap();
            drop(writing.join().unwrap());
            let counters = lab.counters();
            println!("{what}, IPv6 {ipv6}: {counters:?}");
            assert!(sent == received, "{what}, IPv6 {ipv6}: {} bytes", received.len());
            assert_eq!(counters.dropped_malformed_packets, 0);
            let hurt = [
                counters.dropped_queue_packets,
                counters.dropped_loss_packets,
                counters.reordered_packets,
                counters.duplicated_packets,
            ];
            assert!(hurt.iter().any(|count| *count > 0), "nothing happened to it");
        }
    }
}
