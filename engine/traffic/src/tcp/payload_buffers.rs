//! What passes an application's buffers at one end of a trial, and the threads that pass it.

use std::{mem, thread::Scope};

use wire::{Encryption, Role, TcpSettings};

use super::{
    encryption::{RECORD_MAX_BYTES, Session},
    flow::{TcpFlow, TcpFlows},
    intake::{Intake, Intakes},
    payload::{Feed, Payload},
};
use crate::{Task, TrialError, threads::spawn};

/// The buffers of all flows of one end.
pub struct Buffers {
    bytes: Bytes,
    /// What protects the flows, if anything does.
    sessions: Vec<Session>,
}

enum Bytes {
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
        let TcpSettings { flows, length_bytes, mode, encryption, .. } = *task.settings;
        let (flows, length) = (flows as usize, length_bytes as usize);
        // Of a record that has not come whole, the rest has to fit.
        let room = if encryption == Encryption::None { 0 } else { RECORD_MAX_BYTES };
        let bytes = match task.role {
            Role::Source => Payload::new(flows, length, mode).map(Bytes::Source),
            // Threads that are bound to CPUs have memory that is near to these: where they write first.
            Role::Sink if !task.settings.cpus.is_empty() => Intakes::new(flows, length + room, mode).map(Bytes::Sink),
            Role::Sink => Intakes::new(flows, length + room, mode).map(|intakes| Bytes::Sink(intakes.touched())),
        };
        Ok(Self { bytes: bytes.map_err(TrialError::Buffers)?, sessions: Vec::new() })
    }

    /// Has TLS protect all flows, one session each.
    pub fn seal(&mut self, sessions: Vec<Session>) {
        self.sessions = sessions;
    }

    /// Starts the threads of all flows, which do this with them.
    pub fn spawn_with<'scope>(
        &'scope mut self,
        scope: &'scope Scope<'scope, '_>,
        flows: &'scope TcpFlows,
        settings: &'scope TcpSettings,
        Carriers { send, receive }: Carriers,
    ) -> Result<(), TrialError> {
        let mut sessions = mem::take(&mut self.sessions).into_iter();
        match &mut self.bytes {
            Bytes::Source(payload) => {
                // A paced application pauses between writes; one that asks for no delay has each of them sent.
                let at_once = settings.no_delay || settings.rate_bps.is_some();
                for (index, flow) in flows.all.iter().enumerate() {
                    let feed = match sessions.next() {
                        Some(session) => payload.sealed(session),
                        None => payload.feed(index, at_once).map_err(TrialError::Buffers)?,
                    };
                    spawn(scope, flow, flows, &settings.cpus, move || send(flow, flows, settings, feed))?;
                }
            }
            Bytes::Sink(intakes) => {
                for (flow, intake) in flows.all.iter().zip(intakes.all()) {
                    let intake = match sessions.next() {
                        Some(session) => intake.protected(session),
                        None => intake,
                    };
                    spawn(scope, flow, flows, &settings.cpus, move || receive(flow, flows, intake))?;
                }
            }
        }
        Ok(())
    }
}
