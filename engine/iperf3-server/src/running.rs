//! A test whose streams flow: watched until its client ends it, then counted.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use iperf3::{ErrorCode, Protocol, Results, State};
use serde_json::{Value, json};

use crate::{
    control::Control,
    conversation::Failure,
    deadlines::Deadlines,
    defaults::{INTERVALS_TOLD_MAX, RATE_WINDOW, STOP_CHECK},
    record::{Interval, Slice, milliseconds, rate_bps, retransmits, role},
    shared::Shared,
    stream::{Stream, Together},
    tally::Count,
    terms::{Amount, Terms},
};

/// A test whose streams flow. When it goes, no thread of it is left.
pub struct Running<'a> {
    /// Its streams, those from the client first.
    pub streams: Vec<Stream>,
    /// Its intervals, the first [`INTERVALS_TOLD_MAX`] of them.
    pub intervals: Vec<Interval>,
    /// What its threads took, once they have ended: user and system.
    pub cpu: (Duration, Duration),
    number: u64,
    together: Arc<Together>,
    shared: &'a Shared,
    begin: Instant,
    omits: bool,
    counted_from: Instant,
    marks: Vec<Mark>,
    end: Option<Instant>,
    interval_begin: Instant,
    interval_counts: Vec<Count>,
    rate_checked: (Instant, u64),
    progress: (Instant, u64),
}

/// What a stream had done when it began to count.
#[derive(Clone, Copy, Default)]
pub struct Mark {
    /// What it had carried.
    pub count: Count,
    /// Segments it had sent again.
    pub retransmits: u64,
}

impl<'a> Running<'a> {
    /// Streams that flow already.
    pub fn new(number: u64, (streams, together): (Vec<Stream>, Arc<Together>), shared: &'a Shared) -> Self {
        let now = Instant::now();
        let none = vec![Count::default(); streams.len()];
        Self {
            marks: vec![Mark::default(); streams.len()],
            omits: !together.terms.omit.is_zero(),
            streams,
            intervals: Vec::new(),
            cpu: (Duration::ZERO, Duration::ZERO),
            number,
            together,
            shared,
            begin: now,
            counted_from: now,
            end: None,
            interval_begin: now,
            interval_counts: none,
            rate_checked: (now, 0),
            progress: (now, 0),
        }
    }

    /// Has streams that send do so.
    pub fn begin(&self) {
        self.together.begin();
    }

    /// What the test is.
    #[must_use]
    pub fn terms(&self) -> &Terms {
        &self.together.terms
    }

    /// Whether the server's output is told as JSON.
    #[must_use]
    pub fn json_output(&self) -> bool {
        self.shared.config.json_output
    }

    /// Returns when the client says that it has ended.
    ///
    /// # Errors
    /// [`Failure`] if it ends otherwise.
    pub fn watch(&mut self, control: &Control) -> Result<(), Failure> {
        loop {
            let said = control.next_state(self.next_due())?;
            let now = Instant::now();
            match said {
                None => {}
                Some(State::TestEnd) => {
                    self.end_interval(now);
                    self.end = Some(now);
                    return Ok(());
                }
                Some(State::ClientTerminate) => return Err(Failure::ClientTerminated),
                Some(_) => return Err(Failure::Refused(ErrorCode::MESSAGE, 0)),
            }
            if self.shared.stops() {
                return Err(Failure::ServerStops);
            }
            self.begin_to_count_if_due(now);
            if now >= self.interval_begin + self.shared.config.interval {
                self.end_interval(now);
            }
            self.check_limits(now)?;
        }
    }

    /// Has streams that send end.
    pub fn stop_sources(&mut self) {
        self.end_threads(true);
    }

    /// Has streams that receive end, once they have read what is there.
    pub fn stop_sinks(&mut self) {
        self.end_threads(false);
    }

    /// Whether every byte that the client has sent is waited for: it was asked for so many, not for so long.
    #[must_use]
    pub fn counts_to_the_last(&self) -> bool {
        let terms = self.terms();
        terms.protocol == Protocol::Tcp && terms.amount != Amount::Any && !self.omits
    }

    /// Waits for what the client says that it has sent, as long as something comes.
    pub fn drain(&mut self, told: &Results) {
        if !self.counts_to_the_last() {
            return;
        }
        let Deadlines { drain, drain_quiet, .. } = self.shared.config.deadlines;
        let deadline = Instant::now() + drain;
        let mut progress = (Instant::now(), self.received());
        while !self.has_all(told) && Instant::now() < deadline && progress.0.elapsed() < drain_quiet {
            std::thread::sleep(Duration::from_millis(2));
            if self.received() > progress.1 {
                progress = (Instant::now(), self.received());
                self.end = Some(progress.0);
            }
        }
    }

    /// From where it began to count to its end.
    #[must_use]
    pub fn seconds(&self) -> f64 {
        self.end.unwrap_or_else(Instant::now).saturating_duration_since(self.counted_from).as_secs_f64()
    }

    /// What each stream has carried in all, and had when it began to count.
    pub fn counted(&self) -> impl Iterator<Item = (&Stream, Count, Mark)> {
        self.streams.iter().zip(&self.marks).map(|(stream, mark)| (stream, stream.tally.count(), *mark))
    }

    /// The last line of the log; `told`: what the client saw.
    #[must_use]
    pub fn totals(&self, told: Option<&Results>) -> Value {
        let seconds = self.seconds();
        let (mut sent, mut received) = (0, 0);
        let mut streams = Vec::new();
        for (stream, count, mark) in self.counted() {
            let bytes = count.bytes.saturating_sub(mark.count.bytes);
            *if stream.sends { &mut sent } else { &mut received } += bytes;
            let theirs = told.and_then(|told| told.streams.iter().find(|other| other.id == stream.id));
            let mut row = json!({
                "id": stream.id, "role": role(stream.sends), "bytes": bytes, "rate_bps": rate_bps(bytes, seconds),
                "client_bytes": theirs.map(|theirs| theirs.bytes),
            });
            let more = match (self.terms().protocol, stream.sends) {
                (Protocol::Tcp, true) => {
                    json!({ "retransmits": retransmits(stream.tcp()).saturating_sub(mark.retransmits) })
                }
                (Protocol::Tcp, false) => json!({ "client_retransmits": theirs.map(|theirs| theirs.retransmits) }),
                (Protocol::Udp, true) => json!({
                    "packets": count.packets - mark.count.packets,
                    "client_lost": theirs.map(|theirs| theirs.errors - theirs.omitted_errors.unwrap_or(0)),
                }),
                (Protocol::Udp, false) => json!({
                    "packets": count.packets - mark.count.packets,
                    "lost": count.missing.saturating_sub(mark.count.missing),
                    "reordered": count.reordered - mark.count.reordered,
                    "duplicates": count.duplicates - mark.count.duplicates,
                    "jitter_ms": milliseconds(count.jitter_ns),
                }),
            };
            if let (Value::Object(row), Value::Object(more)) = (&mut row, more) {
                row.extend(more);
            }
            streams.push(row);
        }
        json!({ "seconds": seconds, "sent_bytes": sent, "received_bytes": received, "streams": streams })
    }

    fn received(&self) -> u64 {
        self.streams.iter().filter(|stream| !stream.sends).map(|stream| stream.tally.count().bytes).sum()
    }

    fn carried(&self) -> u64 {
        self.streams.iter().map(|stream| stream.tally.count().bytes).sum()
    }

    fn has_all(&self, told: &Results) -> bool {
        self.streams.iter().filter(|stream| !stream.sends).all(|stream| {
            let theirs = told.streams.iter().find(|other| other.id == stream.id);
            theirs.is_none_or(|theirs| i64::try_from(stream.tally.count().bytes).is_ok_and(|own| own >= theirs.bytes))
        })
    }

    fn next_due(&self) -> Duration {
        let mut due = self.interval_begin + self.shared.config.interval;
        if self.omits && self.counted_from == self.begin {
            due = due.min(self.begin + self.terms().omit);
        }
        due.saturating_duration_since(Instant::now()).min(STOP_CHECK)
    }

    fn begin_to_count_if_due(&mut self, now: Instant) {
        if !self.omits || self.counted_from != self.begin || now < self.begin + self.terms().omit {
            return;
        }
        self.together.count();
        self.end_interval(now);
        for (mark, stream) in self.marks.iter_mut().zip(&self.streams) {
            *mark = Mark { count: stream.tally.count(), retransmits: retransmits(stream.tcp()) };
        }
        self.counted_from = now;
    }

    fn end_interval(&mut self, now: Instant) {
        let slices: Vec<Slice> =
            self.streams.iter().zip(&self.interval_counts).map(|(stream, before)| Slice::of(stream, *before)).collect();
        self.interval_counts = slices.iter().map(|slice| slice.count).collect();
        let since = |moment: Instant| moment.saturating_duration_since(self.begin).as_secs_f64();
        let interval = Interval {
            begin_s: since(self.interval_begin),
            end_s: since(now),
            omitted: self.omits && self.counted_from == self.begin,
            streams: slices,
        };
        self.interval_begin = now;
        if self.shared.log.is_wanted() {
            // Whatever the log says is no reason to end a test.
            let _ = self.shared.log.write("interval", interval.json(self.number));
        }
        if self.intervals.len() < INTERVALS_TOLD_MAX {
            self.intervals.push(interval);
        }
    }

    fn check_limits(&mut self, now: Instant) -> Result<(), Failure> {
        let config = &self.shared.config;
        let carried = self.carried();
        if self.terms().receiving > 0 {
            let received = self.received();
            if received > self.progress.1 {
                self.progress = (now, received);
            } else if now.duration_since(self.progress.0) > config.no_data_timeout {
                return Err(Failure::Refused(ErrorCode::NO_DATA, 0));
            }
        }
        if let Some(duration) = self.terms().duration
            && now > self.begin + self.terms().omit + duration + config.deadlines.grace
        {
            return Err(Failure::Refused(ErrorCode::EXPIRED, 0));
        }
        let looked = now.duration_since(self.rate_checked.0);
        if let (Some(most), true) = (config.limits.rate_max_bps, looked >= RATE_WINDOW) {
            let rate = rate_bps(carried - self.rate_checked.1, looked.as_secs_f64());
            self.rate_checked = (now, carried);
            #[expect(clippy::cast_precision_loss, reason = "a rate")]
            if self.terms().rate_bps.is_none() && rate > most as f64 {
                return Err(Failure::Refused(ErrorCode::TOTAL_RATE, 0));
            }
        }
        Ok(())
    }

    fn end_threads(&mut self, sends: bool) {
        self.together.stop(sends);
        for stream in self.streams.iter().filter(|stream| stream.sends == sends) {
            stream.wake();
        }
        for stream in self.streams.iter_mut().filter(|stream| stream.sends == sends) {
            if let Some(cpu) = stream.finish() {
                self.cpu.0 += cpu.user;
                self.cpu.1 += cpu.system;
            }
        }
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.end_threads(true);
        self.end_threads(false);
    }
}
