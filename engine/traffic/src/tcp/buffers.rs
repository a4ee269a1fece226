//! What passes an application's buffers at one end of a trial, and the threads that pass it.

use std::thread::Scope;

use wire::{Role, TcpSettings};

use super::{
    flow::{TcpFlow, TcpFlows},
    intake::{Intake, Intakes},
    payload::{Feed, Payload},
};
use crate::{Task, TrialError, threads::spawn};

/// The buffers of all flows of one end.
pub enum Buffers {
    /// What a source's flows send.
    Source(Payload),
    /// Where a sink's flows read to.
    Sink(Intakes),
}

/// What a flow's thread does with its buffer, to the flow's end.
pub struct Carriers {
    /// At a source.
    pub send: fn(&TcpFlow, &TcpFlows, &TcpSettings, Feed<'_>),
    /// At a sink.
    pub receive: fn(&TcpFlow, &TcpFlows, Intake<'_>),
}

impl Buffers {
    /// Those that a trial needs at this end.
    pub fn new(task: &Task<'_, TcpSettings>) -> Result<Self, TrialError> {
        let TcpSettings { flows, length_bytes, mode, .. } = *task.settings;
        let (flows, length) = (flows as usize, length_bytes as usize);
        match task.role {
            Role::Source => Payload::new(flows, length, mode).map(Self::Source),
            Role::Sink => Intakes::new(flows, length, mode).map(Self::Sink),
        }
        .map_err(TrialError::Buffers)
    }

    /// Starts the threads of all flows, which do this with them.
    pub fn spawn_with<'scope>(
        &'scope mut self,
        scope: &'scope Scope<'scope, '_>,
        flows: &'scope TcpFlows,
        settings: &'scope TcpSettings,
        Carriers { send, receive }: Carriers,
    ) -> Result<(), TrialError> {
        match self {
            Self::Source(payload) => {
                // A paced application pauses between writes; one that asks for no delay has each of them sent.
                let at_once = settings.no_delay || settings.rate_bps.is_some();
                for (index, flow) in flows.all.iter().enumerate() {
                    let feed = payload.feed(index, at_once).map_err(TrialError::Buffers)?;
                    spawn(scope, flow, flows, &settings.cpus, move || send(flow, flows, settings, feed))?;
                }
            }
            Self::Sink(intakes) => {
                for (flow, intake) in flows.all.iter().zip(intakes.all()) {
                    spawn(scope, flow, flows, &settings.cpus, move || receive(flow, flows, intake))?;
                }
            }
        }
        Ok(())
    }
}
