//! Turns the flows' counters, `TCP_INFO` and the device's counters into rows, all flows at the same moment.

use std::{net::TcpStream, sync::Arc};

use wire::{FlowReport, Role};

use super::{
    counters::Counters,
    device::Device,
    device_row::DeviceRow,
    folder::Folder,
    storage_row::{COUNTS, StorageRow},
};
use crate::{
    TrialError,
    coordinator::Sampling,
    samples::{Delivery, Log},
    tcp::{self, TcpFlow, TcpFlows},
};

/// Where each flow's last row ended.
pub struct Sampler {
    flows: tcp::Sampler,
    counters: Arc<[Arc<Counters>]>,
    marks: Vec<[u64; COUNTS]>,
    storage: Log<StorageRow>,
    device: Device,
    devices: Log<DeviceRow>,
}

impl Sampler {
    /// A sampler of these flows and of the device below a folder.
    pub fn new(role: Role, flows: &[TcpFlow], counters: Arc<[Arc<Counters>]>, folder: &Folder) -> Self {
        Self {
            flows: tcp::Sampler::new(role, flows),
            marks: vec![[0; COUNTS]; counters.len()],
            counters,
            storage: Log::new(),
            device: Device::below(folder),
            devices: Log::new(),
        }
    }

    /// Hands all rows over, and says what became of the flows.
    ///
    /// # Errors
    /// They cannot be read back.
    pub fn deliver(self, flows: TcpFlows, tables: &mut Delivery<'_>) -> Result<Vec<FlowReport>, TrialError> {
        let reports = self.flows.deliver(flows, tables)?;
        tables.deliver(self.storage)?;
        tables.deliver(self.devices)?;
        Ok(reports)
    }
}

impl Sampling for Sampler {
    type Connection = TcpStream;

    fn sample(&mut self, flows: &TcpFlows) {
        for (sample, flow) in self.flows.take(flows) {
            let place = flow.index as usize;
            let (Some(counters), Some(mark)) = (self.counters.get(place), self.marks.get_mut(place)) else { continue };
            let now = counters.read().to_array();
            let mut counts = now;
            counts.iter_mut().zip(&*mark).for_each(|(count, before)| *count -= before);
            *mark = now;
            let (start_ns, end_ns) = (sample.start_ns, sample.end_ns);
            self.storage.push(&StorageRow { flow: sample.flow, start_ns, end_ns, counts });
        }
        if let Some(row) = self.device.look(flows.now_ns()) {
            self.devices.push(&row);
        }
    }
}
