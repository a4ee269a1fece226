//! The receiving thread of one flow.

use std::{
    io::{self, Write},
    net::Shutdown,
    time::Instant,
};

use wire::{FlowEnd, RUNNING};

use super::{
    flow::{TcpFlow, TcpFlows},
    intake::Intake,
};
use crate::flow::cpu_since;

/// Reads to the end, then closes, which tells the source that everything arrived.
pub fn receive(flow: &TcpFlow, flows: &TcpFlows, mut intake: Intake<'_>) {
    let mut running = None;
    let outcome = loop {
        match intake.read(&flow.connection) {
            Ok(0) => break Ok(flows.aborted().unwrap_or(FlowEnd::Drained)),
            Ok(count) => {
                flow.passed(count, flows.origin());
                if running.is_none() {
                    // What the thread costs counts from the first byte: before it, the thread only waits.
                    running = Some((sys::thread_cpu().ok(), Instant::now()));
                    // The source counts the duration from here. Where this fails, the next read says why.
                    let _ = (&flow.connection).write(&[RUNNING]);
                }
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => break Err(error),
        }
    };
    let cpu = running.map(|(cpu, began)| cpu_since(cpu, began)).unwrap_or_default();
    // Fails only where the connection is gone already.
    let _ = flow.connection.shutdown(Shutdown::Write);
    match outcome {
        Ok(end) => flows.end(flow, end, None, cpu),
        Err(error) => flows.end(flow, FlowEnd::Broken, Some(error.to_string()), cpu),
    }
}
