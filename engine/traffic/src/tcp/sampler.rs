//! Turns the flows' counters and the kernel's `TCP_INFO` into samples, all flows at the same moment.

use std::net::TcpStream;

use rustix::net::sockopt::tcp_congestion;
use sys::{TcpInfo, bbr_info, tcp_info};
use wire::{FlowReport, Role};

use super::flow::{TcpFlow, TcpFlows};
use crate::{
    TrialError,
    coordinator::Sampling,
    samples::{Delivery, Sample, SampleLog},
};

/// Where each flow's last sample ended.
pub struct Sampler {
    role: Role,
    marks: Vec<Mark>,
    /// Flows of this end send, and bbr says how fast.
    bbr: bool,
    log: SampleLog,
}

#[derive(Clone, Copy, Default)]
struct Mark {
    at_ns: Option<i64>,
    bytes: u64,
    closed: bool,
}

impl Sampling for Sampler {
    type Connection = TcpStream;

    fn sample(&mut self, flows: &TcpFlows) {
        for (index, flow) in flows.all.iter().enumerate() {
            if let Some(sample) = self.next_sample(index, flow, flows) {
                self.log.push(&sample);
            }
        }
    }
}

impl Sampler {
    /// A sampler for these flows. A source's first sample begins at the origin, a sink's with the flow's first byte.
    pub fn new(role: Role, flows: &[TcpFlow]) -> Self {
        let at_ns = (role == Role::Source).then_some(0);
        let marks = vec![Mark { at_ns, ..Mark::default() }; flows.len()];
        let is_bbr = |flow: &TcpFlow| tcp_congestion(&flow.connection).is_ok_and(|name| name == "bbr");
        let bbr = role == Role::Source && flows.first().is_some_and(is_bbr);
        Self { role, marks, bbr, log: SampleLog::new() }
    }

    /// Hands the samples over, and says what became of the flows.
    ///
    /// # Errors
    /// They cannot be read back.
    pub fn deliver(self, flows: TcpFlows, tables: &mut Delivery<'_>) -> Result<Vec<FlowReport>, TrialError> {
        let reports = flows.all.iter().map(TcpFlow::report).collect();
        // Closes what was aborted, so that nothing of it shares the path with the samples.
        drop(flows);
        tables.deliver(self.log).map_err(|error| TrialError::Samples(error.to_string()))?;
        Ok(reports)
    }

    fn next_sample(&mut self, index: usize, flow: &TcpFlow, flows: &TcpFlows) -> Option<Sample> {
        let mark = self.marks.get_mut(index).filter(|mark| !mark.closed)?;
        // The order matters: an ending that is seen here has all its bytes in the counter that is read after it.
        let ended_ns = flow.ending().map(|ending| ending.at_ns);
        let first_byte_ns = flow.first_byte_ns();
        let (now_ns, bytes) = (flows.now_ns(), flow.bytes());
        if self.role == Role::Sink {
            mark.at_ns = mark.at_ns.or(first_byte_ns);
        }
        mark.closed = ended_ns.is_some();
        let start_ns = mark.at_ns?;
        // The thread may have looked at the clock just before the previous sample did.
        let end_ns = ended_ns.unwrap_or(now_ns).max(start_ns);
        let sample = Sample {
            flow: flow.index,
            start_ns,
            end_ns,
            bytes: bytes - mark.bytes,
            tcp_info: tcp_info(&flow.connection).unwrap_or_else(|_| TcpInfo::from_bytes(&[])),
            bbr: if self.bbr { bbr_info(&flow.connection).ok().flatten() } else { None },
        };
        mark.at_ns = Some(end_ns);
        mark.bytes = bytes;
        (sample.bytes > 0 || end_ns > start_ns).then_some(sample)
    }
}
