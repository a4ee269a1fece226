//! Datagrams of one stream, sent or received, until it is to stop.

use std::{
    io,
    net::UdpSocket,
    num::NonZero,
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use iperf3::{Counter, DatagramHeader, limits::DATAGRAM_BYTES_MAX, opens_stream};
use rustix::net::SendFlags;
use sys::{RECEIVE_BATCH_MAX, ReceiveBatch};
use traffic::{
    datagrams::{Arrival, Iperf3, Jitter, KernelTime, Outgoing, Pace, Sequence, segment},
    pacing::Gap,
};

use crate::{
    defaults::{DATAGRAM_ROOM_BYTES, SINK_QUIET, STOP_CHECK},
    tally::{Count, Tally},
    test_state::TestState,
};

/// After a datagram that the host could not take.
const PAUSE: Duration = Duration::from_millis(1);
/// How long the kernel puts off a sleep unless it is asked not to.
const SLACK_NS: u64 = 50_000;
/// Most datagrams that are sent before the stream looks at whether it is to stop.
const SENT_AT_ONCE: usize = 64;

/// What has come of a stream.
struct Sink {
    counter: Counter,
    highest: u64,
    sequence: Sequence,
    bytes: u64,
    jitter: Jitter,
}

/// Receives until it is to stop and nothing comes any more. Its opening is answered again: the first answer may be lost.
pub fn receive(socket: &UdpSocket, tally: &Tally, test: &TestState) {
    let room = test.parameters.write_bytes.clamp(DATAGRAM_ROOM_BYTES, DATAGRAM_BYTES_MAX as usize);
    let most = (test.part_bytes() / room).clamp(1, RECEIVE_BATCH_MAX);
    let mut batch = ReceiveBatch::new(most, room);
    let mut kernel = KernelTime::begin();
    let mut sink = Sink::new(test.parameters.counter);
    let mut stopped: Option<Instant> = None;
    let mut counts = test.counts();
    if socket.set_read_timeout(Some(SINK_QUIET)).is_err() {
        return;
    }
    loop {
        let stops = test.stops(false);
        match batch.receive(socket) {
            Ok(received) => {
                if !counts && test.counts() {
                    counts = true;
                    sink.jitter.begin_again();
                }
                kernel.look();
                let (mut count, mut bytes) = (0, 0);
                for datagram in received {
                    count += 1;
                    bytes += datagram.bytes.len();
                    if let Some(reply) = opens_stream(datagram.bytes) {
                        let _ = socket.send(&reply);
                    } else {
                        let stamp = datagram.arrived_unix_ns;
                        sink.take(datagram.bytes, stamp.and_then(|stamp_unix_ns| kernel.arrived_ns(stamp_unix_ns)));
                    }
                }
                if count < most {
                    kernel.drained();
                }
                tally.set(sink.count());
                test.received(bytes, &mut stopped);
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock && stops => return,
            // An ICMP message about an answer, or nothing for now.
            Err(error) if passes(&error) => {}
            Err(_) => return,
        }
        if test.ends_sink(&mut stopped) {
            return;
        }
    }
}

/// Sends until it is to stop.
pub fn send(socket: &UdpSocket, tally: &Tally, test: &TestState) {
    let parameters = &test.parameters;
    let length = parameters.write_bytes.clamp(parameters.counter.header_bytes(), DATAGRAM_BYTES_MAX as usize);
    let format = Iperf3 { counter: parameters.counter, payload: Arc::clone(&test.payload) };
    let length_bytes = u32::try_from(length).unwrap_or(DATAGRAM_BYTES_MAX);
    let mut outgoing = Outgoing::new(format, length, segment(socket, length_bytes).is_ok());
    let mut pace = parameters.rate_bps.and_then(|rate| Pace::new(length_bytes, Some(rate), None, SENT_AT_ONCE));
    if parameters.rate_bps.is_some_and(|rate| Gap::at_rate(length as u64, rate).span_ns(parameters.burst) >= SLACK_NS) {
        // The kernel may put a sleep off by so much otherwise. Datagrams that are closer go several at once: to wake up
        // for each costs more than to send it.
        let _ = rustix::thread::set_current_timer_slack(NonZero::new(1));
    }
    let most = if test.throttle.is_some() { (test.part_bytes() / length).max(1) } else { SENT_AT_ONCE };
    let begin = Instant::now();
    let now_ns = || u64::try_from(begin.elapsed().as_nanos()).unwrap_or(u64::MAX);
    if socket.set_write_timeout(Some(STOP_CHECK)).is_err() {
        return;
    }
    while !test.stops(true) {
        let wanted =
            pace.as_mut().map_or(SENT_AT_ONCE, |pace| due(pace, now_ns(), outgoing.next, parameters.burst)).min(most);
        if let (0, Some(pace)) = (wanted, &pace) {
            thread::sleep(Duration::from_nanos(pace.due_ns().saturating_sub(now_ns())).min(STOP_CHECK));
            continue;
        }
        match outgoing.send(socket, wanted, SendFlags::empty()) {
            Ok(sent) => {
                if let Some(pace) = &mut pace {
                    pace.sent(sent);
                }
                let packets = outgoing.next;
                tally.set(Count { packets, bytes: packets * length as u64, ..Count::default() });
                test.sent(sent * length);
            }
            Err(error) if passes(&error) => thread::sleep(PAUSE),
            Err(error) => return test.cannot_send(&error),
        }
    }
}

/// How many to send now: so many as are due, or, once the first one of a burst is, what is left of it.
fn due(pace: &mut Pace, now_ns: u64, sent: u64, burst: u64) -> usize {
    if burst == 1 {
        return pace.due(now_ns, SENT_AT_ONCE);
    }
    match sent % burst {
        0 if pace.due(now_ns, 1) == 0 => 0,
        begun => usize::try_from(burst - begun).map_or(SENT_AT_ONCE, |left| left.min(SENT_AT_ONCE)),
    }
}

impl Sink {
    fn new(counter: Counter) -> Self {
        Self { counter, highest: 0, sequence: Sequence::new(), bytes: 0, jitter: Jitter::default() }
    }

    /// `arrived_ns`: by a clock that nobody sets; absent if it is not known, so that it counts for no jitter.
    fn take(&mut self, bytes: &[u8], arrived_ns: Option<i64>) {
        let Some(header) = DatagramHeader::read(self.counter, bytes) else { return };
        let number = match self.counter {
            Counter::Wide => header.sequence,
            Counter::Narrow => unfolded(header.sequence, self.highest),
        };
        // Numbers begin with 1.
        let Some(place) = number.checked_sub(1) else { return };
        if self.sequence.take(place) != Arrival::New {
            return;
        }
        self.highest = self.highest.max(number);
        self.bytes += bytes.len() as u64;
        let sent_ns = i64::try_from(header.sent_us).unwrap_or(i64::MAX).saturating_mul(1000);
        match arrived_ns {
            Some(arrived_ns) => self.jitter.take(arrived_ns, sent_ns),
            None => self.jitter.skip(),
        }
    }

    fn count(&self) -> Count {
        let missing = self.sequence.missing();
        Count {
            bytes: self.bytes,
            packets: self.sequence.unique + missing,
            missing,
            reordered: self.sequence.reordered,
            duplicates: self.sequence.duplicates,
            jitter_ns: self.jitter.ns().unwrap_or(0),
        }
    }
}

/// A number of 32 bits as that one of 64 which lies nearest to the highest so far.
fn unfolded(sequence: u64, highest: u64) -> u64 {
    let ring = 1_u64 << 32;
    let ahead = sequence.wrapping_sub(highest) % ring;
    if ahead < ring / 2 { highest.saturating_add(ahead) } else { highest.saturating_sub(ring - ahead) }
}

/// Whether a stream goes on after an error: the peer's port may be closed for a moment, the host may be short of buffers.
fn passes(error: &io::Error) -> bool {
    use rustix::io::Errno;
    let code = Errno::from_io_error(error);
    matches!(
        code,
        Some(Errno::AGAIN | Errno::INTR | Errno::CONNREFUSED | Errno::NOBUFS | Errno::HOSTUNREACH | Errno::NETUNREACH)
    )
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::parameters::TestParameters;

    fn datagram(counter: Counter, sequence: u64, sent_us: u64) -> [u8; 100] {
        let mut bytes = [0; 100];
        DatagramHeader { sent_us, sequence }.write(counter, &mut bytes);
        bytes
    }

    #[test]
    fn a_stream_that_cannot_send_says_why() {
        let params = serde_json::from_str(r#"{"udp": true, "reverse": true, "len": 1000}"#).unwrap();
        let test = TestState::new(TestParameters::of(&params).unwrap(), vec![0; 1000].into(), None);
        let goes_nowhere = UdpSocket::bind("127.0.0.1:0").unwrap();
        send(&goes_nowhere, &Tally::default(), &test);
        assert_eq!(test.send_error(), Some(rustix::io::Errno::DESTADDRREQ.raw_os_error()));
    }

    #[test]
    fn a_duplicate_is_no_negative_loss() {
        let mut sink = Sink::new(Counter::Wide);
        for sequence in [1, 2, 5, 5, 5, 3, 3] {
            sink.take(&datagram(Counter::Wide, sequence, 0), Some(0));
        }
        let count = sink.count();
        assert_eq!((count.packets, count.missing, count.reordered, count.duplicates), (5, 1, 1, 3));
        assert_eq!(count.bytes, 400, "duplicates are not counted as carried");
    }

    #[test]
    fn what_is_no_datagram_of_a_stream_counts_nothing() {
        let mut sink = Sink::new(Counter::Wide);
        sink.take(&[0; 11], Some(0));
        sink.take(&datagram(Counter::Wide, 0, 0), Some(0));
        sink.take(&datagram(Counter::Wide, u64::MAX, 0), Some(0));
        assert_eq!(sink.count(), Count::default());
    }

    #[test]
    fn jitter_is_that_of_rfc_1889() {
        let mut sink = Sink::new(Counter::Narrow);
        for (sequence, arrived_ns) in (1..).zip([1_000_000, 2_600_000, 3_600_000]) {
            sink.take(&datagram(Counter::Narrow, sequence, sequence * 1000), Some(arrived_ns));
        }
        assert_eq!(sink.count().jitter_ns, 35_156);
    }

    #[test]
    fn what_came_at_an_unknown_time_counts_and_is_in_no_jitter() {
        let mut sink = Sink::new(Counter::Wide);
        for (sequence, arrived_ns) in (1..).zip([Some(1_000_000), None, Some(903_000_000), Some(904_000_000)]) {
            sink.take(&datagram(Counter::Wide, sequence, sequence * 1000), arrived_ns);
        }
        assert_eq!((sink.count().packets, sink.count().jitter_ns), (4, 0));
    }

    #[test]
    fn datagrams_of_a_burst_follow_each_other_and_the_rate_is_kept() {
        for burst in [2, 10, 64, 100] {
            let mut pace = Pace::new(1000, Some(8_000_000), None, SENT_AT_ONCE).unwrap();
            let mut begins_ms = Vec::new();
            let mut sent = 0;
            for now_ms in 0..1000 {
                loop {
                    let wanted = due(&mut pace, now_ms * 1_000_000, sent, burst);
                    if wanted == 0 {
                        break;
                    }
                    if sent % burst == 0 {
                        begins_ms.push(now_ms);
                    }
                    pace.sent(wanted);
                    sent += wanted as u64;
                }
                assert_eq!(sent % burst, 0, "a burst of {burst} is whole");
            }
            assert!(begins_ms.windows(2).all(|pair| pair[1] - pair[0] == burst), "1000 a second: {begins_ms:?}");
        }
    }

    proptest! {
        #[test]
        fn narrow_numbers_run_on(highest in 1_u64 << 31..1 << 40, offset in -1000_i64..1000) {
            let number = highest.saturating_add_signed(offset);
            prop_assert_eq!(unfolded(number % (1 << 32), highest), number);
        }
    }
}
