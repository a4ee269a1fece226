//! Turns the flows' counters, and what the library says of their connections, into samples, all flows at the same moment.

use std::sync::atomic::Ordering;

use wire::{FlowReport, Role};

use super::{
    connection::{QuicConnection, QuicFlow, QuicFlows},
    rows::{QuicRow, StreamRow},
};
use crate::{
    TrialError,
    coordinator::Sampling,
    samples::{Delivery, Log, Marks, SampleLog},
};

/// Where each flow's last sample ended.
pub struct Sampler {
    marks: Marks,
    samples: SampleLog,
    connections: Log<QuicRow>,
    streams: Log<StreamRow>,
}

impl Sampler {
    /// A sampler for so many flows.
    pub fn new(role: Role, flows: usize) -> Self {
        Self { marks: Marks::new(role, flows), samples: Log::new(), connections: Log::new(), streams: Log::new() }
    }

    /// Hands the samples over; what became of the flows.
    ///
    /// # Errors
    /// They cannot be read back.
    pub fn deliver(self, flows: QuicFlows, tables: &mut Delivery<'_>) -> Result<Vec<FlowReport>, TrialError> {
        let reports = flows.all.iter().map(QuicFlow::report).collect();
        drop(flows);
        tables.deliver(self.samples)?;
        tables.deliver(self.connections)?;
        tables.deliver(self.streams)?;
        Ok(reports)
    }
}

impl Sampling for Sampler {
    type Connection = QuicConnection;

    fn sample(&mut self, flows: &QuicFlows) {
        for (place, flow) in flows.all.iter().enumerate() {
            let Some(sample) = self.marks.next(place, flow, flows) else { continue };
            self.samples.push(&sample);
            self.connections.push(&QuicRow::new(&sample, flow));
            for (stream, bytes) in (0..).zip(&flow.connection.streams) {
                let bytes = bytes.load(Ordering::Relaxed);
                let (start_ns, end_ns) = (sample.start_ns, sample.end_ns);
                self.streams.push(&StreamRow { flow: sample.flow, stream, start_ns, end_ns, bytes });
            }
        }
    }
}
