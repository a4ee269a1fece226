//! The queue's limit, to the packet, when one super-packet comes that does not fit.

use std::time::{Duration, Instant};

use wire::EmulatedDirection;

use crate::{
    lab::{Lab, OPEN},
    traffic::{next_number, numbered},
};

const PAYLOAD_BYTES: u16 = 1000;

/// Numbers that arrive of 50 datagrams that were sent at once.
fn burst(direction: &EmulatedDirection, ipv6: bool) -> Option<Vec<u64>> {
    let lab = Lab::new(direction)?;
    let (sender, receiver) = lab.udp(ipv6);
    sys::set_udp_segment(&sender, PAYLOAD_BYTES).unwrap();
    sender.send(&numbered(0, 50, PAYLOAD_BYTES)).unwrap();
    let mut numbers = Vec::new();
    // Silence may be the machine's: only where the link has no packet left, or after a long time, is it the end.
    let until = Instant::now() + Duration::from_secs(60);
    let counters = loop {
        // Seen before the look for what has come: this test may wait for a processor, too.
        let is_over = Instant::now() > until;
        if let Some(number) = next_number(&receiver, Duration::from_millis(100)) {
            numbers.push(number);
            continue;
        }
        let counters = lab.counters();
        let accounted = numbers.len() as u64 + counters.dropped_queue_packets;
        if accounted == 50 || is_over {
            break counters;
        }
    };
    println!("{} of 50 packets got through: {counters:?}", numbers.len());
    assert_eq!(counters.packets_in, 50);
    assert_eq!(counters.dropped_queue_packets, 50 - numbers.len() as u64);
    Some(numbers)
}

#[test]
fn the_part_of_a_super_packet_that_fits_is_queued() {
    let slow = EmulatedDirection { rate_bps: Some(5_000_000), ..OPEN };
    let in_bytes = |bytes| EmulatedDirection { queue_bytes: Some(bytes), ..slow.clone() };
    let in_packets = |packets| EmulatedDirection { queue_packets: Some(packets), ..slow.clone() };
    for (direction, ipv6, through) in [
        (in_bytes(20 * 1028), false, 20),
        (in_bytes(20 * 1028 - 1), false, 19),
        (in_bytes(20 * 1048), true, 20),
        (in_packets(7), false, 7),
        (slow.clone(), true, 50),
    ] {
        let Some(numbers) = burst(&direction, ipv6) else { return };
        assert_eq!(numbers, (0..through).collect::<Vec<_>>());
    }
}
