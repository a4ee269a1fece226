//! The way back to the controller: whole frames in order, written by a thread of their own, so that a slow channel
//! never holds up whoever keeps a trial's time.

use std::{
    collections::VecDeque,
    io::{self, Write},
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread,
    time::Duration,
};

use traffic::{Outbox, SampleBatch};
use wire::{Event, FrameKind, MAGIC};

/// Samples wait for the channel when this much is queued, in bytes. Only the thread of a trial that is over waits.
const SAMPLES_QUEUED_BYTES: usize = 8 << 20;
/// Requests wait when this much is queued, in bytes: more than samples alone can be.
const REPLIES_QUEUED_BYTES: usize = SAMPLES_QUEUED_BYTES + (4 << 20);
/// How long they wait for a controller that takes nothing.
const REPLIES_TAKEN_WITHIN: Duration = Duration::from_secs(30);
/// Progress is left out when this much is queued, in bytes: it would be old when it comes.
const PROGRESS_QUEUED_BYTES: usize = 64 << 10;

/// A queue of frames and the thread that writes them.
pub struct FrameWriter {
    queue: Arc<Queue>,
}

#[derive(Default)]
struct Queue {
    waiting: Mutex<Waiting>,
    changed: Condvar,
}

#[derive(Default)]
struct Waiting {
    frames: VecDeque<Vec<u8>>,
    /// Of all frames, the one that is being written included.
    bytes: usize,
    /// The controller is gone: nobody is left to report to.
    closed: bool,
}

impl FrameWriter {
    /// Opens the stream and starts its thread, which ends with the process.
    ///
    /// # Errors
    /// When the stream takes nothing, or no thread can be started.
    pub fn open(mut output: impl Write + Send + 'static) -> io::Result<Self> {
        output.write_all(MAGIC)?;
        output.flush()?;
        let queue = Arc::new(Queue::default());
        let held = queue.clone();
        thread::Builder::new().name("outbox".into()).spawn(move || held.write_to(output))?;
        Ok(Self { queue })
    }

    /// Waits until there is room for the reply to another request.
    ///
    /// # Errors
    /// When the controller goes on asking, and takes nothing.
    pub fn wait_for_room(&self) -> io::Result<()> {
        self.wait_for_room_within(REPLIES_TAKEN_WITHIN)
    }

    fn wait_for_room_within(&self, timeout: Duration) -> io::Result<()> {
        let crowded = |waiting: &mut Waiting| waiting.bytes > REPLIES_QUEUED_BYTES && !waiting.closed;
        let waited = self.queue.changed.wait_timeout_while(self.queue.lock(), timeout, crowded);
        if waited.unwrap_or_else(PoisonError::into_inner).1.timed_out() {
            let message = "the controller asks on and on, and does not read what it is told";
            return Err(io::Error::new(io::ErrorKind::TimedOut, message));
        }
        Ok(())
    }

    /// Waits until everything is written, at most for `timeout`.
    pub fn flush(&self, timeout: Duration) {
        let waiting = self.queue.lock();
        // Whether it was in time makes no difference: the session is over either way.
        let _ = self.queue.changed.wait_timeout_while(waiting, timeout, |waiting| waiting.bytes > 0);
    }
}

impl Outbox for FrameWriter {
    fn event(&self, event: Event) {
        if matches!(event, Event::Progress(_)) && self.queue.lock().bytes > PROGRESS_QUEUED_BYTES {
            return;
        }
        let json = serde_json::to_vec(&event).unwrap_or_default();
        self.queue.push(FrameKind::Json, &json);
    }

    fn samples(&self, stream: SampleBatch) {
        let crowded = |waiting: &mut Waiting| waiting.bytes > SAMPLES_QUEUED_BYTES && !waiting.closed;
        drop(self.queue.changed.wait_while(self.queue.lock(), crowded));
        self.queue.push(FrameKind::Arrow, &stream.0);
    }
}

impl Queue {
    fn push(&self, kind: FrameKind, payload: &[u8]) {
        // A frame over the limit cannot be: batches are of bounded size, and no message comes near it.
        let Ok(frame) = wire::encode(kind, payload) else { return };
        let mut waiting = self.lock();
        if !waiting.closed {
            waiting.bytes += frame.len();
            waiting.frames.push_back(frame);
            self.changed.notify_all();
        }
    }

    fn write_to(&self, mut output: impl Write) {
        loop {
            let nothing = |waiting: &mut Waiting| waiting.frames.is_empty();
            let mut waiting = self.changed.wait_while(self.lock(), nothing).unwrap_or_else(PoisonError::into_inner);
            let frame = waiting.frames.pop_front().unwrap_or_default();
            drop(waiting);
            let written = output.write_all(&frame).and_then(|()| output.flush());
            let mut waiting = self.lock();
            waiting.bytes -= frame.len();
            if written.is_err() {
                *waiting = Waiting { closed: true, ..Waiting::default() };
            }
            self.changed.notify_all();
            if waiting.closed {
                return;
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        // The queue is never left half-changed.
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::{os::unix::net::UnixStream, sync::mpsc::channel};

    use super::*;
    use wire::{Progress, Role};

    fn progress() -> Event {
        Event::Progress(Progress { trial: "t".into(), role: Role::Sink, elapsed_us: 1, bytes: 1 })
    }

    #[test]
    fn a_channel_that_takes_nothing_holds_up_no_event() {
        let (stuck, _reader) = UnixStream::pair().unwrap();
        let writer = Arc::new(FrameWriter::open(stuck).unwrap());
        writer.samples(SampleBatch(vec![0; SAMPLES_QUEUED_BYTES]));
        writer.event(Event::Refused { message: "kept".into() });
        let before = writer.queue.lock().bytes;
        for _ in 0..1000 {
            writer.event(progress());
        }
        assert_eq!(writer.queue.lock().bytes, before);
    }

    #[test]
    fn a_controller_that_asks_and_reads_nothing_is_left() {
        let (stuck, _reader) = UnixStream::pair().unwrap();
        let writer = FrameWriter::open(stuck).unwrap();
        writer.samples(SampleBatch(vec![0; SAMPLES_QUEUED_BYTES]));
        assert!(writer.wait_for_room_within(Duration::ZERO).is_ok(), "samples alone hold nothing up");
        writer.event(Event::Refused { message: "a".repeat(REPLIES_QUEUED_BYTES) });
        let error = writer.wait_for_room_within(Duration::from_millis(10)).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    }

    #[test]
    fn samples_wait_for_room_and_are_let_go_when_the_controller_leaves() {
        let (stuck, reader) = UnixStream::pair().unwrap();
        let writer = Arc::new(FrameWriter::open(stuck).unwrap());
        writer.samples(SampleBatch(vec![0; SAMPLES_QUEUED_BYTES + 1]));
        let (sender, receiver) = channel();
        let held = writer.clone();
        thread::spawn(move || {
            held.samples(SampleBatch(vec![0; 1]));
            sender.send(()).unwrap();
        });
        assert!(receiver.recv_timeout(Duration::from_millis(50)).is_err());
        drop(reader);
        assert!(receiver.recv_timeout(Duration::from_secs(10)).is_ok());
    }
}
