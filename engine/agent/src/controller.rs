//! What the controller says, and whether it is still there to say anything.

use std::{
    io::{self, Read},
    sync::mpsc::{Receiver, RecvTimeoutError, sync_channel},
    thread,
    time::Duration,
};

use wire::{FrameKind, HEADER_BYTES, Request};

/// How long a controller that has said `alive` may say nothing: as many waits of [`WAIT`] in a row. They are counted, not
/// timed: an engine that was itself stopped, or starved of CPU, first reads what has come meanwhile.
const SILENT_WAITS: u32 = 30;
const WAIT: Duration = Duration::from_secs(1);

/// Of what is said of a frame that is no request.
const SHOWN_CHARACTERS: usize = 1_000;

/// An inner error for a frame that is no request; `None` at the end of the input.
type Said = io::Result<Option<Result<Request, String>>>;

/// The requests of a session, in order.
pub struct Requests {
    incoming: Receiver<Said>,
    wait: Duration,
    /// The controller has said that it says something now and then.
    watched: bool,
}

impl Requests {
    /// Reads `input` on a thread of its own, which ends with it or with the process.
    ///
    /// # Errors
    /// When no thread can be started.
    pub fn read(input: impl Read + Send + 'static) -> io::Result<Self> {
        Self::read_waiting(input, WAIT)
    }

    fn read_waiting(mut input: impl Read + Send + 'static, wait: Duration) -> io::Result<Self> {
        // One at a time: requests that nobody takes wait in the pipe.
        let (sender, incoming) = sync_channel(0);
        thread::Builder::new().name("requests".into()).spawn(move || {
            loop {
                let said = read_request(&mut input);
                let more = matches!(said, Ok(Some(_)));
                if sender.send(said).is_err() || !more {
                    return;
                }
            }
        })?;
        Ok(Self { incoming, wait, watched: false })
    }

    /// Waits for the next request: for ever, until the controller has said `alive` for the first time.
    ///
    /// # Errors
    /// When the stream breaks or carries something other than frames, or the controller says nothing any more.
    pub fn next(&mut self) -> Said {
        let mut silent = 0;
        while !self.watched || silent < SILENT_WAITS {
            match self.incoming.recv_timeout(self.wait) {
                Ok(said) => {
                    self.watched |= matches!(said, Ok(Some(Ok(Request::Alive))));
                    return said;
                }
                Err(RecvTimeoutError::Timeout) => silent += 1,
                Err(RecvTimeoutError::Disconnected) => return Ok(None),
            }
        }
        let seconds = (self.wait * SILENT_WAITS).as_secs();
        let message =
            format!("the controller has said nothing for {seconds} s: it is gone, or cannot be reached any more");
        Err(io::Error::new(io::ErrorKind::TimedOut, message))
    }
}

fn read_request(input: &mut impl Read) -> Said {
    let mut header = [0; HEADER_BYTES];
    match input.read_exact(&mut header) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        Err(error) => return Err(error),
    }
    let (kind, length) = wire::decode_header(header).map_err(io::Error::other)?;
    let mut payload = Vec::new();
    // Grows with what really comes, not with what was announced.
    if input.take(length as u64).read_to_end(&mut payload)? < length {
        return Ok(None);
    }
    Ok(Some(match kind {
        // The error quotes what was sent, which may be long.
        FrameKind::Json => serde_json::from_slice(&payload)
            .map_err(|error| format!("not a request: {error}").chars().take(SHOWN_CHARACTERS).collect()),
        FrameKind::Arrow => Err("a controller does not send samples".into()),
    }))
}

#[cfg(test)]
mod tests {
    use std::{io::Write, os::unix::net::UnixStream, time::Instant};

    use super::*;

    const SHORT: Duration = Duration::from_millis(20);
    const SILENCE: Duration = Duration::from_millis(20 * 30);

    fn frame(request: &Request) -> Vec<u8> {
        wire::encode(FrameKind::Json, &serde_json::to_vec(request).unwrap()).unwrap()
    }

    fn connected() -> (UnixStream, Requests) {
        let (controller, engine) = UnixStream::pair().unwrap();
        (controller, Requests::read_waiting(engine, SHORT).unwrap())
    }

    #[test]
    fn a_controller_that_falls_silent_ends_the_session() {
        let (mut controller, mut requests) = connected();
        controller.write_all(&frame(&Request::Alive)).unwrap();
        assert!(matches!(requests.next(), Ok(Some(Ok(Request::Alive)))));
        let begin = Instant::now();
        assert_eq!(requests.next().unwrap_err().kind(), io::ErrorKind::TimedOut);
        assert!(begin.elapsed() >= SILENCE);
    }

    #[test]
    fn any_request_keeps_the_session() {
        let (mut controller, mut requests) = connected();
        controller.write_all(&frame(&Request::Alive)).unwrap();
        let saying = thread::spawn(move || {
            for number in 0..6 {
                thread::sleep(SILENCE / 3);
                controller.write_all(&frame(&Request::Clock { number })).unwrap();
            }
            controller
        });
        let mut heard = 0;
        while heard < 7 {
            assert!(requests.next().unwrap().is_some());
            heard += 1;
        }
        drop(saying.join().unwrap());
        assert!(requests.next().unwrap().is_none());
    }

    #[test]
    fn who_never_said_to_be_there_may_be_silent() {
        let (mut controller, mut requests) = connected();
        let saying = thread::spawn(move || {
            thread::sleep(SILENCE * 2);
            controller.write_all(&frame(&Request::Clock { number: 1 })).unwrap();
        });
        assert!(matches!(requests.next(), Ok(Some(Ok(Request::Clock { number: 1 })))));
        saying.join().unwrap();
    }
}
