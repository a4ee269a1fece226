//! Receives the datagrams of an iperf3 server.

use std::time::{Duration, Instant};

use iperf3::{DatagramHeader, replies_to_opening};
use sys::Received;
use wire::{FlowEnd, UdpSettings};

use super::{conversation::is_pause, udp_source::COUNTER};
use crate::{
    defaults::STOP_CHECK,
    flow::cpu_since,
    time::{from_nanoseconds, microseconds_to_ns, nanoseconds},
    udp::{
        counted::{Counted, room},
        silence::{Silence, silence_of},
        stream::{NotOurs, UdpFlow, UdpFlows},
    },
};

/// Receives one stream until the coordinator says that it is over, or it is silent for too long.
pub fn receive(flow: &UdpFlow, flows: &UdpFlows, settings: &UdpSettings) {
    let (mut batch, room) = room(settings.length_bytes, settings.gro);
    let mut receiver = Receiver::new(flow, flows, settings);
    let mut running = None;
    let broken = loop {
        match batch.receive(&flow.connection.socket) {
            Ok(buffers) => {
                receiver.leave_out_if_due(flows);
                if receiver.take(buffers) < room {
                    receiver.counted.kernel.drained();
                }
                receiver.publish(flows);
                running = running.or_else(|| Some((sys::thread_cpu().ok(), Instant::now())));
            }
            Err(error) if is_pause(&error) => receiver.counted.kernel.look(),
            Err(error) => break Some(error.to_string()),
        }
        if flows.sending_stopped() {
            break None;
        }
        if let Some(silence) = receiver.silent_for(flows.now_ns()) {
            break Some(format!("silent for {:.1} s", silence.as_secs_f64()));
        }
    };
    let cpu = running.map(|(cpu, began)| cpu_since(cpu, began)).unwrap_or_default();
    // What a sink waits for once the source has stopped is no time in which it could have received.
    let at_ns = receiver.last_ns.filter(|_| broken.is_none()).unwrap_or_else(|| flows.now_ns());
    receiver.leave();
    let end = if broken.is_some() { FlowEnd::Broken } else { flows.aborted().unwrap_or(FlowEnd::Drained) };
    flows.end_at(flow, at_ns, end, broken, cpu);
}

/// One stream as its thread sees it.
struct Receiver<'a> {
    length: usize,
    silence_ns: i64,
    counted: Counted<'a>,
    counts: bool,
    missing_omitted: u64,
    silence: Silence,
    last_ns: Option<i64>,
}

impl<'a> Receiver<'a> {
    fn new(flow: &'a UdpFlow, flows: &UdpFlows, settings: &UdpSettings) -> Self {
        Self {
            length: settings.length_bytes as usize,
            silence_ns: nanoseconds(silence_of(settings)),
            counted: Counted::new(flow, settings.length_bytes as usize, flows.origin_of_both()),
            counts: false,
            missing_omitted: 0,
            silence: Silence::from(flows.now_ns()),
            last_ns: None,
        }
    }

    /// Jitter and losses are those of what the server counts, too.
    fn leave_out_if_due(&mut self, flows: &UdpFlows) {
        if !self.counts && flows.counts() {
            self.counts = true;
            self.missing_omitted = self.counted.sequence.missing();
            self.counted.arrivals.jitter.begin_again();
        }
    }

    /// Says how many buffers there were.
    fn take<'b>(&mut self, buffers: impl Iterator<Item = Received<'b>>) -> usize {
        let length = self.length;
        self.counted.take_each(buffers, |counted, datagram, moment| {
            let header = DatagramHeader::read(COUNTER, datagram).filter(|_| datagram.len() == length);
            match header.and_then(|header| Some((header, header.sequence.checked_sub(1)?))) {
                Some((header, number)) => counted.take(number, microseconds_to_ns(header.sent_us), moment),
                // Late replies to openings come here, too.
                None if replies_to_opening(datagram) => {}
                None => NotOurs::NotAnEngine.count(&mut counted.rejected),
            }
        })
    }

    /// Reports to the coordinator what was received. Delays are not reported: nobody knows what the server's clock counts
    /// from.
    fn publish(&mut self, flows: &UdpFlows) {
        if self.counted.has_fresh() {
            let now_ns = flows.now_ns();
            (self.last_ns, self.silence) = (Some(now_ns), Silence::from(now_ns));
        }
        let missing_omitted = self.missing_omitted;
        self.counted.publish(flows, |tally, arrivals| {
            tally.missing_omitted = missing_omitted;
            arrivals.interval = None;
        });
    }

    fn silent_for(&mut self, now_ns: i64) -> Option<Duration> {
        self.last_ns?;
        self.silence.lasts(now_ns);
        let silent_ns = self.silence.seen_ns;
        (silent_ns > self.silence_ns.max(nanoseconds(STOP_CHECK))).then(|| from_nanoseconds(silent_ns))
    }

    fn leave(mut self) {
        self.counted.sequence.finish(None);
        self.counted.leave(false);
    }
}

#[cfg(test)]
mod tests {
    use std::net::UdpSocket;

    use wire::Token;

    use super::*;
    use crate::{
        origin::Origin,
        udp::stream::{Opened, Stream},
    };

    #[test]
    fn what_was_missing_when_the_part_that_is_left_out_was_over_is_told_apart() {
        let opened = Opened { token: Token([1; 16]), answer: Token([2; 16]), listening: false };
        let stream = Stream::new(UdpSocket::bind("127.0.0.1:0").unwrap(), 0, opened);
        let flows = UdpFlows::new([(0, stream)], Origin::now());
        let settings = UdpSettings { length_bytes: 100, ..UdpSettings::default() };
        let mut receiver = Receiver::new(&flows.all[0], &flows, &settings);
        let mut told = |numbers: [u64; 2]| {
            receiver.leave_out_if_due(&flows);
            for number in numbers {
                receiver.counted.take(number, 0, &mut None);
            }
            receiver.publish(&flows);
            let tally = flows.all[0].connection.tally();
            (tally.missing, tally.missing_omitted)
        };
        assert_eq!(told([0, 3]), (2, 0));
        flows.count();
        assert_eq!(told([5, 8]), (5, 2));
        assert_eq!(told([10, 11]), (6, 2));
    }
}
