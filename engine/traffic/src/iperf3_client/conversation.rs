//! The client's part of the control connection to an iperf3 server. Every wait has a deadline, and hears of a stop.

use std::{
    io::{self, Read, Write},
    net::{SocketAddr, TcpStream},
    time::{Duration, Instant},
};

use iperf3::{
    Cookie, LENGTH_BYTES, Params, Results, ServerError, State, encode_frame, frame_length, limits::RESULTS_BYTES_MAX,
    parse_json,
};
use wire::Phase;

use super::{server::Server, trouble::Trouble};
use crate::{
    TrialError,
    defaults::{IPERF3_BUSY_PAUSE, IPERF3_BUSY_PAUSE_MAX, IPERF3_REFUSED_FOR, IPERF3_TIMEOUT},
    halt::Halt,
};

/// How much of a peer's results is read at once: memory grows with what comes, not with what was announced.
const CHUNK_BYTES: usize = 64 << 10;

/// A control connection on which the server has taken the test.
pub struct Conversation {
    stream: TcpStream,
    remote: SocketAddr,
    phase: Phase,
    /// The server has reported that all streams are established.
    begun: bool,
}

/// The outcome of one attempt to be let in.
enum Entry {
    Open(Conversation),
    /// It says so.
    Busy,
    /// Without a word.
    HungUp,
    /// Nobody listens, as between two tests of a server.
    Refused(io::Error),
}

impl Conversation {
    /// Connects to a server until it takes the test: one that is busy is tried again, ever more rarely, for `busy_timeout`.
    ///
    /// # Arguments
    /// `params`: the parameters to request, made anew for each attempt, since a login holds the time.
    pub fn open(
        server: &Server,
        cookie: &Cookie,
        params: impl Fn() -> Result<Params, TrialError>,
        busy_timeout: Duration,
        halt: &Halt<'_>,
    ) -> Result<Self, TrialError> {
        let began = Instant::now();
        let (mut pause, mut busy) = (IPERF3_BUSY_PAUSE, false);
        loop {
            let patience = busy_timeout.saturating_sub(began.elapsed()).max(IPERF3_TIMEOUT);
            let entry = Self::enter(server, cookie, patience, halt)?;
            busy |= matches!(entry, Entry::Busy);
            match entry {
                Entry::Open(mut conversation) => {
                    conversation.request(&params()?, patience, halt)?;
                    return Ok(conversation);
                }
                Entry::Refused(source) if began.elapsed() > IPERF3_REFUSED_FOR => {
                    return Err(TrialError::Iperf3Connect { address: server.remote, source });
                }
                Entry::Refused(_) => halt.sleep(IPERF3_BUSY_PAUSE)?,
                Entry::Busy | Entry::HungUp if began.elapsed() + pause < busy_timeout => halt.sleep(pause)?,
                Entry::Busy | Entry::HungUp => {
                    let lasted = began.elapsed();
                    let trouble = Box::new(if busy { Trouble::Busy(lasted) } else { Trouble::HungUp(lasted) });
                    return Err(TrialError::Iperf3 { address: server.remote, phase: Phase::Connect, trouble });
                }
            }
            pause = (pause * 2).min(IPERF3_BUSY_PAUSE_MAX);
        }
    }

    /// Connects once. A server that has a test either says so, or closes the connection without having read the cookie.
    fn enter(server: &Server, cookie: &Cookie, patience: Duration, halt: &Halt<'_>) -> Result<Entry, TrialError> {
        let stream = match server.connect() {
            Ok(stream) => stream,
            Err(TrialError::Iperf3Connect { source, .. }) if source.kind() == io::ErrorKind::ConnectionRefused => {
                return Ok(Entry::Refused(source));
            }
            Err(error) => return Err(error),
        };
        let mut conversation = Self { stream, remote: server.remote, phase: Phase::Connect, begun: false };
        if conversation.stream.write_all(cookie.bytes()).is_err() {
            return Ok(Entry::HungUp);
        }
        match conversation.next_state("its PARAM_EXCHANGE", patience, halt) {
            Ok(State::ParamExchange) => Ok(Entry::Open(conversation)),
            Ok(State::AccessDenied) => Ok(Entry::Busy),
            Ok(other) => Err(conversation.unexpected("its PARAM_EXCHANGE", format!("{other:?}"))),
            Err(TrialError::Iperf3 { trouble, .. }) if matches!(*trouble, Trouble::Lost { .. }) => Ok(Entry::HungUp),
            Err(error) => Err(error),
        }
    }

    /// How long a packet to the server and back takes, as far as the kernel knows.
    pub fn round_trip(&self) -> Duration {
        let rtt_us = sys::tcp_info(&self.stream).ok().and_then(|info| info.get("rtt_us"));
        Duration::from_micros(rtt_us.unwrap_or(0))
    }

    /// Waits for one state, and takes nothing else.
    pub fn expect(
        &mut self,
        state: State,
        awaited: &'static str,
        timeout: Duration,
        halt: &Halt<'_>,
    ) -> Result<(), TrialError> {
        match self.next_state(awaited, timeout, halt)? {
            said if said == state => Ok(()),
            State::AccessDenied => Err(self.trouble(Trouble::Busy(Duration::ZERO))),
            said => Err(self.unexpected(awaited, format!("{said:?}"))),
        }
    }

    /// Whether the server has reported that all streams are established. It may do so before its last reply over datagrams
    /// is received.
    pub fn begun(&mut self) -> Result<bool, TrialError> {
        let awaited = "its TEST_START";
        match if self.begun { Some(State::TestStart) } else { self.poll(awaited)? } {
            None => Ok(false),
            Some(State::TestStart) => {
                self.begun = true;
                Ok(true)
            }
            Some(said) => Err(self.unexpected(awaited, format!("{said:?}"))),
        }
    }

    /// Waits until the server has all streams and runs.
    pub fn wait_until_running(&mut self, halt: &Halt<'_>) -> Result<(), TrialError> {
        if !self.begun {
            self.expect(State::TestStart, "its TEST_START", IPERF3_TIMEOUT, halt)?;
        }
        self.expect(State::TestRunning, "its TEST_RUNNING", IPERF3_TIMEOUT, halt)?;
        self.phase = Phase::Run;
        Ok(())
    }

    /// What the server says of a stream that could not be made; the error itself if it says nothing.
    pub fn reason_for(&mut self, error: TrialError) -> TrialError {
        match self.poll("its streams") {
            Err(said @ TrialError::Iperf3 { .. }) if !matches!(error, TrialError::Stopped) => said,
            _ => error,
        }
    }

    /// Nothing was received in time.
    pub fn silent(&self, awaited: &'static str, timeout: Duration) -> TrialError {
        self.trouble(Trouble::Silent { awaited, timeout })
    }

    /// What a flow's end means that the server was to send on, and has not: itself, if it is about something else.
    pub fn one_way(&self, error: TrialError) -> TrialError {
        use TrialError::{Broken, EndedEarly, NotRunning, SomeBroken};
        match error {
            Broken { .. } | SomeBroken { .. } | EndedEarly { .. } | NotRunning { .. } => {
                self.trouble(Trouble::OneWay(error.to_string()))
            }
            other => other,
        }
    }

    /// Whether the server has said something; whatever it says while data flows is the end of it.
    pub fn listen(&mut self) -> Result<(), TrialError> {
        match self.poll("the end of the test")? {
            None => Ok(()),
            Some(said) => Err(self.unexpected("the end of the test", format!("{said:?}"))),
        }
    }

    /// A state, if one has come. What ends the test is an error.
    pub fn poll(&mut self, awaited: &'static str) -> Result<Option<State>, TrialError> {
        let failed = |conversation: &Self, reason: String| conversation.trouble(Trouble::Lost { awaited, reason });
        let mut byte = [0];
        if let Err(error) = self.stream.set_nonblocking(true) {
            return Err(failed(self, error.to_string()));
        }
        let read = self.stream.read(&mut byte);
        if let Err(error) = self.stream.set_nonblocking(false) {
            return Err(failed(self, error.to_string()));
        }
        match read {
            Ok(0) => Err(failed(self, "it hung up".into())),
            Ok(_) => self.understand(byte[0], awaited).map(Some),
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => Ok(None),
            Err(error) => Err(failed(self, error.to_string())),
        }
    }

    /// Tells the server where the test is.
    pub fn say(&mut self, state: State) -> Result<(), TrialError> {
        let written = self.stream.write_all(&[state.byte()]);
        written.map_err(|error| self.trouble(Trouble::Lost { awaited: "its next state", reason: error.to_string() }))
    }

    /// Tells our results, hears the server's, and says good-bye.
    ///
    /// # Arguments
    /// `congestion`: what the server was to send with.
    pub fn exchange(
        mut self,
        ours: &Results,
        congestion: Option<&str>,
        halt: &Halt<'_>,
    ) -> Result<Results, TrialError> {
        self.phase = Phase::Report;
        let awaited = "its results";
        let frame = encode_frame(ours).map_err(|error| self.trouble(error.into()))?;
        let written = self.stream.write_all(&frame);
        written.map_err(|error| self.trouble(Trouble::Lost { awaited, reason: error.to_string() }))?;
        let deadline = Deadline::after(IPERF3_TIMEOUT);
        let mut header = [0; LENGTH_BYTES];
        self.read_whole(&mut header, awaited, deadline, halt)?;
        let length = frame_length(header, RESULTS_BYTES_MAX).map_err(|error| self.trouble(error.into()))?;
        let mut text = Vec::new();
        while text.len() < length {
            let begin = text.len();
            text.resize(length.min(begin + CHUNK_BYTES), 0);
            self.read_whole(&mut text[begin..], awaited, deadline, halt)?;
        }
        let theirs: Results = parse_json(&text).map_err(|error| self.trouble(error.into()))?;
        self.expect(State::DisplayResults, "its DISPLAY_RESULTS", IPERF3_TIMEOUT, halt)?;
        // Nothing depends on whether it hears this.
        let _ = self.stream.write_all(&[State::IperfDone.byte()]);
        match (congestion, &theirs.congestion_used) {
            (Some(requested), Some(used)) if requested != used => {
                Err(self.trouble(Trouble::Congestion { requested: requested.into(), used: used.clone() }))
            }
            _ => Ok(theirs),
        }
    }

    /// Ends the test before its time. A server that is gone need not know.
    pub fn break_off(mut self) {
        let _ = self.stream.write_all(&[State::ClientTerminate.byte()]);
    }

    /// Sends the parameters. A server that has a queue takes them before it has a place.
    fn request(&mut self, params: &Params, patience: Duration, halt: &Halt<'_>) -> Result<(), TrialError> {
        self.send_params(params)?;
        let answer = self.expect(State::CreateStreams, "its CREATE_STREAMS", patience, halt);
        match answer {
            Err(TrialError::Iperf3 { trouble, .. }) if matches!(*trouble, Trouble::Lost { .. }) => {
                Err(self.trouble(Trouble::Declined { login: params.authtoken.is_some() }))
            }
            other => other,
        }
    }

    fn send_params(&mut self, params: &Params) -> Result<(), TrialError> {
        let frame = encode_frame(params).map_err(|error| TrialError::Settings(error.to_string()))?;
        let written = self.stream.write_all(&frame);
        written.map_err(|error| self.trouble(Trouble::Lost { awaited: "its answer", reason: error.to_string() }))
    }

    fn next_state(&mut self, awaited: &'static str, timeout: Duration, halt: &Halt<'_>) -> Result<State, TrialError> {
        let mut byte = [0];
        self.read_whole(&mut byte, awaited, Deadline::after(timeout), halt)?;
        self.understand(byte[0], awaited)
    }

    fn understand(&mut self, byte: u8, awaited: &'static str) -> Result<State, TrialError> {
        match State::try_from(byte) {
            Ok(State::ServerError) => {
                let mut words = [0; ServerError::BYTES];
                let (code, errno) = words.split_at_mut(ServerError::CODE_BYTES);
                let deadline = Deadline::after(IPERF3_TIMEOUT);
                self.read_whole(code, "its reason", deadline, &Halt::default())?;
                // Of a user who is refused 3.12 says no more than that.
                let _ = self.read_whole(errno, "its reason", deadline, &Halt::default());
                Err(self.trouble(Trouble::Refused(ServerError::decode(words))))
            }
            Ok(State::ServerTerminate) => Err(self.trouble(Trouble::Terminated)),
            Ok(state) => Ok(state),
            Err(error) => Err(self.unexpected(awaited, error.to_string())),
        }
    }

    fn read_whole(
        &mut self,
        bytes: &mut [u8],
        awaited: &'static str,
        deadline: Deadline,
        halt: &Halt<'_>,
    ) -> Result<(), TrialError> {
        let mut filled = 0;
        loop {
            match self.stream.read(&mut bytes[filled..]) {
                Ok(0) => return Err(self.trouble(Trouble::Lost { awaited, reason: "it hung up".into() })),
                Ok(count) => filled += count,
                Err(error) if is_pause(&error) => {}
                Err(error) => return Err(self.trouble(Trouble::Lost { awaited, reason: error.to_string() })),
            }
            if filled == bytes.len() {
                return Ok(());
            }
            // Each time: one that sends a byte now and then never pauses.
            halt.check()?;
            if deadline.is_over() {
                return Err(self.trouble(Trouble::Silent { awaited, timeout: deadline.timeout }));
            }
        }
    }

    fn unexpected(&self, awaited: &'static str, said: String) -> TrialError {
        self.trouble(Trouble::Unexpected { awaited, said })
    }

    fn trouble(&self, trouble: Trouble) -> TrialError {
        TrialError::Iperf3 { address: self.remote, phase: self.phase, trouble: Box::new(trouble) }
    }
}

/// When a wait is over.
#[derive(Clone, Copy)]
struct Deadline {
    at: Instant,
    timeout: Duration,
}

impl Deadline {
    fn after(timeout: Duration) -> Self {
        Self { at: Instant::now() + timeout, timeout }
    }

    fn is_over(self) -> bool {
        Instant::now() >= self.at
    }
}

/// Nothing has come so far.
pub fn is_pause(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
}

#[cfg(test)]
mod tests {
    use std::{net::TcpListener, thread};

    use super::*;
    use crate::Control;

    /// A server that sends a byte every 2 ms, until nobody listens.
    fn heard_from_one_that_trickles(timeout: Duration, halt: &Halt<'_>) -> TrialError {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let remote = stream.peer_addr().unwrap();
        let (mut server, _) = listener.accept().unwrap();
        let mut conversation = Conversation { stream, remote, phase: Phase::Report, begun: true };
        thread::scope(|scope| {
            scope.spawn(move || {
                while server.write_all(b" ").is_ok() {
                    thread::sleep(Duration::from_millis(2));
                }
            });
            let read = conversation.read_whole(&mut [0; 2000], "its results", Deadline::after(timeout), halt);
            drop(conversation);
            read.unwrap_err()
        })
    }

    #[test]
    fn a_server_that_trickles_keeps_neither_a_deadline_nor_a_stop_from_coming() {
        let late = heard_from_one_that_trickles(Duration::from_millis(50), &Halt::default());
        assert!(late.to_string().contains("its results was not received within 0.05 s"), "{late}");
        let control = Control::default();
        control.stop();
        let stopped = heard_from_one_that_trickles(Duration::from_secs(60), &Halt::of(&control));
        assert!(matches!(stopped, TrialError::Stopped), "{stopped}");
    }
}
