//! Turns the flows' counters into samples and rows of datagrams, all flows at the same moment.

use sys::TcpInfo;
use wire::Role;

use super::{
    rows::DatagramRow,
    stream::{Stream, Tally, UdpFlow, UdpFlows},
};
use crate::{
    coordinator::Sampling,
    samples::{Log, Sample, SampleLog},
};

/// Where each flow's last sample ended.
pub struct Sampler {
    role: Role,
    length: u64,
    marks: Vec<Mark>,
    /// The samples so far.
    pub samples: SampleLog,
    /// The rows of datagrams so far.
    pub datagrams: Log<DatagramRow>,
}

#[derive(Clone, Copy, Default)]
struct Mark {
    at_ns: Option<i64>,
    bytes: u64,
    tally: Tally,
    closed: bool,
}

impl Sampling for Sampler {
    type Connection = Stream;

    fn sample(&mut self, flows: &UdpFlows) {
        for (index, flow) in flows.all.iter().enumerate() {
            if let Some((sample, row)) = self.next_rows(index, flow, flows) {
                self.samples.push(&sample);
                self.datagrams.push(&row);
            }
        }
    }
}

impl Sampler {
    /// A sampler for so many flows of datagrams of `length` bytes. A source's first sample begins at the origin, a sink's
    /// with the flow's first datagram.
    pub fn new(role: Role, flows: usize, length: u32) -> Self {
        let at_ns = (role == Role::Source).then_some(0);
        let marks = vec![Mark { at_ns, ..Mark::default() }; flows];
        let length = length.max(1).into();
        Self { role, length, marks, samples: SampleLog::new(), datagrams: Log::new() }
    }

    fn next_rows(&mut self, index: usize, flow: &UdpFlow, flows: &UdpFlows) -> Option<(Sample, DatagramRow)> {
        let mark = self.marks.get_mut(index).filter(|mark| !mark.closed)?;
        // The order matters: an ending that is seen here has all its bytes in the counter that is read after it.
        let ended_ns = flow.ending().map(|ending| ending.at_ns);
        let first_byte_ns = flow.first_byte_ns();
        let (now_ns, bytes, tally) = (flows.now_ns(), flow.bytes(), take_tally(flow));
        if self.role == Role::Sink {
            // The report has all of them: what is read here keeps count of how often the kernel's counter begins again.
            let _ = flow.connection.dropped();
            mark.at_ns = mark.at_ns.or(first_byte_ns);
        }
        mark.closed = ended_ns.is_some();
        let start_ns = mark.at_ns?;
        // What either end waits for once the source has stopped is no time in which anything could have passed.
        let end_ns = ended_ns.or(tally.ended_ns).unwrap_or(now_ns).min(now_ns).max(start_ns);
        let (flow, passed) = (flow.index, bytes - mark.bytes);
        let tcp_info = TcpInfo::from_bytes(&[]);
        let sample = Sample { flow, start_ns, end_ns, bytes: passed, tcp_info, bbr: None };
        let row = DatagramRow {
            flow,
            start_ns,
            end_ns,
            datagrams: passed / self.length,
            reordered: tally.reordered - mark.tally.reordered,
            duplicates: tally.duplicates - mark.tally.duplicates,
            missing: tally.missing.cast_signed() - mark.tally.missing.cast_signed(),
            jitter_ns: tally.jitter_ns.map(u64::cast_signed),
            delays_ns: tally.delays.map(|delays| [delays.min_ns, delays.mean_ns(), delays.max_ns]),
        };
        (mark.at_ns, mark.bytes, mark.tally) = (Some(end_ns), bytes, tally);
        let any = passed > 0 || row.duplicates > 0 || row.missing != 0;
        (any || end_ns > start_ns).then_some((sample, row))
    }
}

/// The delays are those of the interval: the next one begins without any.
fn take_tally(flow: &UdpFlow) -> Tally {
    let mut tally = flow.connection.tally();
    let taken = *tally;
    tally.delays = None;
    taken
}

#[cfg(test)]
mod tests {
    use std::net::UdpSocket;

    use wire::Token;

    use super::*;
    use crate::{origin::Origin, udp::stream::Opened};

    #[test]
    fn each_sample_of_a_sink_reads_what_its_socket_has_dropped() {
        let (sink, source) = (UdpSocket::bind("127.0.0.1:0").unwrap(), UdpSocket::bind("127.0.0.1:0").unwrap());
        let address = sink.local_addr().unwrap();
        let opened = Opened { token: Token([1; 16]), answer: Token([2; 16]), listening: true };
        let flows = UdpFlows::new([(0, Stream::new(sink, 0, opened))], Origin::now());
        let mut sampler = Sampler::new(Role::Sink, 1, 10_000);
        let dropped = [(); 2].map(|()| {
            for _ in 0..1000 {
                source.send_to(&[0; 10_000], address).unwrap();
            }
            sampler.sample(&flows);
            flows.all[0].connection.dropped_last()
        });
        assert!(0 < dropped[0] && dropped[0] < dropped[1], "{dropped:?}");
    }
}
