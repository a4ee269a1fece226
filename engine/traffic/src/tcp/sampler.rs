//! Turns the flows' counters and the kernel's `TCP_INFO` into samples, all flows at the same moment.

use std::net::TcpStream;

use rustix::net::sockopt::tcp_congestion;
use sys::{bbr_info, tcp_info};
use wire::{FlowReport, Role};

use super::flow::{TcpFlow, TcpFlows};
use crate::{
    TrialError,
    coordinator::Sampling,
    known::FlowLook,
    samples::{Delivery, Marks, Sample, SampleLog},
};

/// Where each flow's last sample ended.
pub struct Sampler {
    marks: Marks,
    /// What the kernel says of a flow's connection is that of all its bytes.
    tells: bool,
    /// Flows of this end send, and bbr says how fast.
    bbr: bool,
    log: SampleLog,
    /// What was sampled last, where a source may end by it.
    last: Option<(i64, Vec<FlowLook>)>,
}

impl Sampling for Sampler {
    type Connection = TcpStream;

    fn sample(&mut self, flows: &TcpFlows) {
        let taken = self.take(flows);
        if let Some((at_ns, looks)) = &mut self.last
            && let Some((last, _)) = taken.last()
        {
            *at_ns = last.end_ns;
            *looks = taken.iter().map(|(sample, flow)| looked(sample, flow)).collect();
        }
    }

    fn last(&self) -> Option<(i64, &[FlowLook])> {
        self.last.as_ref().map(|(at_ns, looks)| (*at_ns, looks.as_slice()))
    }
}

impl Sampler {
    /// A sampler for these flows. A source's first sample begins at the origin, a sink's with the flow's first byte.
    pub fn new(role: Role, flows: &[TcpFlow]) -> Self {
        let is_bbr = |flow: &TcpFlow| tcp_congestion(&flow.connection).is_ok_and(|name| name == "bbr");
        let bbr = role == Role::Source && flows.first().is_some_and(is_bbr);
        Self { marks: Marks::new(role, flows.len()), tells: true, bbr, log: SampleLog::new(), last: None }
    }

    /// The same, which remembers what was sampled last.
    #[must_use]
    pub fn remembering(self) -> Self {
        Self { last: Some((0, Vec::new())), ..self }
    }

    /// One that keeps bytes and times only, of connections of which the kernel says nothing as a whole.
    pub fn of_bytes(role: Role, flows: &[TcpFlow]) -> Self {
        Self { tells: false, bbr: false, ..Self::new(role, flows) }
    }

    /// Takes a sample of every flow, and says which those are, each with its flow.
    pub fn take<'f>(&mut self, flows: &'f TcpFlows) -> Vec<(Sample, &'f TcpFlow)> {
        let taken = flows.all.iter().enumerate().filter_map(|(place, flow)| {
            let mut sample = self.marks.next(place, flow, flows)?;
            if self.tells {
                sample.tcp_info = tcp_info(&flow.connection).unwrap_or(sample.tcp_info);
            }
            if self.bbr {
                sample.bbr = bbr_info(&flow.connection).ok().flatten();
            }
            self.log.push(&sample);
            Some((sample, flow))
        });
        taken.collect()
    }

    /// Hands the samples over, and says what became of the flows.
    ///
    /// # Errors
    /// They cannot be read back.
    pub fn deliver(self, flows: TcpFlows, tables: &mut Delivery<'_>) -> Result<Vec<FlowReport>, TrialError> {
        let reports = flows.all.iter().map(TcpFlow::report).collect();
        // Closes what was aborted, so that nothing of it shares the path with the samples.
        drop(flows);
        tables.deliver(self.log)?;
        Ok(reports)
    }
}

/// What the kernel says of a flow, as far as it does.
fn looked(sample: &Sample, flow: &TcpFlow) -> FlowLook {
    let told = |name| sample.tcp_info.get(name);
    let number = |name| told(name).and_then(|value| u32::try_from(value).ok());
    let sacked_bytes = told("sacked").unwrap_or(0) * told("snd_mss_bytes").unwrap_or(0);
    FlowLook {
        // Kernels before 4.2 do not say what was acknowledged: what was written differs from it by a buffer.
        arrived_bytes: told("bytes_acked").map_or_else(|| flow.bytes(), |acked| acked + sacked_bytes),
        cwnd: number("snd_cwnd").unwrap_or(0),
        ssthresh: number("snd_ssthresh").unwrap_or(u32::MAX),
        ca_state: told("ca_state").and_then(|state| u8::try_from(state).ok()).unwrap_or(0),
        rtt_us: number("rtt_us").unwrap_or(0),
        retransmits: number("total_retrans").unwrap_or(0),
        delivered_ce: number("delivered_ce").unwrap_or(0),
    }
}
