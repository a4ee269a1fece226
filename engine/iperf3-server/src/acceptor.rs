//! Accepts connections: one thread, which no newcomer can make wait.

use std::{
    collections::VecDeque,
    io::{self, Write},
    net::{IpAddr, SocketAddr, TcpListener, TcpStream},
    os::fd::{AsFd, OwnedFd},
    sync::{
        Arc,
        mpsc::{Receiver, Sender, channel},
    },
    thread,
    time::{Duration, Instant},
};

use iperf3::{Cookie, ErrorCode, Params, State};
use rustix::{
    event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll},
    io::Errno,
};
use serde_json::{Value, json};
use thiserror::Error;

use crate::{
    admission::Decision,
    config::Config,
    control::notice_vanishing,
    conversation::{Guest, converse},
    defaults::{ACCEPTED_AT_ONCE, LOG_FLUSH, NEWCOMERS_MAX, STACK_BYTES, STOP_CHECK},
    fairness::crowd,
    listening::{everywhere, listen_on_one_port},
    log::Log,
    newcomer::{Newcomer, Progress},
    openings::Openings,
    places::Places,
    refusals::Refusals,
    shared::{Arrived, Shared},
    vetting::{Verdict, Vetting},
};

/// The longest wait of the acceptor when nothing is due.
const LONGEST_WAIT: Duration = Duration::from_secs(1);
/// Stop, bell, listener and openings stand in front of everybody else's sockets.
const OWN_WATCHES: usize = 4;

/// Why a server cannot be.
#[derive(Debug, Error)]
#[error("cannot listen on {address}: {source}")]
pub struct AcceptorError {
    address: SocketAddr,
    source: io::Error,
}

/// A server that listens.
pub struct Acceptor {
    listener: TcpListener,
    openings: Openings,
    shared: Arc<Shared>,
    newcomers: VecDeque<Newcomer>,
    vetting: Option<Vetting>,
    places: Places,
    refusals: Refusals,
    ended: (Sender<u64>, Receiver<u64>),
    bell: Arc<OwnedFd>,
    accepted: u64,
    begun: u64,
}

impl Acceptor {
    /// Listens.
    ///
    /// # Errors
    /// [`AcceptorError`] if it cannot.
    pub fn open(config: Config, log: Log) -> Result<Self, AcceptorError> {
        let address = SocketAddr::new(config.bind.unwrap_or_else(everywhere), config.port);
        let failed = |source| AcceptorError { address, source };
        let (listener, openings) = listen_on_one_port(address).map_err(failed)?;
        let bell = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK).map_err(|error| failed(error.into()))?;
        let bell = Arc::new(bell);
        let vet = |authenticator| Vetting::begin(authenticator, Arc::clone(&bell));
        let vetting = config.authenticator.clone().map(vet).transpose().map_err(failed)?;
        Ok(Self {
            listener,
            openings,
            places: Places::new(config.admission),
            refusals: Refusals::default(),
            shared: Arc::new(Shared::new(config, log).map_err(failed)?),
            newcomers: VecDeque::new(),
            vetting,
            ended: channel(),
            bell,
            accepted: 0,
            begun: 0,
        })
    }

    /// Where it listens.
    ///
    /// # Errors
    /// What `getsockname` says.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Serves until `stop` can be read from; then tells all clients that the server ends, and waits for their tests.
    pub fn serve(mut self, stop: &impl AsFd) {
        loop {
            let ready = self.wait(stop);
            if ready.stop {
                return self.close();
            }
            self.reap();
            self.look_at_waiting(&ready.waiting);
            self.admit_waiting();
            if ready.openings {
                self.openings.take(&self.shared.set_ups);
            }
            if ready.listener {
                self.accept();
            }
            self.look_at_newcomers();
            self.vet_newcomers();
            self.shared.urgency.set_crowded(self.places.are_crowded());
            for row in self.refusals.summaries(Instant::now()) {
                self.shared.log.write("refused_more", row);
            }
        }
    }

    fn wait(&mut self, stop: &impl AsFd) -> Ready {
        let reading = |socket| PollFd::from_borrowed_fd(socket, PollFlags::IN);
        let mut watches = vec![reading(stop.as_fd()), reading(self.bell.as_fd()), reading(self.listener.as_fd())];
        watches.push(reading(self.openings.socket.as_fd()));
        watches.extend(self.places.waiting.iter().map(|guest| reading(guest.stream.as_fd())));
        watches.extend(self.newcomers.iter().map(|newcomer| reading(newcomer.stream.as_fd())));
        let now = Instant::now();
        let due = self.newcomers.iter().map(|newcomer| newcomer.deadline.saturating_duration_since(now)).min();
        let longest = Timespec::try_from(due.unwrap_or(LONGEST_WAIT).min(LONGEST_WAIT)).ok();
        // An interrupted poll only means looking once more.
        let _ = poll(&mut watches, longest.as_ref());
        let told: Vec<bool> = watches.iter().map(|watch| !watch.revents().is_empty()).collect();
        let (own, others) = told.split_at(OWN_WATCHES);
        let (waiting, newcomers) = others.split_at(self.places.waiting.len());
        for (newcomer, ready) in self.newcomers.iter_mut().zip(newcomers) {
            newcomer.ready = *ready;
        }
        Ready { stop: own[0], listener: own[2], openings: own[3], waiting: waiting.to_vec() }
    }

    fn accept(&mut self) {
        for _ in 0..ACCEPTED_AT_ONCE {
            match self.listener.accept() {
                Ok((stream, peer)) => self.welcome(stream, peer.ip().to_canonical()),
                Err(error) => {
                    let code = Errno::from_io_error(&error);
                    if matches!(code, Some(Errno::MFILE | Errno::NFILE)) && !self.dismiss_newcomer() {
                        // Only tests hold files: one of them will end.
                        thread::sleep(STOP_CHECK);
                    }
                    return;
                }
            }
        }
    }

    fn welcome(&mut self, stream: TcpStream, peer: IpAddr) {
        self.accepted += 1;
        let now = Instant::now();
        let Ok(mut newcomer) = Newcomer::new(stream, peer, self.accepted, self.shared.config.deadlines, now) else {
            return;
        };
        if !self.shared.config.limits.admits(peer) {
            self.note_refusal(peer, "its network may not test here");
            newcomer.deny(now);
        }
        if self.newcomers.len() >= NEWCOMERS_MAX {
            self.dismiss_newcomer();
        }
        self.newcomers.push_back(newcomer);
    }

    /// Has one go without a word: of those from where most come, who came first. Whoever floods displaces his own.
    fn dismiss_newcomer(&mut self) -> bool {
        let origins = self.newcomers.iter().map(|newcomer| newcomer.origin);
        let Some((most, _)) = crowd(origins) else { return false };
        let of_most = self.newcomers.iter().enumerate().filter(|(_, newcomer)| newcomer.origin == most);
        let first = of_most.min_by_key(|(_, newcomer)| newcomer.order).map(|(at, _)| at);
        first.and_then(|at| self.newcomers.remove(at)).is_some()
    }

    fn look_at_newcomers(&mut self) {
        let now = Instant::now();
        for newcomer in std::mem::take(&mut self.newcomers) {
            let kept = if newcomer.ready { self.advance(newcomer, now) } else { Some(newcomer) };
            let kept = kept.and_then(|newcomer| self.in_time(newcomer, now));
            self.newcomers.extend(kept);
        }
    }

    /// A newcomer that may still be here. One that has done its part is told that nobody came to its token.
    fn in_time(&mut self, mut newcomer: Newcomer, now: Instant) -> Option<Newcomer> {
        if now < newcomer.deadline {
            return Some(newcomer);
        }
        newcomer.request()?;
        self.note_refusal(newcomer.peer, "there was no time to look at its token");
        newcomer.refuse(ErrorCode::AUTHENTICATION, now);
        Some(newcomer)
    }

    /// Hears who newcomers are, and has the next one looked at.
    fn vet_newcomers(&mut self) {
        let now = Instant::now();
        while let Some((order, verdict)) = self.vetting.as_mut().and_then(Vetting::answer) {
            // It may have left, or have waited for too long.
            let known = |newcomer: &Newcomer| newcomer.order == order && newcomer.request().is_some();
            let Some(newcomer) = self.newcomers.iter().position(known).and_then(|at| self.newcomers.remove(at)) else {
                continue;
            };
            let kept = self.vetted(newcomer, verdict, now);
            self.newcomers.extend(kept);
        }
        let Some(vetting) = &mut self.vetting else { return };
        let requests = || self.newcomers.iter().filter_map(|newcomer| Some((newcomer, newcomer.request()?)));
        let waiting: Vec<_> = requests().map(|(newcomer, _)| (newcomer.order, newcomer.origin)).collect();
        vetting.ask(&waiting, |order| {
            let (_, request) = requests().find(|(newcomer, _)| newcomer.order == order)?;
            Some((request.params.authtoken.clone(), request.came_at_s))
        });
    }

    /// What becomes of a newcomer whose token was looked at: nothing, if it is none any more.
    fn vetted(&mut self, mut newcomer: Newcomer, verdict: Verdict, now: Instant) -> Option<Newcomer> {
        if let Err(denied) = verdict {
            self.note_refusal(newcomer.peer, &denied);
            newcomer.refuse(ErrorCode::AUTHENTICATION, now);
            return Some(newcomer);
        }
        self.give_place(newcomer, now)
    }

    /// What becomes of a newcomer that has said something: nothing, if it is none any more.
    fn advance(&mut self, mut newcomer: Newcomer, now: Instant) -> Option<Newcomer> {
        match newcomer.advance() {
            Progress::Waits => Some(newcomer),
            Progress::Gone => None,
            Progress::Named(cookie) => self.named(newcomer, cookie, now),
            Progress::Asks(cookie, params) => self.asks(newcomer, cookie, *params, now),
            Progress::Unreadable => {
                self.note_refusal(newcomer.peer, "its parameters cannot be read");
                newcomer.refuse(ErrorCode::PARAMS, now);
                Some(newcomer)
            }
        }
    }

    fn named(&mut self, mut newcomer: Newcomer, cookie: Cookie, now: Instant) -> Option<Newcomer> {
        if self.shared.calls.expect(&cookie) {
            self.shared.calls.hand_over(&cookie, Arrived { order: newcomer.order, stream: newcomer.stream });
            return None;
        }
        if self.places.decide(newcomer.origin) == Decision::Deny {
            self.note_refusal(newcomer.peer, "there is no place");
            newcomer.deny(now);
            return Some(newcomer);
        }
        newcomer.ask_for_params(cookie, now).ok()?;
        Some(newcomer)
    }

    fn asks(&mut self, mut newcomer: Newcomer, cookie: Cookie, params: Params, now: Instant) -> Option<Newcomer> {
        if let Err(refusal) = self.shared.config.limits.check(&params) {
            self.note_refusal(newcomer.peer, &refusal.to_string());
            newcomer.refuse(refusal.code, now);
            return Some(newcomer);
        }
        newcomer.wait_for_verdict(cookie, params, now);
        if self.vetting.is_some() { Some(newcomer) } else { self.give_place(newcomer, now) }
    }

    /// Has a newcomer that may test begin, wait or go.
    fn give_place(&mut self, mut newcomer: Newcomer, now: Instant) -> Option<Newcomer> {
        let decision = self.places.decide(newcomer.origin);
        if decision == Decision::Deny {
            self.note_refusal(newcomer.peer, "there is no place");
            newcomer.deny(now);
            return Some(newcomer);
        }
        let peer = newcomer.peer;
        let (stream, request) = newcomer.admitted()?;
        self.begun += 1;
        let guest = Guest { number: self.begun, stream, cookie: request.cookie, params: request.params, peer };
        if decision == Decision::Begin {
            self.begin(guest);
        } else {
            if decision == Decision::WaitInstead {
                self.send_away();
            }
            // One that vanishes while it waits must not keep its place; if that cannot be set, its turn shows it.
            let _ = notice_vanishing(&guest.stream);
            self.note("test_waits", json!({ "test": guest.number, "client": peer.to_string() }));
            self.places.waiting.push_back(guest);
        }
        None
    }

    /// Tells one that waits that there is no place after all: its address has more of the queue than another one's.
    fn send_away(&mut self) {
        let Some(mut guest) = self.places.make_room() else { return };
        // Whoever cannot be told is gone.
        let _ = guest.stream.write_all(&[State::AccessDenied.byte()]);
        let error = "the queue is full, and most who wait come from this address";
        self.note("test_ends", json!({ "test": guest.number, "status": "failed", "error": error }));
    }

    /// A client that waits has nothing to say: whatever comes means that it has given up.
    fn look_at_waiting(&mut self, ready: &[bool]) {
        let mut ready = ready.iter();
        let (left, waiting): (VecDeque<_>, _) =
            std::mem::take(&mut self.places.waiting).into_iter().partition(|_| ready.next().is_some_and(|said| *said));
        self.places.waiting = waiting;
        for guest in left {
            let error = "the client left while it waited for a place";
            self.note("test_ends", json!({ "test": guest.number, "status": "client_gone", "error": error }));
        }
    }

    fn admit_waiting(&mut self) {
        while let Some(guest) = self.places.next() {
            self.begin(guest);
        }
    }

    fn begin(&mut self, guest: Guest) {
        let (number, peer) = (guest.number, guest.peer);
        let (bell, shared) = (Bell(number, self.ended.0.clone(), Arc::clone(&self.bell)), Arc::clone(&self.shared));
        let thread = thread::Builder::new().name(format!("test-{number}")).stack_size(STACK_BYTES);
        let body = move || {
            let _bell = bell;
            converse(guest, &shared);
        };
        match thread.spawn(body) {
            Ok(thread) => self.places.take(number, peer.into(), thread),
            Err(error) => self.note_refusal(peer, &format!("no thread for it: {error}")),
        }
    }

    fn reap(&mut self) {
        // The bell only wakes the acceptor; which test it was stands in the queue.
        let _ = rustix::io::read(&self.bell, &mut [0; 8]);
        while let Ok(number) = self.ended.1.try_recv() {
            self.places.free(number);
        }
    }

    fn close(mut self) {
        self.shared.urgency.stop();
        for guest in &mut self.places.waiting {
            // Whoever cannot be told will notice.
            let _ = guest.stream.write_all(&[State::ServerTerminate.byte()]);
        }
        self.places.join();
        self.shared.log.flush(LOG_FLUSH);
    }

    fn note_refusal(&mut self, peer: IpAddr, reason: &str) {
        if self.refusals.note(peer.into(), reason, Instant::now()) {
            self.note("refused", json!({ "client": peer.to_string(), "error": reason }));
        }
    }

    fn note(&self, event: &str, fields: Value) {
        self.shared.log.write(event, fields);
    }
}

/// What has become ready while the acceptor waited.
struct Ready {
    stop: bool,
    listener: bool,
    openings: bool,
    waiting: Vec<bool>,
}

/// Rings when a test has ended, however that came about.
struct Bell(u64, Sender<u64>, Arc<OwnedFd>);

impl Drop for Bell {
    fn drop(&mut self) {
        // An acceptor that is gone needs no bell.
        let _ = self.1.send(self.0);
        let _ = rustix::io::write(&self.2, &1_u64.to_ne_bytes());
    }
}
