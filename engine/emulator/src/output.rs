//! Where events go, one JSON object a line: whoever does not read them holds nothing up.

use std::{
    os::fd::{AsFd, BorrowedFd},
    time::{Duration, Instant},
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::Errno,
};
use wire::EmulationEvent;

use crate::{defaults::LAST_LINE_TIMEOUT, error::EmulationError};

/// What a pipe with room takes without waiting (`PIPE_BUF`).
const PIECE_BYTES: usize = 4096;

/// Where events go.
pub struct Output<W> {
    to: W,
    /// What has not been taken of the last line.
    rest: Vec<u8>,
}

impl<W: AsFd> Output<W> {
    /// To a file that takes as much as it has room for.
    pub fn new(to: W) -> Self {
        Self { to, rest: Vec::new() }
    }

    /// Reports an event, unless the last one is not whole.
    ///
    /// # Errors
    /// Nobody can read it.
    pub fn report(&mut self, event: &EmulationEvent) -> Result<(), EmulationError> {
        if self.go_on()? {
            self.begin(event);
            self.go_on()?;
        }
        Ok(())
    }

    /// Goes on with what was begun, as far as there is room; returns whether nothing is left of it.
    ///
    /// # Errors
    /// Nobody can read it.
    pub fn go_on(&mut self) -> Result<bool, EmulationError> {
        while !self.rest.is_empty() && self.takes(Duration::ZERO) {
            let piece = &self.rest[..self.rest.len().min(PIECE_BYTES)];
            match rustix::io::write(&self.to, piece) {
                Ok(taken) => drop(self.rest.drain(..taken)),
                Err(Errno::INTR | Errno::AGAIN) => break,
                Err(error) => {
                    let operation = "write to standard output";
                    return Err(EmulationError::System { operation, source: error.into() });
                }
            }
        }
        Ok(self.rest.is_empty())
    }

    /// Where to wait for room, while something is left.
    pub fn waits(&self) -> Option<BorrowedFd<'_>> {
        (!self.rest.is_empty()).then(|| self.to.as_fd())
    }

    /// Reports an event after all others, if those are read soon.
    ///
    /// # Errors
    /// Nobody can read it.
    pub fn report_last(&mut self, event: &EmulationEvent) -> Result<(), EmulationError> {
        let deadline = Instant::now() + LAST_LINE_TIMEOUT;
        let mut begun = false;
        loop {
            if self.go_on()? {
                if begun {
                    return Ok(());
                }
                self.begin(event);
                begun = true;
            }
            if !self.takes(deadline.saturating_duration_since(Instant::now())) && Instant::now() >= deadline {
                return Ok(());
            }
        }
    }

    fn begin(&mut self, event: &EmulationEvent) {
        self.rest = serde_json::to_vec(event).unwrap_or_default();
        self.rest.push(b'\n');
    }

    /// Whether there is room without waiting longer than this.
    fn takes(&self, timeout: Duration) -> bool {
        let mut files = [PollFd::from_borrowed_fd(self.to.as_fd(), PollFlags::OUT)];
        poll(&mut files, Some(&Timespec::try_from(timeout).unwrap_or_default())).is_ok_and(|ready| ready > 0)
    }
}

#[cfg(test)]
mod tests {
    use std::{
        io::{BufRead, BufReader},
        thread,
    };

    use super::*;

    fn event(bytes: usize) -> EmulationEvent {
        EmulationEvent::Failed { message: "x".repeat(bytes) }
    }

    #[test]
    fn a_reader_that_stalls_holds_nothing_up_and_gets_whole_lines() {
        let (reader, writer) = std::io::pipe().unwrap();
        let mut output = Output::new(writer);
        for _ in 0..3 {
            // More than the pipe holds.
            output.report(&event(200_000)).unwrap();
        }
        assert!(output.waits().is_some());
        let lines = thread::spawn(move || {
            let lines = BufReader::new(reader).lines().map(Result::unwrap);
            lines.map(|line| serde_json::from_str(&line).unwrap()).collect::<Vec<EmulationEvent>>()
        });
        output.report_last(&event(3)).unwrap();
        drop(output);
        assert_eq!(lines.join().unwrap(), [event(200_000), event(3)], "reports are left out while one is not whole");
    }

    #[test]
    fn the_last_line_is_not_waited_for_without_end() {
        let (_reader, writer) = std::io::pipe().unwrap();
        let mut output = Output::new(writer);
        output.report(&event(200_000)).unwrap();
        let begun = Instant::now();
        output.report_last(&event(3)).unwrap();
        assert!(begun.elapsed() < LAST_LINE_TIMEOUT + Duration::from_secs(5));
    }

    #[test]
    fn a_reader_that_is_gone_is_an_error() {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        assert!(Output::new(writer).report(&event(3)).is_err());
    }
}
