//! A test whose streams flow: watched until its client ends it, then counted.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use crate::{
    control::Control,
    deadlines::Deadlines,
    defaults::{ACKNOWLEDGED_CHECK, DATAGRAM_RATE_WINDOW, PROGRESS_BYTES, RATE_BURST, STOP_CHECK},
    failure::Failure,
    parameters::{Amount, TestParameters},
    progress::Progress,
    record::{Interval, ReportedInterval, Slice, acknowledged, retransmits},
    shared::Shared,
    stream::Stream,
    tally::Count,
    test_state::TestState,
    throttle,
};
use iperf3::{ErrorCode, Protocol, Results, State};
use traffic::pacing::Gap;

/// A test whose streams flow. When it goes, no thread of it is left.
pub struct Running<'a> {
    /// Its streams, those from the client first.
    pub streams: Vec<Stream>,
    /// Its first intervals, if the client requested the server's output.
    pub intervals: Vec<ReportedInterval>,
    /// Rows of intervals, one a stream, that may still be kept.
    kept: usize,
    /// What its threads took, once they have ended: user and system.
    pub cpu: (Duration, Duration),
    number: u64,
    test: Arc<TestState>,
    shared: &'a Shared,
    begin: Instant,
    omits: bool,
    counted_from: Instant,
    marks: Vec<Mark>,
    end: Option<Instant>,
    interval_begin: Instant,
    interval_counts: Vec<Count>,
    receives: Progress,
    is_read: Progress,
    acknowledged_checked: Instant,
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
    /// Streams that flow already; `kept`: rows of intervals, one a stream, that are kept for the client.
    pub fn new(number: u64, (streams, test): (Vec<Stream>, Arc<TestState>), shared: &'a Shared, kept: usize) -> Self {
        let now = Instant::now();
        let enough = PROGRESS_BYTES.min(test.parameters.write_bytes as u64);
        let none = vec![Count::default(); streams.len()];
        Self {
            marks: vec![Mark::default(); streams.len()],
            omits: !test.parameters.omit.is_zero(),
            streams,
            intervals: Vec::new(),
            kept,
            cpu: (Duration::ZERO, Duration::ZERO),
            number,
            test,
            shared,
            begin: now,
            counted_from: now,
            end: None,
            interval_begin: now,
            interval_counts: none,
            receives: Progress::new(now, enough),
            is_read: Progress::new(now, enough),
            acknowledged_checked: now,
        }
    }

    /// Has streams that send do so.
    pub fn begin(&self) {
        self.test.begin();
    }

    /// What the test is.
    #[must_use]
    pub fn parameters(&self) -> &TestParameters {
        &self.test.parameters
    }

    /// Whether the server's output is reported as JSON.
    #[must_use]
    pub fn json_output(&self) -> bool {
        self.shared.config.json_output
    }

    /// Returns when the client says that it has ended.
    ///
    /// # Errors
    /// [`Failure`] if it ends otherwise.
    pub fn watch(&mut self, control: &Control<'_>) -> Result<(), Failure> {
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

    /// Whether every byte that the client has sent is waited for: its parameters are a number of bytes, not a time.
    #[must_use]
    pub fn counts_to_the_last(&self) -> bool {
        let parameters = self.parameters();
        parameters.protocol == Protocol::Tcp && parameters.amount != Amount::Any && !self.omits
    }

    /// Waits for the bytes that the client reported as sent, as long as any are received.
    pub fn drain(&mut self, reported: &Results) {
        if !self.counts_to_the_last() {
            return;
        }
        let Deadlines { drain, drain_quiet, .. } = self.shared.config.deadlines;
        let deadline = Instant::now() + drain;
        let mut progress = (Instant::now(), self.received());
        let stops = || self.shared.urgency.stops();
        while !stops() && !self.has_all(reported) && Instant::now() < deadline && progress.0.elapsed() < drain_quiet {
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

    /// From its begin to its end, what is left out included: its threads worked for so long.
    #[must_use]
    pub fn lasted_seconds(&self) -> f64 {
        self.end.unwrap_or_else(Instant::now).saturating_duration_since(self.begin).as_secs_f64()
    }

    /// What each stream has carried in all, and had when it began to count.
    pub fn counted(&self) -> impl Iterator<Item = (&Stream, Count, Mark)> {
        self.streams.iter().zip(&self.marks).map(|(stream, mark)| (stream, stream.tally.count(), *mark))
    }

    fn received(&self) -> u64 {
        self.streams.iter().filter(|stream| !stream.sends).map(|stream| stream.tally.count().bytes).sum()
    }

    fn carried(&self) -> u64 {
        self.streams.iter().map(|stream| stream.tally.count().bytes).sum()
    }

    fn has_all(&self, reported: &Results) -> bool {
        self.streams.iter().filter(|stream| !stream.sends).all(|stream| {
            let theirs = reported.streams.iter().find(|other| other.id == stream.id);
            theirs.is_none_or(|theirs| i64::try_from(stream.tally.count().bytes).is_ok_and(|own| own >= theirs.bytes))
        })
    }

    fn next_due(&self) -> Duration {
        let mut due = self.interval_begin + self.shared.config.interval;
        if self.omits && self.counted_from == self.begin {
            due = due.min(self.begin + self.parameters().omit);
        }
        due.saturating_duration_since(Instant::now()).min(STOP_CHECK)
    }

    fn begin_to_count_if_due(&mut self, now: Instant) {
        if !self.omits || self.counted_from != self.begin || now < self.begin + self.parameters().omit {
            return;
        }
        self.test.count();
        self.end_interval(now);
        for (mark, stream) in self.marks.iter_mut().zip(&self.streams) {
            *mark = Mark { count: stream.tally.count(), retransmits: retransmits(stream.tcp()) };
        }
        self.counted_from = now;
    }

    fn end_interval(&mut self, now: Instant) {
        let logs = self.shared.log.is_wanted();
        let slices: Vec<Slice> = self
            .streams
            .iter()
            .zip(&self.interval_counts)
            .map(|(stream, before)| Slice::of(stream, *before, logs))
            .collect();
        self.interval_counts = slices.iter().map(|slice| slice.count).collect();
        let since = |moment: Instant| moment.saturating_duration_since(self.begin).as_secs_f64();
        let interval = Interval {
            begin_s: since(self.interval_begin),
            end_s: since(now),
            omitted: self.omits && self.counted_from == self.begin,
            streams: slices,
        };
        self.interval_begin = now;
        if logs {
            self.shared.log.write("interval", interval.json(self.number));
        }
        if let Some(kept) = self.kept.checked_sub(interval.streams.len()) {
            self.kept = kept;
            self.intervals.push(interval.reported());
        }
    }

    fn check_limits(&mut self, now: Instant) -> Result<(), Failure> {
        let (config, urgency) = (&self.shared.config, &self.shared.urgency);
        // Who announced a rate may do nothing between two of its writes.
        let parameters = self.parameters();
        let between = |rate_bps| Gap::at_rate(parameters.write_bytes as u64, rate_bps).span_ns(parameters.burst);
        let pause = parameters.rate_bps.map_or(Duration::ZERO, |rate_bps| 2 * Duration::from_nanos(between(rate_bps)));
        let idle_max = urgency.patience(config.no_data_timeout).max(pause.min(config.no_data_timeout));
        if self.parameters().receiving > 0 {
            self.receives.note(now, self.received());
            if self.receives.idle(now) > idle_max {
                return Err(Failure::Refused(ErrorCode::NO_DATA, 0));
            }
        }
        if let Some(errno) = self.test.send_error() {
            return Err(Failure::Refused(ErrorCode::WRITE, errno));
        }
        self.check_reading(now, idle_max)?;
        let grace = urgency.patience(config.deadlines.grace);
        let longest = match self.parameters().duration {
            Some(duration) => self.parameters().omit + duration,
            None => config.limits.longest(),
        };
        if now > self.begin + longest + grace {
            return Err(Failure::Refused(ErrorCode::EXPIRED, 0));
        }
        self.check_rate(now)
    }

    /// Whether the client reads what it is sent, and ends the test once it has all of it.
    fn check_reading(&mut self, now: Instant, idle_max: Duration) -> Result<(), Failure> {
        let tcp = self.parameters().protocol == Protocol::Tcp;
        if self.parameters().sending == 0 || !tcp || now < self.acknowledged_checked + ACKNOWLEDGED_CHECK {
            return Ok(());
        }
        self.acknowledged_checked = now;
        let sources = self.streams.iter().filter(|stream| stream.sends).filter_map(Stream::tcp);
        let (bytes, pending) = sources
            .filter_map(acknowledged)
            .fold((0_u64, false), |(sum, any), (bytes, pending)| (sum.saturating_add(bytes), any || pending));
        self.is_read.note(now, bytes);
        if !pending && self.test.rests() {
            self.is_read.rests(now);
        }
        if self.is_read.idle(now) <= idle_max {
            return Ok(());
        }
        let timed_out = rustix::io::Errno::TIMEDOUT.raw_os_error();
        Err(if pending {
            Failure::Refused(ErrorCode::WRITE, timed_out)
        } else {
            Failure::Refused(ErrorCode::EXPIRED, 0)
        })
    }

    /// Whether the client would go faster than it may. No stream does; of datagrams that are not read their numbers tell.
    fn check_rate(&self, now: Instant) -> Result<(), Failure> {
        let Some(most_bps) = self.shared.config.limits.rate_max_bps else { return Ok(()) };
        let elapsed = now.saturating_duration_since(self.begin);
        let (each, parameters) = (self.parameters().write_bytes as u64, self.parameters());
        let datagrams = parameters.protocol == Protocol::Udp;
        // Who announced a rate sends so much at once, however slowly it goes on; what TCP carries is throttled.
        let at_once = parameters.rate_bps.map_or(0, |_| parameters.burst.saturating_mul(self.streams.len() as u64));
        let window = if datagrams { DATAGRAM_RATE_WINDOW } else { RATE_BURST };
        let carried = u128::from(most_bps / 8) * window.as_millis() / 1000;
        let at_once = at_once.saturating_mul(each).min(u64::try_from(carried).unwrap_or(u64::MAX));
        let mut above = throttle::is_exceeded(most_bps, self.carried().saturating_sub(at_once), elapsed);
        if datagrams && elapsed >= DATAGRAM_RATE_WINDOW {
            let packets = self.streams.iter().map(|stream| stream.tally.count().packets).fold(0, u64::saturating_add);
            above |= throttle::is_above(most_bps, packets.saturating_mul(each).saturating_sub(at_once), elapsed);
        }
        if above { Err(Failure::Refused(ErrorCode::TOTAL_RATE, 0)) } else { Ok(()) }
    }

    fn end_threads(&mut self, sends: bool) {
        self.test.stop(sends);
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
        self.test.abandon();
        self.end_threads(true);
        self.end_threads(false);
    }
}
