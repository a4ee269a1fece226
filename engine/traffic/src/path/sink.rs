//! The sink of a measurement of a path: takes probes and trains, and tells the source of them.

use std::time::{Duration, Instant};

use sys::Datagram;
use wire::Token;

use super::{
    datagram::{Packet, Question, Reply},
    dispersion::{Arrival, Dispersion},
    run::Run,
    train_row::TrainRow,
};
use crate::{
    TrialError,
    defaults::{FAREWELL, PACKET_MOST_BYTES, PATH_LINGER, START_TIMEOUT, STOP_CHECK},
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

/// Takes what comes until the source has finished. The rows so far are there in any case.
pub fn take(run: &mut Run<'_>, secrets: Secrets, log: &mut Log<TrainRow>) -> Result<(), TrialError> {
    let longest = START_TIMEOUT + Duration::from_micros(run.settings.deadline_us) + 2 * FAREWELL;
    let deadline = Instant::now() + longest;
    let mut intake = Intake { log, secrets, train: 0, arrivals: Vec::new(), leaving: None };
    let mut buffer = vec![0; PACKET_MOST_BYTES as usize];
    loop {
        while let Some((question, datagram)) =
            run.line.receive(&mut buffer, |bytes| Question::read(bytes, secrets.source))
        {
            intake.take(run, question, &datagram);
            run.look()?;
        }
        run.look()?;
        if intake.leaving.is_some_and(|moment| Instant::now() >= moment) {
            return Ok(());
        }
        if Instant::now() >= deadline {
            return Err(TrialError::NoFarewell(longest));
        }
        run.line.wait(STOP_CHECK);
    }
}

struct Intake<'a> {
    log: &'a mut Log<TrainRow>,
    secrets: Secrets,
    /// The last train that has come, and its packets.
    train: u32,
    arrivals: Vec<Arrival>,
    /// Once the source has finished: until when it is answered, in case it has not heard.
    leaving: Option<Instant>,
}

impl Intake<'_> {
    fn take(&mut self, run: &mut Run<'_>, question: Question, datagram: &Datagram) {
        run.bytes += datagram.length as u64;
        let received_ns = run.arrived_ns(datagram.arrived_unix_ns);
        let reply = match question {
            Question::Packet(packet) => return self.keep(run, packet, received_ns, datagram.length),
            Question::Probe { sequence } => {
                let hop_limit = datagram.hop_limit.unwrap_or(0);
                let held_ns = u64::try_from(run.now_ns() - received_ns).unwrap_or(0);
                Reply::Probe { sequence, hop_limit, held_ns }
            }
            Question::TrainEnd { train } => {
                let arrivals = if train == self.train { &self.arrivals[..] } else { &[] };
                let Dispersion { halves_bps, lasted_ns } = Dispersion::of(arrivals);
                Reply::Train { train, halves_bps, lasted_ns }
            }
            Question::Farewell => {
                self.leaving = self.leaving.or_else(|| Some(Instant::now() + PATH_LINGER));
                Reply::Farewell
            }
        };
        // A reply that is lost is asked for again.
        let _ = run.line.send(&reply.encode(self.secrets.sink));
    }

    fn keep(&mut self, run: &Run<'_>, packet: Packet, received_ns: i64, payload_bytes: usize) {
        if packet.train != self.train {
            self.train = packet.train;
            self.arrivals.clear();
        }
        let size_bytes = u32::try_from(payload_bytes).unwrap_or(u32::MAX).saturating_add(run.line.headers_bytes());
        self.arrivals.push(Arrival { received_ns, size_bytes });
        self.log.push(&TrainRow { packet, size_bytes, received_ns });
    }
}
