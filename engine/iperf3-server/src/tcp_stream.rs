//! Bytes of one stream, sent or received, until it is to stop.

use std::{
    io::{self, Read, Write},
    net::TcpStream,
    time::{Duration, Instant},
};

use crate::{tally::Tally, together::Together};

/// Sends until it is to stop, enough is sent, or the peer is gone.
pub fn send(mut socket: &TcpStream, tally: &Tally, together: &Together) {
    let terms = &together.terms;
    let write = &together.payload[..terms.write_bytes.min(together.payload.len())];
    let part = if together.throttle.is_some() { together.part_bytes() } else { write.len() };
    let begin = Instant::now();
    for number in 0_u64.. {
        if let Some(rate_bps) = terms.rate_bps {
            let due = begin + span(number / terms.burst * terms.burst, write.len(), rate_bps);
            together.rest_until(due);
        }
        if together.stops(true) || !together.budget.claim(write.len()) {
            return;
        }
        let mut rest = write;
        while !rest.is_empty() {
            match socket.write(&rest[..rest.len().min(part)]) {
                Ok(0) => return,
                Ok(length) => {
                    tally.add_bytes(length);
                    rest = &rest[length..];
                    together.sent(length);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return,
            }
        }
    }
}

/// Receives until it is to stop and has read what is there, or the peer is gone.
pub fn receive(mut socket: &TcpStream, tally: &Tally, together: &Together) {
    let mut buffer = vec![0; together.part_bytes()];
    let mut stopped: Option<Instant> = None;
    loop {
        match socket.read(&mut buffer) {
            Ok(0) => return,
            Ok(length) => {
                tally.add_bytes(length);
                together.received(length, &mut stopped);
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return,
        }
        if together.ends_sink(&mut stopped) {
            return;
        }
    }
}

/// How long so many writes take at a rate.
pub fn span(writes: u64, bytes: usize, rate_bps: u64) -> Duration {
    let nanoseconds = u128::from(writes).saturating_mul(bytes as u128 * 8_000_000_000) / u128::from(rate_bps.max(1));
    Duration::from_nanos(u64::try_from(nanoseconds).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_are_due_at_their_rate() {
        assert_eq!(span(1000, 125, 1_000_000), Duration::from_secs(1));
        assert_eq!(span(u64::MAX, usize::MAX, 1), Duration::from_nanos(u64::MAX));
    }
}
