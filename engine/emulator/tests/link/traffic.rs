//! What goes over a link in tests.

use std::{
    io::{Read, Write},
    net::{TcpStream, UdpSocket},
    thread,
    time::{Duration, Instant},
};

/// A moment, and the bytes that had been read by then.
pub type Seen = Vec<(Instant, u64)>;

/// Sends for as long as asked; returns what the receiver's application had when.
pub fn tcp_for((mut client, server): (TcpStream, TcpStream), duration: Duration) -> Seen {
    thread::scope(move |scope| {
        scope.spawn(move || {
            let block = vec![7; 256 << 10];
            // Until the receiver closes, with much still on its way.
            while client.write(&block).is_ok() {}
        });
        read_for(server, duration)
    })
}

fn read_for(mut server: TcpStream, duration: Duration) -> Seen {
    let mut block = vec![0; 1 << 20];
    let (mut total, mut seen) = (0, Vec::new());
    let begun = Instant::now();
    while begun.elapsed() < duration {
        total += server.read(&mut block).unwrap() as u64;
        seen.push((Instant::now(), total));
    }
    seen
}

/// Bits per second over the last part of the time.
pub fn rate_of_last(seen: &Seen, part: Duration) -> f64 {
    let (end, last) = seen[seen.len() - 1];
    let (begin, first) = *seen.iter().find(|(at, _)| *at + part >= end).unwrap();
    float(last - first) * 8.0 / (end - begin).as_secs_f64()
}

/// On a thread of its own: sends datagrams of this payload at about this rate for as long as asked, many at once, each with its number.
pub fn udp_flood(sender: &UdpSocket, payload_bytes: u16, packets_per_s: f64, duration: Duration) -> u64 {
    let flood = || flood(sender, payload_bytes, packets_per_s, duration);
    thread::scope(|scope| scope.spawn(flood).join().unwrap())
}

fn flood(sender: &UdpSocket, payload_bytes: u16, packets_per_s: f64, duration: Duration) -> u64 {
    go_first();
    sys::set_udp_segment(sender, payload_bytes).unwrap();
    let at_once = u64::from((60_000 / payload_bytes).min(60));
    let begun = Instant::now();
    let mut sent = 0;
    while begun.elapsed() < duration {
        while float(sent) < begun.elapsed().as_secs_f64() * packets_per_s {
            sender.send(&numbered(sent, at_once, payload_bytes)).unwrap();
            sent += at_once;
        }
        thread::sleep(Duration::from_micros(200));
    }
    sent
}

/// Payload of some datagrams that each begin with their number.
pub fn numbered(first: u64, count: u64, payload_bytes: u16) -> Vec<u8> {
    let mut bytes = vec![0; usize::try_from(count).unwrap() * usize::from(payload_bytes)];
    for (number, datagram) in (first..).zip(bytes.chunks_exact_mut(payload_bytes.into())) {
        datagram[..8].copy_from_slice(&number.to_be_bytes());
    }
    bytes
}

/// The number of the next datagram; none if it takes longer than this.
pub fn next_number(receiver: &UdpSocket, timeout: Duration) -> Option<u64> {
    let mut bytes = [0; 2048];
    receiver.set_read_timeout(Some(timeout)).unwrap();
    let length = receiver.recv(&mut bytes).ok()?;
    assert!(length >= 8);
    Some(u64::from_be_bytes([0, 1, 2, 3, 4, 5, 6, 7].map(|at| bytes[at])))
}

/// Keeps whatever else the machine does out of the measurement, where that is permitted. For threads that mostly sleep.
pub fn go_first() {
    let _ = sys::take_realtime_priority();
}

pub fn float(count: u64) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "counts of tests are far below 2^52")]
    let float = count as f64;
    float
}
