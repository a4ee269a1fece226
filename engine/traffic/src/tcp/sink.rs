//! The receiving thread of one flow.

use std::{io, net::Shutdown, time::Instant};

use wire::{CpuTime, FlowEnd, RUNNING};

use super::{
    flow::{TcpFlow, TcpFlows},
    intake::Intake,
};
use crate::flow::cpu_since;

/// Reads to the end, then closes, which tells the source that everything arrived.
pub fn receive(flow: &TcpFlow, flows: &TcpFlows, mut intake: Intake<'_>) {
    let (ended, cpu) = read_to_end(flow, flows, &mut intake, |intake| {
        // The source counts the duration from here. Where this fails, the next read says why.
        let _ = intake.tell(&flow.connection, RUNNING);
    });
    // Where this fails, the source misses it.
    let _ = intake.close(&flow.connection);
    // Fails only where the connection is gone already.
    let _ = flow.connection.shutdown(Shutdown::Write);
    flows.end_as(flow, ended, cpu);
}

/// Reads to the end; how the flow ended, and what that cost. `begin`: what is to be done once its first bytes have come.
pub fn read_to_end(
    flow: &TcpFlow,
    flows: &TcpFlows,
    intake: &mut Intake<'_>,
    begin: impl Fn(&mut Intake<'_>),
) -> (io::Result<FlowEnd>, CpuTime) {
    let mut running = None;
    let ended = loop {
        match intake.read(&flow.connection) {
            Ok(0) => break Ok(flows.aborted().unwrap_or(FlowEnd::Drained)),
            Ok(count) => {
                flow.passed(count, flows.origin());
                if running.is_none() {
                    // What the thread costs counts from the first byte: before it, the thread only waits.
                    running = Some((sys::thread_cpu().ok(), Instant::now()));
                    begin(intake);
                }
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => break Err(error),
        }
    };
    (ended, running.map(|(cpu, began)| cpu_since(cpu, began)).unwrap_or_default())
}
