//! What happens at a server as NDJSON: one line an event, units in the names. A thread of its own writes; whoever has something
//! to say never waits for it, and what there is no room for is counted.

use std::{
    collections::VecDeque,
    io::{self, Write},
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use serde_json::{Map, Value, json};

use crate::defaults::{LOG_BYTES_MAX, LOG_STACK_BYTES};

/// Where lines go; nowhere, if nobody asked for them.
#[derive(Clone, Default)]
pub struct Log(Option<Arc<Handle>>);

/// When the last one goes, the thread ends once it has written what there is.
struct Handle(Arc<Shared>);

#[derive(Default)]
struct Shared {
    queue: Mutex<Queue>,
    changed: Condvar,
}

/// Lines that are not written yet.
#[derive(Default)]
struct Queue {
    lines: VecDeque<Line>,
    bytes: usize,
    /// Lines that there was no room for, since one was written that says so.
    dropped: u64,
    /// Lines that could not be written; reported with the next one.
    failed: u64,
    writing: bool,
    over: bool,
}

struct Line {
    text: Vec<u8>,
    /// Lines that are missing without it.
    stands_for: u64,
}

impl Log {
    /// Lines go to a writer, each with one call.
    ///
    /// # Errors
    /// If there can be no more threads.
    pub fn to(writer: impl Write + Send + 'static) -> io::Result<Self> {
        let shared = Arc::new(Shared::default());
        let its = Arc::clone(&shared);
        thread::Builder::new().name("log".into()).stack_size(LOG_STACK_BYTES).spawn(move || its.write_all(writer))?;
        Ok(Self(Some(Arc::new(Handle(shared)))))
    }

    /// Whether anybody reads it.
    #[must_use]
    pub fn is_wanted(&self) -> bool {
        self.0.is_some()
    }

    /// Has an event written, with its time in front of what belongs to it, if there is room for it.
    pub fn write(&self, event: &str, fields: Value) {
        let Some(handle) = &self.0 else { return };
        let text = line(event, fields);
        let mut queue = handle.0.lock();
        queue.take(text, LOG_BYTES_MAX);
        drop(queue);
        handle.0.changed.notify_all();
    }

    /// Waits until everything is written, at most so long.
    pub fn flush(&self, longest: Duration) {
        let Some(handle) = &self.0 else { return };
        let unwritten = |queue: &mut Queue| queue.writing || !queue.is_empty();
        // Whether it was in time changes nothing.
        drop(handle.0.changed.wait_timeout_while(handle.0.lock(), longest, unwritten));
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.0.lock().over = true;
        self.0.changed.notify_all();
    }
}

impl Shared {
    fn write_all(&self, mut writer: impl Write) {
        loop {
            let idle = |queue: &mut Queue| queue.is_empty() && !queue.over;
            let mut queue = self.changed.wait_while(self.lock(), idle).unwrap_or_else(PoisonError::into_inner);
            let Some(line) = queue.next() else { return };
            queue.writing = true;
            drop(queue);
            let written = writer.write_all(&line.text).and_then(|()| writer.flush());
            let mut queue = self.lock();
            queue.writing = false;
            if written.is_err() {
                // The disk may be full, the reader gone: the next one that comes is tried.
                queue.failed += line.stands_for;
            }
            drop(queue);
            self.changed.notify_all();
        }
    }

    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Queue {
    /// A line, if there is room for it. After one that was dropped there is none until half of it is free again, so that
    /// what is missing is missing together.
    fn take(&mut self, text: Vec<u8>, most: usize) {
        let most = if self.dropped > 0 { most / 2 } else { most };
        if self.bytes.saturating_add(text.len()) > most {
            self.dropped += 1;
            return;
        }
        self.dropped += std::mem::take(&mut self.failed);
        self.push_dropped();
        self.push(Line { text, stands_for: 1 });
    }

    /// What is to be written now: what was dropped at the end is reported once all before it is written.
    fn next(&mut self) -> Option<Line> {
        if self.lines.is_empty() {
            self.push_dropped();
        }
        let line = self.lines.pop_front()?;
        self.bytes -= line.text.len();
        Some(line)
    }

    fn push_dropped(&mut self) {
        if self.dropped > 0 {
            let stands_for = std::mem::take(&mut self.dropped);
            self.push(Line { text: line("log_dropped", json!({ "lines": stands_for })), stands_for });
        }
    }

    fn push(&mut self, line: Line) {
        self.bytes += line.text.len();
        self.lines.push_back(line);
    }

    fn is_empty(&self) -> bool {
        self.lines.is_empty() && self.dropped == 0
    }
}

fn line(event: &str, fields: Value) -> Vec<u8> {
    let mut line = Map::new();
    line.insert("event".into(), event.into());
    line.insert("at_unix_ms".into(), json!(unix_ms()));
    if let Value::Object(fields) = fields {
        line.extend(fields);
    }
    let mut text = Value::Object(line).to_string();
    text.push('\n');
    text.into_bytes()
}

fn unix_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use std::{io::Read, time::Instant};

    use super::*;

    #[test]
    fn what_there_is_no_room_for_is_counted_where_it_is_missing() {
        let mut queue = Queue::default();
        for number in 0..10_u8 {
            queue.take(vec![number; 10], 50);
        }
        assert_eq!((queue.lines.len(), queue.dropped, queue.bytes), (5, 5, 50));
        for _ in 0..2 {
            queue.next();
            queue.take(vec![b'n'; 10], 50);
        }
        assert_eq!(queue.dropped, 7, "none until half of it is free");
        queue.next();
        queue.next();
        queue.take(vec![b'y'; 10], 50);
        assert_eq!(queue.dropped, 0);
        let rest: Vec<_> = std::iter::from_fn(|| queue.next()).map(|line| line.text).collect();
        assert_eq!(rest.len(), 3);
        let entry: Value = serde_json::from_slice(&rest[1]).unwrap();
        assert_eq!((&entry["event"], &entry["lines"]), (&json!("log_dropped"), &json!(7)));
        assert_eq!((&rest[2][..], queue.bytes), (&[b'y'; 10][..], 0));
    }

    #[test]
    fn a_line_that_cannot_be_written_is_told_with_the_next_one() {
        let mut queue = Queue { failed: 2, ..Queue::default() };
        assert!(queue.is_empty(), "nothing is tried again and again");
        queue.take(b"next".to_vec(), 1000);
        let rest: Vec<_> = std::iter::from_fn(|| queue.next()).map(|line| line.stands_for).collect();
        assert_eq!(rest, [2, 1]);
    }

    /// A pipe that nobody reads, until it is read.
    #[test]
    fn a_pipe_that_nobody_reads_holds_nobody_up_and_then_says_what_is_missing() {
        let (mut reader, writer) = io::pipe().unwrap();
        let log = Log::to(writer).unwrap();
        let begin = Instant::now();
        let lines = LOG_BYTES_MAX / 1000 * 2;
        for number in 0..lines {
            log.write("interval", json!({ "number": number, "text": "x".repeat(1000) }));
        }
        log.flush(Duration::from_millis(100));
        assert!(begin.elapsed() < Duration::from_secs(20));
        let reading = thread::spawn(move || {
            let mut text = String::new();
            reader.read_to_string(&mut text).unwrap();
            text
        });
        log.flush(Duration::from_secs(20));
        drop(log);
        let text = reading.join().unwrap();
        let entries: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let dropped: Vec<_> = entries.iter().filter(|line| line["event"] == "log_dropped").collect();
        assert_eq!(dropped.len(), 1);
        assert_eq!(entries.len() - 1 + usize::try_from(dropped[0]["lines"].as_u64().unwrap()).unwrap(), lines);
    }
}
