//! The rate is that of IP packets, seen by the receiving application. A noisy machine gets three attempts.

use std::{thread, time::Duration};

use wire::EmulatedDirection;

use crate::{
    lab::{Lab, OPEN},
    traffic::{Seen, float, go_first, next_number, rate_of_last, tcp_for, udp_flood},
};

const ATTEMPTS: u32 = 3;
/// Of a TCP segment with timestamps, in 1500 bytes.
const TCP_PAYLOAD_SHARE: f64 = 1448.0 / 1500.0;
const UDP_PAYLOAD_BYTES: u16 = 1472;

fn limited(rate_bps: u64, delay_us: u64) -> EmulatedDirection {
    EmulatedDirection { rate_bps: Some(rate_bps), delay_us, ..OPEN }
}

/// Relative error of the best attempt.
fn best_error(what: &str, rate_bps: u64, tolerance: f64, measure: impl Fn() -> Option<f64>) {
    let mut errors = Vec::new();
    for _ in 0..ATTEMPTS {
        let Some(measured_bps) = measure() else { return };
        let error = measured_bps / float(rate_bps) - 1.0;
        println!("{what} at {rate_bps} bit/s: {measured_bps:.0} bit/s of IP packets, error {:+.3} %", error * 100.0);
        errors.push(error);
        if error.abs() <= tolerance {
            return;
        }
    }
    panic!("{what} at {rate_bps} bit/s: {errors:?}");
}

/// One flow whose window is some times the bandwidth-delay product: the link never idles, its queue never ends.
fn tcp(rate_bps: u64, delay_us: u64, window_bytes: Option<usize>, duration: Duration) -> Option<f64> {
    let lab = Lab::new(&limited(rate_bps, delay_us))?;
    let seen = tcp_for(lab.tcp(false, window_bytes), duration);
    println!("{:?}", lab.counters());
    Some(rate_of_last(&seen, duration / 2) / TCP_PAYLOAD_SHARE)
}

fn udp(rate_bps: u64, duration: Duration) -> Option<f64> {
    let lab = Lab::new(&EmulatedDirection { queue_packets: Some(400), ..limited(rate_bps, 1000) })?;
    let (sender, receiver) = lab.udp(false);
    let reading = thread::spawn(move || {
        go_first();
        let (mut total, mut seen): (u64, Seen) = (0, Vec::new());
        while next_number(&receiver, Duration::from_secs(1)).is_some() {
            total += u64::from(UDP_PAYLOAD_BYTES) + 28;
            seen.push((std::time::Instant::now(), total));
        }
        seen
    });
    let packets_per_s = float(rate_bps) / 12_000.0;
    udp_flood(&sender, UDP_PAYLOAD_BYTES, packets_per_s * 1.2, duration);
    let seen = reading.join().unwrap();
    println!("{:?}", lab.counters());
    // The last moments are the queue alone, which is as good as any.
    Some(rate_of_last(&seen, duration * 3 / 4))
}

#[test]
fn tcp_gets_the_rate() {
    for (rate_bps, window_bytes) in [(10_000_000, 128 << 10), (100_000_000, 256 << 10), (1_000_000_000, 2 << 20)] {
        best_error("TCP", rate_bps, 0.005, || tcp(rate_bps, 1000, Some(window_bytes), Duration::from_secs(3)));
    }
}

#[test]
fn udp_gets_the_rate() {
    for rate_bps in [10_000_000, 100_000_000, 1_000_000_000] {
        best_error("UDP", rate_bps, 0.005, || udp(rate_bps, Duration::from_secs(3)));
    }
}

#[test]
fn tcp_gets_five_gigabits_over_a_short_path() {
    let window_bytes = Some(4 << 20);
    best_error("TCP, 2 ms", 5_000_000_000, 0.03, || tcp(5_000_000_000, 1000, window_bytes, Duration::from_secs(3)));
}

#[test]
fn tcp_gets_five_gigabits_over_a_long_path() {
    best_error("TCP, 100 ms", 5_000_000_000, 0.03, || tcp(5_000_000_000, 50_000, None, Duration::from_secs(10)));
}
