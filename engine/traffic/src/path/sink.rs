//! The sink of a measurement of a path: receives probes and trains, and reports them to the source.

use std::time::{Duration, Instant};

use sys::Datagram;
use wire::{Token, defaults::START_TIMEOUT};

use super::{
    datagram::{Request, Response},
    dispersion::Dispersion,
    kept::Kept,
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
    let mut intake = Intake { kept: Kept::new(log), secrets, leaving: None };
    let taken =
        intake.take_all(run, deadline).and_then(|whole| whole.then_some(()).ok_or(TrialError::NoTeardown(longest)));
    intake.kept.finish();
    taken
}

struct Intake<'a> {
    kept: Kept<'a>,
    secrets: Secrets,
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
            Request::Packet(packet) => {
                let payload_bytes = u32::try_from(datagram.length).unwrap_or(u32::MAX);
                let size_bytes = payload_bytes.saturating_add(run.line.headers_bytes());
                return self.kept.take(packet, size_bytes, arrived_ns);
            }
            Request::Probe { sequence } => {
                let hop_limit = datagram.hop_limit.unwrap_or(0);
                // Where the arrival of a request is unknown, so is how long it waited here.
                let Some(arrived_ns) = arrived_ns else { return };
                let held_ns = u64::try_from(run.now_ns().saturating_sub(arrived_ns)).unwrap_or(0);
                Response::Probe { sequence, hop_limit, held_ns }
            }
            Request::TrainEnd { train } => {
                let Dispersion { halves_bps, lasted_ns } = Dispersion::of(self.kept.rows_of(train));
                Response::Train { train, halves_bps, lasted_ns }
            }
            Request::Withdraw { train } => {
                self.kept.withdraw(train);
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
}
