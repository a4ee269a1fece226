//! Bytes of one stream, sent or received, until it is to stop.

use std::{
    io::{self, Read, Write},
    net::TcpStream,
    time::{Duration, Instant},
};

use traffic::pacing::Gap;

use crate::{tally::Tally, test_state::TestState};

/// Sends until it is to stop, enough is sent, or the peer is gone.
pub fn send(mut socket: &TcpStream, tally: &Tally, test: &TestState) {
    let parameters = &test.parameters;
    let write = &test.payload[..parameters.write_bytes.min(test.payload.len())];
    let part = if test.throttle.is_some() { test.part_bytes() } else { write.len() };
    let gap = parameters.rate_bps.map(|rate_bps| Gap::at_rate(write.len() as u64, rate_bps));
    let begin = Instant::now();
    for number in 0_u64.. {
        if let Some(gap) = gap {
            test.rest_until(begin + Duration::from_nanos(gap.span_ns(number / parameters.burst * parameters.burst)));
        }
        if test.stops(true) || !test.budget.claim(write.len()) {
            return;
        }
        let mut rest = write;
        // A limit holds to the end: what is left of a write then is not sent.
        while !rest.is_empty() && !test.stops(true) {
            match socket.write(&rest[..rest.len().min(part)]) {
                Ok(0) => return,
                Ok(length) => {
                    tally.add_bytes(length);
                    rest = &rest[length..];
                    test.sent(length);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return,
            }
        }
    }
}

/// Receives until it is to stop and has read what is there, or the peer is gone.
pub fn receive(mut socket: &TcpStream, tally: &Tally, test: &TestState) {
    let mut buffer = vec![0; test.part_bytes()];
    let mut stopped: Option<Instant> = None;
    loop {
        match socket.read(&mut buffer) {
            Ok(0) => return,
            Ok(length) => {
                tally.add_bytes(length);
                test.received(length, &mut stopped);
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return,
        }
        if test.ends_sink(&mut stopped) {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{net::TcpListener, thread};

    use super::*;
    use crate::parameters::TestParameters;

    #[test]
    fn a_limit_holds_for_the_rest_of_a_write_when_the_test_ends() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let peer = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (socket, _) = listener.accept().unwrap();
        let params = serde_json::from_str(r#"{"tcp": true, "reverse": true, "len": 1000000}"#).unwrap();
        let test = TestState::new(TestParameters::of(&params).unwrap(), vec![0; 1_000_000].into(), Some(8_000));
        let tally = Tally::default();
        thread::scope(|scope| {
            scope.spawn(|| send(&socket, &tally, &test));
            // The first part has arrived: the next ones are due much later.
            (&peer).read_exact(&mut [0]).unwrap();
            test.stop(true);
        });
        assert!(tally.count().bytes < 100_000, "{}", tally.count().bytes);
    }
}
