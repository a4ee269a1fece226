//! Turns the flows' counters, and what the kernel says of their subflows, into samples, all flows at the same moment.

use std::net::TcpStream;

use sys::mptcp_info;
use wire::{FlowReport, Role};

use super::subflow_row::SubflowRow;
use crate::{
    TrialError,
    coordinator::Sampling,
    samples::{Delivery, Log},
    tcp::{self, TcpFlow, TcpFlows},
};

/// Where each flow's last sample ended.
pub struct Sampler {
    flows: tcp::Sampler,
    subflows: Log<SubflowRow>,
    /// The first flow that became plain TCP while it ran.
    fell_back: Option<u32>,
}

impl Sampler {
    /// A sampler for these flows.
    pub fn new(role: Role, flows: &[TcpFlow]) -> Self {
        Self { flows: tcp::Sampler::of_bytes(role, flows), subflows: Log::new(), fell_back: None }
    }

    /// Hands the samples over; what became of the flows, and whether they are no result of several paths.
    ///
    /// # Errors
    /// They cannot be read back.
    pub fn deliver(
        self,
        flows: TcpFlows,
        tables: &mut Delivery<'_>,
    ) -> Result<(Vec<FlowReport>, Option<TrialError>), TrialError> {
        let reports = self.flows.deliver(flows, tables)?;
        tables.deliver(self.subflows)?;
        Ok((reports, self.fell_back.map(|flow| TrialError::FellBackLater { flow })))
    }
}

impl Sampling for Sampler {
    type Connection = TcpStream;

    fn sample(&mut self, flows: &TcpFlows) {
        for (sample, flow) in self.flows.take(flows) {
            // A connection that has ended tells nothing any more: its last row stands for it.
            match mptcp_info(&flow.connection) {
                Ok(Some(info)) if !info.fell_back => {
                    info.subflows.iter().for_each(|one| self.subflows.push(&SubflowRow::new(&sample, &info, one)));
                }
                Ok(_) => self.fell_back = self.fell_back.or(Some(sample.flow)),
                Err(_) => {}
            }
        }
    }
}
