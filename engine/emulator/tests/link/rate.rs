//! The rate is that of IP packets, seen by the receiving application. A noisy machine gets three attempts. Hosts that
//! have no time to keep a link busy do not show its rate: then the link waited for them, and not they for the link.

use std::{
    thread,
    time::{Duration, Instant},
};

use wire::EmulatedDirection;

use crate::{
    lab::{Lab, OPEN},
    traffic::{Seen, float, go_first, next_number, rate_of_last, tcp_for, udp_flood},
    witness::processor_time,
};

const ATTEMPTS: u32 = 3;
/// Of a TCP segment with timestamps, in 1500 bytes.
const TCP_PAYLOAD_SHARE: f64 = 1448.0 / 1500.0;
const UDP_PAYLOAD_BYTES: u16 = 1472;
/// The emulator's thread for what end 0 sends.
const FORWARD: &str = "direction-0";

fn limited(rate_bps: u64, delay_us: u64) -> EmulatedDirection {
    EmulatedDirection { rate_bps: Some(rate_bps), delay_us, ..OPEN }
}

/// Of a processor: a direction that needs more may be what limits.
const MOST_OF_A_PROCESSOR: f64 = 0.9;

struct Attempt {
    rate_bps: f64,
    /// Nothing was queued at a time, and the emulator slept: what the hosts gave was less than the link takes.
    waited_for_hosts: bool,
}

/// An attempt is within the tolerance, or else the hosts did not make use of the link in any.
fn gets(what: &str, rate_bps: u64, tolerance: f64, measure: impl Fn() -> Option<Attempt>) {
    let mut misses = Vec::new();
    for _ in 0..ATTEMPTS {
        let Some(attempt) = measure() else { return };
        let error = attempt.rate_bps / float(rate_bps) - 1.0;
        let waited = if attempt.waited_for_hosts { ", but the link waited for the hosts" } else { "" };
        let measured = format!("{:.0} bit/s of IP packets, error {:+.3} %{waited}", attempt.rate_bps, error * 100.0);
        println!("{what} at {rate_bps} bit/s: {measured}");
        if error.abs() <= tolerance {
            return;
        }
        misses.push((error, attempt.waited_for_hosts));
    }
    assert!(misses.iter().all(|(error, waited)| *waited && *error < 0.0), "{what} at {rate_bps} bit/s: {misses:?}");
}

/// One flow whose window is some times the bandwidth-delay product: where the hosts have the time, the link never idles,
/// its queue never ends.
fn tcp(rate_bps: u64, delay_us: u64, window_bytes: Option<usize>, duration: Duration) -> Option<Attempt> {
    let lab = Lab::new(&limited(rate_bps, delay_us))?;
    let begun = Instant::now();
    let (seen, busy) = thread::scope(|scope| {
        let watching = scope.spawn(|| {
            thread::sleep(duration / 2);
            let (before, from) = (processor_time(FORWARD), lab.reports().len());
            thread::sleep(duration.saturating_sub(begun.elapsed()));
            let used = processor_time(FORWARD).saturating_sub(before).as_secs_f64() / (duration / 2).as_secs_f64();
            (used, lab.reports()[from..].iter().map(|report| report.directions[0].queue_bytes).min())
        });
        (tcp_for(lab.tcp(false, window_bytes), duration), watching.join().unwrap())
    });
    let (used, least_queue_bytes) = busy;
    println!("{used:.2} of a processor, least queue {least_queue_bytes:?} bytes; {:?}", lab.counters());
    let waited_for_hosts = least_queue_bytes == Some(0) && used < MOST_OF_A_PROCESSOR;
    Some(Attempt { rate_bps: rate_of_last(&seen, duration / 2) / TCP_PAYLOAD_SHARE, waited_for_hosts })
}

fn udp(rate_bps: u64, duration: Duration) -> Option<Attempt> {
    let lab = Lab::new(&EmulatedDirection { queue_packets: Some(400), ..limited(rate_bps, 1000) })?;
    let (sender, receiver) = lab.udp(false);
    let reading = thread::spawn(move || {
        go_first();
        let (mut total, mut seen): (u64, Seen) = (0, Vec::new());
        while next_number(&receiver, Duration::from_secs(1)).is_some() {
            total += u64::from(UDP_PAYLOAD_BYTES) + 28;
            seen.push((Instant::now(), total));
        }
        seen
    });
    let packets_per_s = float(rate_bps) / 12_000.0;
    udp_flood(&sender, UDP_PAYLOAD_BYTES, packets_per_s * 1.2, duration);
    let seen = reading.join().unwrap();
    println!("{:?}", lab.counters());
    // The last moments are the queue alone, which is as good as any.
    Some(Attempt { rate_bps: rate_of_last(&seen, duration * 3 / 4), waited_for_hosts: false })
}

#[test]
fn tcp_gets_the_rate() {
    for (rate_bps, window_bytes) in [(10_000_000, 128 << 10), (100_000_000, 256 << 10), (1_000_000_000, 2 << 20)] {
        gets("TCP", rate_bps, 0.005, || tcp(rate_bps, 1000, Some(window_bytes), Duration::from_secs(3)));
    }
}

#[test]
fn udp_gets_the_rate() {
    for rate_bps in [10_000_000, 100_000_000, 1_000_000_000] {
        gets("UDP", rate_bps, 0.005, || udp(rate_bps, Duration::from_secs(3)));
    }
}

#[test]
fn tcp_gets_five_gigabits_over_a_short_path() {
    let window_bytes = Some(4 << 20);
    gets("TCP, 2 ms", 5_000_000_000, 0.03, || tcp(5_000_000_000, 1000, window_bytes, Duration::from_secs(3)));
}

#[test]
fn tcp_gets_five_gigabits_over_a_long_path() {
    gets("TCP, 100 ms", 5_000_000_000, 0.03, || tcp(5_000_000_000, 50_000, None, Duration::from_secs(10)));
}
