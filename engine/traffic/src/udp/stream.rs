//! What carries one flow of datagrams, and what its thread and the end's coordinator share.

use std::{
    io,
    net::{SocketAddr, UdpSocket},
    sync::{Mutex, MutexGuard, OnceLock, PoisonError},
};

use wire::{
    ANSWER_BYTES, DatagramHeader, DatagramKind, OPENING_BYTES, Opening, RejectedConnections, Token, UdpCounts,
    datagram_tag,
};

use super::{arrivals::Delays, drops::Drops, rows::HistogramRow};
use crate::{
    flow::{Connection, Flow, Flows},
    kernel_time::Steps,
    rendezvous::count,
};

/// A flow of datagrams.
pub type UdpFlow = Flow<Stream>;
/// All flows of one end of a trial.
pub type UdpFlows = Flows<Stream>;

/// The socket of a flow that stands, connected to its peer, and what is counted there.
pub struct Stream {
    /// The socket.
    pub socket: UdpSocket,
    /// What the flow's datagrams show.
    pub tag: u64,
    flow: u32,
    opened: Opened,
    tally: Mutex<Tally>,
    drops: Mutex<Drops>,
    failure: OnceLock<String>,
    outcome: OnceLock<Outcome>,
}

/// How a flow was opened.
#[derive(Clone, Copy)]
pub struct Opened {
    /// What the connecting side shows.
    pub token: Token,
    /// What the listening side answers.
    pub answer: Token,
    /// This is the listening side: it answers again if the connecting one has no answer.
    pub listening: bool,
}

/// What a flow's thread has counted so far.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tally {
    /// Of the datagrams, those after a higher number.
    pub reordered: u64,
    /// Received again.
    pub duplicates: u64,
    /// Skipped, and not there yet.
    pub missing: u64,
    /// As many as that was when a part that is left out was over.
    pub missing_omitted: u64,
    /// Interarrival jitter.
    pub jitter_ns: Option<u64>,
    /// Delays since the coordinator last looked.
    pub delays: Option<Delays>,
    /// When the flow was over, since the origin: a source has stopped by then, a sink has heard of it.
    pub ended_ns: Option<i64>,
}

/// What a flow's thread leaves behind.
#[derive(Default)]
pub struct Outcome {
    /// The counts of the report.
    pub counts: UdpCounts,
    /// Rows of the table of histograms.
    pub histograms: Vec<HistogramRow>,
    /// What the flow's socket received and was not of the flow.
    pub rejected: RejectedConnections,
    /// What a sink saw of its host's clock being set.
    pub steps: Steps,
}

impl Stream {
    /// Takes a connected socket over.
    pub fn new(socket: UdpSocket, flow: u32, opened: Opened) -> Self {
        Self {
            socket,
            tag: datagram_tag(opened.token, opened.answer),
            flow,
            opened,
            tally: Mutex::default(),
            drops: Mutex::default(),
            failure: OnceLock::new(),
            outcome: OnceLock::new(),
        }
    }

    /// Sends a message to the other end. The caller repeats one that may be lost.
    pub fn say(&self, kind: DatagramKind, sequence: u64) {
        let _ = self.socket.send(&self.header(kind, sequence).encode());
    }

    /// The header of a datagram of this flow.
    pub fn header(&self, kind: DatagramKind, sequence: u64) -> DatagramHeader {
        DatagramHeader { kind, flow: self.flow, tag: self.tag, sequence, sent_unix_ns: 0 }
    }

    /// Answers again, if these bytes are the flow's opening and this is the side that answers; returns whether they are.
    pub fn answer_again(&self, bytes: &[u8]) -> bool {
        let opening = Opening { token: self.opened.token, flow: self.flow };
        let is_opening = bytes.len() == OPENING_BYTES && *bytes == opening.encode();
        if is_opening && self.opened.listening {
            let _ = self.socket.send(&opening.answer(self.opened.answer));
        }
        is_opening
    }

    /// Whether these bytes are what the listening side answers: it may do so more than once.
    pub fn is_answer(&self, bytes: &[u8]) -> bool {
        let opening = Opening { token: self.opened.token, flow: self.flow };
        bytes.len() == ANSWER_BYTES && *bytes == opening.answer(self.opened.answer)
    }

    /// The header, if these bytes are a datagram of this flow.
    #[inline]
    pub fn header_of(&self, bytes: &[u8]) -> Result<DatagramHeader, NotOurs> {
        let header = DatagramHeader::decode(bytes).ok_or(NotOurs::NotAnEngine)?;
        if header.tag != self.tag {
            return Err(NotOurs::WrongTag);
        }
        if header.flow == self.flow { Ok(header) } else { Err(NotOurs::WrongFlow) }
    }

    /// What is counted so far. Held for a moment only.
    pub fn tally(&self) -> MutexGuard<'_, Tally> {
        self.tally.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many datagrams its socket has dropped so far; absent if the kernel does not tell.
    pub fn dropped(&self) -> Option<u64> {
        self.drops.lock().unwrap_or_else(PoisonError::into_inner).read(&self.socket)
    }

    /// Breaks the flow off: its thread will report why.
    pub fn fail(&self, reason: String) {
        // The first reason is the cause of the others.
        let _ = self.failure.set(reason);
    }

    /// Why the flow was broken off, if it was.
    pub fn failure(&self) -> Option<&String> {
        self.failure.get()
    }

    /// The flow's thread leaves what it has, just before it reports that the flow has ended.
    pub fn leave(&self, outcome: Outcome) {
        let _ = self.outcome.set(outcome);
    }

    /// What the flow's thread has left.
    pub fn outcome(&mut self) -> Outcome {
        self.outcome.take().unwrap_or_default()
    }
}

/// Why a datagram is not one of the flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotOurs {
    /// It has no header of an engine.
    NotAnEngine,
    /// It is of another trial, or made up.
    WrongTag,
    /// It is of another flow.
    WrongFlow,
}

impl NotOurs {
    /// Counts it.
    pub fn count(self, rejected: &mut RejectedConnections) {
        count(match self {
            Self::NotAnEngine => &mut rejected.not_an_engine,
            Self::WrongTag => &mut rejected.wrong_token,
            Self::WrongFlow => &mut rejected.wrong_flow,
        });
    }
}

impl Connection for Stream {
    const BREAKS_ALONE: bool = true;

    fn ports(&self) -> (u16, u16) {
        let port = |address: io::Result<SocketAddr>| address.map_or(0, |address| address.port());
        (port(self.socket.local_addr()), port(self.socket.peer_addr()))
    }

    /// Threads of datagrams wait for a moment only, and then look whether they are to end.
    fn break_off(&self) {}
}

#[cfg(test)]
impl Stream {
    /// How many datagrams its socket had dropped when that was last read.
    pub fn dropped_last(&self) -> u64 {
        self.drops.lock().unwrap().last()
    }
}
