//! Sends trains, each straight after the other packet, and streams at a rate.

use std::time::{Duration, Instant};

use rustix::io::Errno;
use wire::defaults::STREAM_TRIES;

use super::{
    datagram::{Packet, Request, Response},
    dispersion::{Dispersion, Growth},
    request::request_once,
    run::Run,
    sink::Secrets,
    streams::stream_rates,
};
use crate::{
    TrialError,
    defaults::{STREAM_LATE_MOST, STREAM_SPIN, TRAIN_MOST, TRAIN_PAUSE, TRAIN_TIMEOUT, TRAINS_UNSEEN},
    pacing::Gap,
};

/// What trains have shown.
#[derive(Clone, Copy)]
pub struct Sent {
    /// How many were sent.
    pub trains: u32,
    /// The rate at which they were received, in bit/s; absent if none was.
    pub capacity_bps: Option<u64>,
}

/// Sends trains until there were enough that were long enough, or until there is no more time.
pub fn send_trains(run: &mut Run<'_>, secrets: Secrets, until: Instant) -> Result<Sent, TrialError> {
    if run.settings.trains == 0 {
        return Ok(Sent { trains: 0, capacity_bps: None });
    }
    let mut packets = Packets::new(run, secrets);
    let mut growth = Growth::new(run.settings.trains, run.settings.train_packets);
    let (mut train, mut unseen) = (0, 0);
    while let Some(count) = growth.next_packets()
        && unseen < TRAINS_UNSEEN
        && Instant::now() < until
    {
        for sequence in 0..count {
            if !packets.send(run, train, sequence, None) && is_over(run, until)? {
                break;
            }
        }
        // Of a train of which nothing came the sink knows as little as one that does not answer.
        let seen = dispersion_at_sink(run, secrets, train)?.filter(|seen| *seen != Dispersion::default());
        if packets.fit(run, secrets) {
            train += 1;
            continue;
        }
        unseen = if seen.is_some() { 0 } else { unseen + 1 };
        growth.seen(seen);
        train += 1;
        // The sink has reported it, so its last packet has left every queue; other packets that were held up need as long.
        let lasted = Duration::from_nanos(seen.map_or(0, |train| train.lasted_ns));
        run.pause(lasted.clamp(TRAIN_PAUSE, TRAIN_MOST))?;
    }
    Ok(Sent { trains: train, capacity_bps: growth.capacity_bps() })
}

/// Sends streams at rates up to somewhat more than what trains have shown, each followed by a pause as long as it was.
pub fn send_streams(run: &mut Run<'_>, secrets: Secrets, sent: Sent, until: Instant) -> Result<(), TrialError> {
    let settings = run.settings;
    let Some(capacity_bps) = sent.capacity_bps else { return Ok(()) };
    let mut packets = Packets::new(run, secrets);
    let mut train = sent.trains;
    for rate_bps in stream_rates(capacity_bps, settings.stream_rates, settings.streams, settings.seed) {
        let gap = Gap::at_rate(packets.size_bytes.into(), rate_bps);
        let lasts = Duration::from_nanos(gap.span_ns(settings.stream_packets.into()));
        for attempt in 1..=STREAM_TRIES {
            if Instant::now() + lasts >= until {
                break;
            }
            let even = send_stream(run, &mut packets, (train, rate_bps), attempt == STREAM_TRIES, until)?;
            if !even {
                withdraw(run, secrets, train)?;
            }
            train += 1;
            run.pause(lasts.max(TRAIN_PAUSE))?;
            if even {
                break;
            }
        }
    }
    Ok(())
}

/// Sends a stream; says whether it is to be kept. A packet that was held up on this host would be followed by a burst:
/// the others are as much later, and the stream is given up for another one unless it must be kept.
fn send_stream(
    run: &mut Run<'_>,
    packets: &mut Packets,
    (train, rate_bps): (u32, u64),
    must_be_kept: bool,
    until: Instant,
) -> Result<bool, TrialError> {
    let gap = Gap::at_rate(packets.size_bytes.into(), rate_bps);
    let mut begin = Instant::now();
    for sequence in 0..run.settings.stream_packets {
        let due = begin + Duration::from_nanos(gap.span_ns(sequence.into()));
        wait_exactly(run, due)?;
        let late = Instant::now().saturating_duration_since(due);
        if late > STREAM_LATE_MOST {
            if !must_be_kept {
                return Ok(false);
            }
            begin += late;
        }
        if !packets.send(run, train, sequence, Some(rate_bps)) && is_over(run, until)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Whether there is no more time, or the trial was stopped: asked where a packet was refused, for which a device that
/// stands still takes a while each time.
fn is_over(run: &mut Run<'_>, until: Instant) -> Result<bool, TrialError> {
    run.look()?;
    Ok(Instant::now() >= until)
}

/// Has the sink drop what it received of a stream.
fn withdraw(run: &mut Run<'_>, secrets: Secrets, train: u32) -> Result<(), TrialError> {
    let deadline = Instant::now() + TRAIN_TIMEOUT;
    let is_due = |response| response == Response::Withdrawn { train };
    while Instant::now() < deadline {
        if request_once(run, secrets, Request::Withdraw { train }, is_due)?.is_some() {
            break;
        }
    }
    Ok(())
}

/// Requests from the sink how a train was received, until it responds.
fn dispersion_at_sink(run: &mut Run<'_>, secrets: Secrets, train: u32) -> Result<Option<Dispersion>, TrialError> {
    let deadline = Instant::now() + TRAIN_TIMEOUT;
    let is_due = |response| matches!(response, Response::Train { train: reported, .. } if reported == train);
    while Instant::now() < deadline {
        let response = request_once(run, secrets, Request::TrainEnd { train }, is_due)?;
        if let Some(Response::Train { halves_bps, lasted_ns, .. }) = response {
            return Ok(Some(Dispersion { halves_bps, lasted_ns }));
        }
    }
    Ok(None)
}

/// Sleeps while that is safe, then spins: a sleep may take too long, by much more than a packet's time.
fn wait_exactly(run: &mut Run<'_>, due: Instant) -> Result<(), TrialError> {
    let asleep = due.saturating_duration_since(Instant::now()).saturating_sub(STREAM_SPIN);
    if !asleep.is_zero() {
        run.pause(asleep)?;
    }
    while Instant::now() < due {
        std::hint::spin_loop();
    }
    Ok(())
}

/// Makes packets of trains and streams, one after the other.
struct Packets {
    secrets: Secrets,
    size_bytes: u32,
    payload: Vec<u8>,
    /// One was larger than what the path is known to carry by now.
    too_large: bool,
}

impl Packets {
    /// Of the size in the settings, or the largest that can be sent.
    fn new(run: &Run<'_>, secrets: Secrets) -> Self {
        let size_bytes = run.settings.train_bytes.min(run.line.path_mtu().unwrap_or(u32::MAX));
        Self {
            secrets,
            size_bytes,
            payload: vec![0; (size_bytes - run.line.headers_bytes()) as usize],
            too_large: false,
        }
    }

    /// Says whether it went out.
    fn send(&mut self, run: &mut Run<'_>, train: u32, sequence: u32, rate_bps: Option<u64>) -> bool {
        let packet = Packet { train, sequence, rate_bps, sent_ns: run.now_ns() };
        Request::Packet(packet).write(self.secrets.source, &mut self.payload);
        // One that does not go out is missing at the sink, like one that is lost.
        match run.line.send(&self.payload) {
            Ok(()) => run.bytes += self.payload.len() as u64,
            Err(error) => {
                self.too_large |= error.raw_os_error() == Some(Errno::MSGSIZE.raw_os_error());
                return false;
            }
        }
        true
    }

    /// Makes packets that fit where a router within the path has reported a smaller MTU since; says whether it did.
    fn fit(&mut self, run: &mut Run<'_>, secrets: Secrets) -> bool {
        let fitting = Self::new(run, secrets);
        if !self.too_large || fitting.size_bytes >= self.size_bytes {
            return false;
        }
        let (size, requested) = (fitting.size_bytes, self.size_bytes);
        run.remarks.push(format!(
            "packets of trains are of {size} B in place of {requested}: a router towards the sink reported that MTU"
        ));
        *self = fitting;
        true
    }
}
