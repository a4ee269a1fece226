//! The life of a link: made, reported on, taken down.

use std::{
    io,
    num::NonZeroU64,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, ScopedJoinHandle},
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use fastrand::Rng;
use rustix::{
    event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll},
    io::Errno,
    thread::set_current_timer_slack,
};
use sys::take_realtime_priority;
use wire::{DirectionCounters, EmulationCounters, EmulationEvent};

use crate::{
    device::Device,
    direction::{Clock, Direction, SharedPaths, Stop},
    error::EmulationError,
    link::Link,
    output::Output,
    paths::Paths,
    request::LinkRequest,
};

/// Emulates one link, as `line` (an [`Emulation`](wire::Emulation) in JSON) asks, until `input` reaches its end. Tells
/// [`EmulationEvent`]s on `output`, one JSON object a line.
///
/// # Errors
/// When the request is not one, a device cannot be made, or one is gone. The error has been reported on `output` by then.
pub fn emulate(line: &str, input: BorrowedFd<'_>, output: impl AsFd) -> Result<(), EmulationError> {
    let mut output = Output::new(output);
    let result = LinkRequest::parse(line).and_then(|request| Emulator::make(&request)?.run(input, &mut output));
    if let Err(error) = &result {
        // Whoever does not listen any more has the exit code.
        let _ = output.report_last(&EmulationEvent::Failed { message: error.to_string() });
    }
    result
}

struct Emulator {
    devices: [Device; 2],
    paths: [Arc<SharedPaths>; 2],
    report_interval: Duration,
    clock: Clock,
    stop_requested: AtomicBool,
    /// Wakes the directions.
    stop: OwnedFd,
    /// Wakes the reporter when a direction has ended.
    ended: OwnedFd,
}

impl Emulator {
    fn make(request: &LinkRequest) -> Result<Self, EmulationError> {
        let [first, second] = &request.devices;
        Ok(Self {
            devices: [Device::make(first, request.mtu_bytes)?, Device::make(second, request.mtu_bytes)?],
            paths: paths_of(request),
            report_interval: request.report_interval,
            clock: Clock::start(),
            stop_requested: AtomicBool::new(false),
            stop: event()?,
            ended: event()?,
        })
    }

    fn run(&self, input: BorrowedFd<'_>, output: &mut Output<impl AsFd>) -> Result<(), EmulationError> {
        thread::scope(|scope| {
            let directions = [0, 1].map(|index| {
                let work = move || self.direct(index);
                thread::Builder::new().name(format!("direction-{index}")).spawn_scoped(scope, work)
            });
            // A link with one direction would be no link: why there is no thread is what `join` says.
            let both = directions.iter().all(Result::is_ok);
            let reported = if both { self.report_until_over(input, output) } else { Ok(()) };
            self.stop_requested.store(true, Ordering::Relaxed);
            signal(self.stop.as_fd());
            let ended = directions.into_iter().enumerate().map(|(index, thread)| join(index, thread));
            let ended = ended.fold(Ok(()), Result::and);
            let last = output.report_last(&self.counters());
            ended.and(reported).and(last)
        })
    }

    fn direct(&self, index: usize) -> Result<(), EmulationError> {
        let _end_signal = SignalOnDrop(self.ended.as_fd());
        // Timers may otherwise be 50 µs late to save power.
        set_current_timer_slack(NonZeroU64::new(1)).map_err(system("set the timer slack"))?;
        // A path does not get slower when its hosts are busy. Whether it was permitted shows in the late packets.
        let _ = take_realtime_priority();
        let [from, to] = [&self.devices[index], &self.devices[1 - index]];
        let stop = Stop { requested: &self.stop_requested, wake: self.stop.as_fd() };
        Direction::new(from, to, self.paths[index].clone(), self.clock, stop).run()
    }

    /// Until the input ends, a direction ends, or a namespace is gone.
    fn report_until_over(&self, input: BorrowedFd<'_>, output: &mut Output<impl AsFd>) -> Result<(), EmulationError> {
        // Reading the counters takes locks that the directions wait for: whoever holds one must not be kept from running.
        let _ = take_realtime_priority();
        output.report(&EmulationEvent::Ready)?;
        let mut due = Instant::now() + self.report_interval;
        loop {
            let room = output.waits().map(|file| PollFd::from_borrowed_fd(file, PollFlags::OUT));
            let inputs = [input, self.ended.as_fd()].map(|file| PollFd::from_borrowed_fd(file, PollFlags::IN));
            let mut files: Vec<PollFd<'_>> = inputs.into_iter().chain(room).collect();
            let left = due.saturating_duration_since(Instant::now());
            match poll(&mut files, Some(&Timespec::try_from(left).unwrap_or_default())) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(error) => return Err(system("wait for standard input")(error)),
            }
            let [input_is_ready, direction_ended] = [&files[0], &files[1]].map(|file| !file.revents().is_empty());
            if direction_ended || (input_is_ready && is_at_end(input)) {
                return Ok(());
            }
            let whole = output.go_on()?;
            if Instant::now() >= due {
                due = (due + self.report_interval).max(Instant::now());
                for device in &self.devices {
                    device.check_namespace()?;
                }
                if whole {
                    output.report(&self.counters())?;
                }
            }
        }
    }

    fn counters(&self) -> EmulationEvent {
        let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let at_unix_ns = i64::try_from(since_1970.as_nanos()).unwrap_or(i64::MAX);
        let [forward, backward] = [&self.paths[0], &self.paths[1]].map(|paths| paths.lock().report(self.clock.now()));
        let mut paths = forward.into_iter().zip(backward).map(<[DirectionCounters; 2]>::from);
        let mut directions = paths.next().unwrap_or_default();
        for (counters, device) in directions.iter_mut().zip(&self.devices) {
            counters.device_dropped_packets = device.dropped_packets();
        }
        let further = paths.collect();
        EmulationEvent::Counters(Box::new(EmulationCounters { at_unix_ns, directions, further }))
    }
}

/// Of both directions. A seed gives the first path what it gave before there were several.
fn paths_of(request: &LinkRequest) -> [Arc<SharedPaths>; 2] {
    let mut random = Rng::with_seed(request.seed);
    let mut links = [Vec::new(), Vec::new()];
    for path in &request.paths {
        for (links, settings) in links.iter_mut().zip(path) {
            links.push(Link::new(*settings, random.fork()));
        }
    }
    links.map(|links| Arc::new(SharedPaths::new(Paths::new(links, request.dscps.clone(), random.u64(..)))))
}

struct SignalOnDrop<'a>(BorrowedFd<'a>);

impl Drop for SignalOnDrop<'_> {
    fn drop(&mut self) {
        signal(self.0);
    }
}

type DirectionThread<'scope> = io::Result<ScopedJoinHandle<'scope, Result<(), EmulationError>>>;

fn join(index: usize, thread: DirectionThread<'_>) -> Result<(), EmulationError> {
    match thread {
        Ok(thread) => thread.join().unwrap_or(Err(EmulationError::Panicked(index))),
        Err(source) => Err(EmulationError::System { operation: "start a thread", source }),
    }
}

/// What comes after the request has no meaning; that nothing can come any more ends the link.
fn is_at_end(input: BorrowedFd<'_>) -> bool {
    let mut ignored = [0; 4096];
    match rustix::io::read(input, &mut ignored) {
        Ok(read) => read == 0,
        Err(error) => !matches!(error, Errno::INTR | Errno::AGAIN),
    }
}

fn event() -> Result<OwnedFd, EmulationError> {
    eventfd(0, EventfdFlags::CLOEXEC).map_err(system("make an eventfd"))
}

fn signal(event: BorrowedFd<'_>) {
    // It cannot fail: the counter is far from its end.
    let _ = rustix::io::write(event, &1_u64.to_ne_bytes());
}

fn system(operation: &'static str) -> impl Fn(Errno) -> EmulationError {
    move |error| EmulationError::System { operation, source: error.into() }
}
