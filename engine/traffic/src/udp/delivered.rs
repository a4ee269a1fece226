//! What became of flows of datagrams, handed over once all have ended.

use wire::{FlowReport, RejectedConnections};

use super::{sampler::Sampler, stream::UdpFlows};
use crate::{
    TrialError,
    kernel_time::Steps,
    samples::{Delivery, Log},
};

/// What is still to be reported once the tables were handed over.
pub struct Delivered {
    /// One entry for each flow that stood.
    pub reports: Vec<FlowReport>,
    /// Datagrams that the flows' sockets received and that were not theirs.
    pub rejected: RejectedConnections,
    /// Of a sink's clock that was set, as each of its flows saw it.
    pub remark: Option<String>,
}

/// Hands the tables over.
///
/// # Errors
/// Samples or rows of datagrams cannot be read back.
pub fn deliver(sampler: Sampler, mut flows: UdpFlows, tables: &mut Delivery<'_>) -> Result<Delivered, TrialError> {
    let (mut reports, mut rejected) = (Vec::new(), RejectedConnections::default());
    let (mut histograms, mut steps) = (Log::new(), Vec::new());
    for flow in &mut flows.all {
        let outcome = flow.connection.outcome();
        outcome.histograms.iter().for_each(|row| histograms.push(row));
        add(&mut rejected, outcome.rejected);
        steps.push(outcome.steps);
        reports.push(FlowReport { udp: Some(outcome.counts), ..flow.report() });
    }
    drop(flows);
    tables.deliver(sampler.samples)?;
    tables.deliver(sampler.datagrams)?;
    // A trial is as good as its samples: rows of these that cannot be read back are only counted as lost.
    let _ = tables.deliver(histograms);
    let remark = Steps::seen_by_all(steps).remark("have no time, and are left out of spacing, jitter and delay");
    Ok(Delivered { reports, rejected, remark })
}

/// Counts more of them.
pub fn add(rejected: &mut RejectedConnections, more: RejectedConnections) {
    let RejectedConnections { not_an_engine, wrong_token, wrong_flow, unfinished, crowded_out } = more;
    rejected.not_an_engine = rejected.not_an_engine.saturating_add(not_an_engine);
    rejected.wrong_token = rejected.wrong_token.saturating_add(wrong_token);
    rejected.wrong_flow = rejected.wrong_flow.saturating_add(wrong_flow);
    rejected.unfinished = rejected.unfinished.saturating_add(unfinished);
    rejected.crowded_out = rejected.crowded_out.saturating_add(crowded_out);
}
