//! The sink of a measurement of a path: receives probes and trains, and reports them to the source.

use std::time::{Duration, Instant};

use sys::Datagram;
use wire::{
    Token,
    defaults::{START_TIMEOUT, TRAIN_PACKETS_MAX},
};

use super::{
    datagram::{Packet, Request, Response},
    dispersion::Dispersion,
    run::Run,
    train_row::TrainRow,
};
use crate::{
    TrialError,
    defaults::{DATAGRAMS_AT_ONCE, PACKET_MOST_BYTES, PATH_LINGER, STOP_CHECK, TEARDOWN},
    samples::Log,
};

/// The two secrets of a trial: what a source shows, and what a sink does.
#[derive(Clone, Copy)]
pub struct Secrets {
    /// Of the source.
    pub source: Token,
    /// Of the sink.
    pub sink: Token,
}

/// Receives until the source has finished. The rows so far are there in any case.
pub fn take(run: &mut Run<'_>, secrets: Secrets, log: &mut Log<TrainRow>) -> Result<(), TrialError> {
    let longest = START_TIMEOUT + Duration::from_micros(run.settings.deadline_us) + 2 * TEARDOWN;
    let deadline = Instant::now() + longest;
    let mut intake = Intake { log, secrets, train: 0, rows: Vec::new(), untimed: false, leaving: None };
    let taken =
        intake.take_all(run, deadline).and_then(|whole| whole.then_some(()).ok_or(TrialError::NoTeardown(longest)));
    intake.keep_rows();
    taken
}

struct Intake<'a> {
    log: &'a mut Log<TrainRow>,
    secrets: Secrets,
    /// The last train or stream that was received, and its packets: a stream may be withdrawn.
    train: u32,
    rows: Vec<TrainRow>,
    /// Packets of it were received at an unknown time: none of it is kept, as if all had been lost.
    untimed: bool,
    /// Once the source has finished: until when it is answered, in case a response was lost.
    leaving: Option<Instant>,
}

impl Intake<'_> {
    /// Returns whether the source has finished.
    fn take_all(&mut self, run: &mut Run<'_>, deadline: Instant) -> Result<bool, TrialError> {
        let token = self.secrets.source;
        let mut buffer = vec![0; PACKET_MOST_BYTES as usize];
        loop {
            // As long as one waits that says of an answer why it did not get there, a poll returns at once.
            let _ = (0..DATAGRAMS_AT_ONCE).take_while(|_| run.receive_error(&mut buffer).is_some()).count();
            for _ in 0..DATAGRAMS_AT_ONCE {
                let Some((request, datagram)) = run.receive(&mut buffer, |bytes| Request::read(bytes, token)) else {
                    break;
                };
                self.take(run, request, &datagram);
                run.look()?;
            }
            run.look()?;
            if self.leaving.is_some_and(|moment| Instant::now() >= moment) {
                return Ok(true);
            }
            if Instant::now() >= deadline {
                return Ok(false);
            }
            run.line.wait(STOP_CHECK);
        }
    }

    fn take(&mut self, run: &mut Run<'_>, request: Request, datagram: &Datagram) {
        run.bytes += datagram.length as u64;
        let arrived_ns = run.arrived_ns(datagram.arrived_unix_ns);
        let response = match request {
            Request::Packet(packet) => return self.keep(run, packet, arrived_ns, datagram.length),
            Request::Probe { sequence } => {
                let hop_limit = datagram.hop_limit.unwrap_or(0);
                // Where the arrival of a request is unknown, so is how long it waited here.
                let Some(arrived_ns) = arrived_ns else { return };
                let held_ns = u64::try_from(run.now_ns().saturating_sub(arrived_ns)).unwrap_or(0);
                Response::Probe { sequence, hop_limit, held_ns }
            }
            Request::TrainEnd { train } => {
                let rows = if train == self.train { &self.rows[..] } else { &[] };
                let Dispersion { halves_bps, lasted_ns } = Dispersion::of(rows);
                Response::Train { train, halves_bps, lasted_ns }
            }
            Request::Withdraw { train } => {
                if train == self.train {
                    self.rows.clear();
                }
                Response::Withdrawn { train }
            }
            Request::Teardown => {
                self.leaving = self.leaving.or_else(|| Some(Instant::now() + PATH_LINGER));
                Response::Teardown
            }
        };
        // The source repeats the request of a response that is lost.
        let _ = run.line.send(&response.encode(self.secrets.sink));
    }

    fn keep(&mut self, run: &Run<'_>, packet: Packet, arrived_ns: Option<i64>, payload_bytes: usize) {
        if packet.train != self.train || self.rows.len() >= TRAIN_PACKETS_MAX as usize {
            self.keep_rows();
            (self.train, self.untimed) = (packet.train, false);
        }
        self.untimed |= arrived_ns.is_none();
        let Some(received_ns) = arrived_ns.filter(|_| !self.untimed) else { return self.rows.clear() };
        let size_bytes = u32::try_from(payload_bytes).unwrap_or(u32::MAX).saturating_add(run.line.headers_bytes());
        self.rows.push(TrainRow { packet, size_bytes, received_ns });
    }

    fn keep_rows(&mut self) {
        for row in self.rows.drain(..) {
            self.log.push(&row);
        }
    }
}
