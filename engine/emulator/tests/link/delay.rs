//! One-way delay of each packet, against what rate, queue and delay make of the moment it was sent: on the same clock,
//! from before the system call that sends to after the one that receives.

use std::{
    net::UdpSocket,
    thread,
    time::{Duration, Instant},
};

use wire::EmulatedDirection;

use crate::{
    lab::{Lab, OPEN},
    traffic::{float, go_first, next_number, numbered},
    witness::Witnesses,
};

const ATTEMPTS: u32 = 3;
const PAYLOAD_BYTES: u16 = 972;
const PACKET_BITS: f64 = 8000.0;
const DELAY: Duration = Duration::from_millis(5);

/// Seconds that each packet took longer than it should have, sorted, and how many packets there were. Half of the rate is
/// used. Packets during which the machine was away are left out.
fn added_s(rate_bps: u64) -> Option<(Vec<f64>, usize)> {
    let delay_us = u64::try_from(DELAY.as_micros()).unwrap();
    let lab = Lab::new(&EmulatedDirection { rate_bps: Some(rate_bps), delay_us, ..OPEN })?;
    let (sender, receiver) = lab.udp(false);
    let witnesses = Witnesses::on_every_processor();
    let reading = thread::spawn(move || {
        go_first();
        let mut arrived = Vec::new();
        while let Some(number) = next_number(&receiver, Duration::from_millis(500)) {
            arrived.push((usize::try_from(number).unwrap(), Instant::now()));
        }
        arrived
    });
    let writing = thread::spawn(move || send_at_half(&sender, rate_bps));
    let sent = writing.join().unwrap();
    let arrived = reading.join().unwrap();
    let absences = witnesses.absences();
    println!("{:?}", lab.counters());
    assert_eq!(arrived.len(), sent.len(), "every packet comes");
    let begun = sent[0];
    let mut free = 0.0;
    let expected = sent.iter().map(|at| {
        free = (*at - begun).as_secs_f64().max(free) + PACKET_BITS / float(rate_bps);
        free + DELAY.as_secs_f64()
    });
    let expected: Vec<f64> = expected.collect();
    let undisturbed = arrived
        .into_iter()
        .filter(|(number, at)| !absences.iter().any(|absence| absence.disturbed(sent[*number], *at)));
    let mut added: Vec<f64> = undisturbed.map(|(number, at)| (at - begun).as_secs_f64() - expected[number]).collect();
    added.sort_by(f64::total_cmp);
    Some((added, sent.len()))
}

/// When each packet was sent.
fn send_at_half(sender: &UdpSocket, rate_bps: u64) -> Vec<Instant> {
    go_first();
    let begun = Instant::now();
    let mut sent = Vec::new();
    while begun.elapsed() < Duration::from_secs(2) {
        while float(sent.len() as u64) * PACKET_BITS < begun.elapsed().as_secs_f64() * float(rate_bps) / 2.0 {
            sent.push(Instant::now());
            sender.send(&numbered(sent.len() as u64 - 1, 1, PAYLOAD_BYTES)).unwrap();
        }
        thread::sleep(Duration::from_micros(100));
    }
    sent
}

#[test]
fn packets_come_hardly_later_than_due() {
    for rate_bps in [10_000_000, 100_000_000, 1_000_000_000] {
        let good = (0..ATTEMPTS).any(|_| {
            let Some((added, sent)) = added_s(rate_bps) else { return true };
            let seen = format!("{} of {sent} packets while the machine was there", added.len());
            if added.len() < sent / 4 {
                println!("{rate_bps} bit/s: only {seen}");
                return false;
            }
            let ms = |share: usize| added[added.len() * share / 1000] * 1000.0;
            let (least, median, p99) = (added[0] * 1000.0, ms(500), ms(990));
            println!(
                "added delay at {rate_bps} bit/s: least {least:.3} ms, median {median:.3} ms, p99 {p99:.3} ms; {seen}"
            );
            assert!(least > -0.001, "a packet arrived before its time");
            median <= 0.3 && p99 <= 1.0
        });
        assert!(good, "{rate_bps} bit/s");
    }
}

#[test]
fn jitter_spreads_the_delay_and_reorders_only_where_it_may() {
    for reorder in [false, true] {
        let direction = EmulatedDirection { delay_us: 5000, jitter_us: 2000, reorder, ..OPEN };
        let Some(lab) = Lab::new(&direction) else { return };
        let (sender, receiver) = lab.udp(true);
        for number in 0..500 {
            sender.send(&numbered(number, 1, PAYLOAD_BYTES)).unwrap();
            thread::sleep(Duration::from_micros(500));
        }
        let order: Vec<u64> = (0..500).filter_map(|_| next_number(&receiver, Duration::from_millis(500))).collect();
        let counters = lab.counters();
        println!("reorder {reorder}: {} of {} packets reordered", counters.reordered_packets, order.len());
        assert_eq!(order.len(), 500);
        assert_eq!(order.is_sorted(), !reorder);
        assert_eq!(counters.reordered_packets > 100, reorder);
    }
}
