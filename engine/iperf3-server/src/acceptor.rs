//! Accepts connections: one thread, which no pending client can make wait.

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
use serving::{Log, Refusals, everywhere};
use thiserror::Error;

use crate::{
    admission::Decision,
    authentication::{Authentication, Verdict},
    config::Config,
    control::notice_vanishing,
    conversation::{Client, converse},
    defaults::{ACCEPTED_AT_ONCE, LOG_FLUSH, PENDING_CLIENTS_MAX, STACK_BYTES, STOP_CHECK, VANISHED},
    fairness::crowd,
    listening::listen_on_one_port,
    openings::Openings,
    pending_client::{PendingClient, Progress},
    places::Places,
    shared::{Arrived, Shared},
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
    pending: VecDeque<PendingClient>,
    authentication: Option<Authentication>,
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
        let begin = |authenticator| Authentication::begin(authenticator, Arc::clone(&bell));
        let authentication = config.authenticator.clone().map(begin).transpose().map_err(failed)?;
        Ok(Self {
            listener,
            openings,
            places: Places::new(config.admission),
            refusals: Refusals::default(),
            shared: Arc::new(Shared::new(config, log).map_err(failed)?),
            pending: VecDeque::new(),
            authentication,
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
            self.look_at_pending_clients();
            self.authenticate_pending_clients();
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
        watches.extend(self.places.waiting.iter().map(|client| reading(client.stream.as_fd())));
        watches.extend(self.pending.iter().map(|pending| reading(pending.stream.as_fd())));
        let now = Instant::now();
        let due = self.pending.iter().map(|pending| pending.deadline.saturating_duration_since(now)).min();
        let longest = Timespec::try_from(due.unwrap_or(LONGEST_WAIT).min(LONGEST_WAIT)).ok();
        // An interrupted poll only means looking once more.
        let _ = poll(&mut watches, longest.as_ref());
        let ready: Vec<bool> = watches.iter().map(|watch| !watch.revents().is_empty()).collect();
        let (own, others) = ready.split_at(OWN_WATCHES);
        let (waiting, pending) = others.split_at(self.places.waiting.len());
        for (pending, ready) in self.pending.iter_mut().zip(pending) {
            pending.ready = *ready;
        }
        Ready { stop: own[0], listener: own[2], openings: own[3], waiting: waiting.to_vec() }
    }

    fn accept(&mut self) {
        for _ in 0..ACCEPTED_AT_ONCE {
            match self.listener.accept() {
                Ok((stream, peer)) => self.welcome(stream, peer.ip().to_canonical()),
                Err(error) => {
                    match Errno::from_io_error(&error) {
                        Some(Errno::AGAIN | Errno::INTR | Errno::CONNABORTED) => {}
                        Some(Errno::MFILE | Errno::NFILE) if self.dismiss_pending_client() => {}
                        _ => thread::sleep(STOP_CHECK), // Only tests hold much: one of them will end.
                    }
                    return;
                }
            }
        }
    }

    fn welcome(&mut self, stream: TcpStream, peer: IpAddr) {
        self.accepted += 1;
        let now = Instant::now();
        let Ok(mut pending) = PendingClient::new(stream, peer, self.accepted, self.shared.config.deadlines, now) else {
            return;
        };
        if !serving::admits(&self.shared.config.limits.networks, peer) {
            self.note_refusal(peer, "its network may not test here");
            pending.deny(now);
        }
        if self.pending.len() >= PENDING_CLIENTS_MAX {
            self.dismiss_pending_client();
        }
        self.pending.push_back(pending);
    }

    /// Closes one without a word: the oldest from the address that has the most. A flood displaces its own connections.
    fn dismiss_pending_client(&mut self) -> bool {
        let origins = self.pending.iter().map(|pending| pending.origin);
        let Some((most, _)) = crowd(origins) else { return false };
        let of_most = self.pending.iter().enumerate().filter(|(_, pending)| pending.origin == most);
        let first = of_most.min_by_key(|(_, pending)| pending.order).map(|(at, _)| at);
        first.and_then(|at| self.pending.remove(at)).is_some()
    }

    fn look_at_pending_clients(&mut self) {
        let now = Instant::now();
        for pending in std::mem::take(&mut self.pending) {
            let kept = if pending.ready { self.advance(pending, now) } else { Some(pending) };
            let kept = kept.and_then(|pending| self.in_time(pending, now));
            self.pending.extend(kept);
        }
    }

    /// The pending client, unless its time is over. One that has sent its token in time gets a reason.
    fn in_time(&mut self, mut pending: PendingClient, now: Instant) -> Option<PendingClient> {
        if now < pending.deadline {
            return Some(pending);
        }
        pending.request()?;
        self.note_refusal(pending.peer, "there was no time to look at its token");
        pending.refuse(ErrorCode::AUTHENTICATION, now);
        Some(pending)
    }

    /// Takes verdicts on the tokens of pending clients, and has the next token checked.
    fn authenticate_pending_clients(&mut self) {
        let now = Instant::now();
        while let Some((order, verdict)) = self.authentication.as_mut().and_then(Authentication::verdict) {
            // It may have left, or have waited for too long.
            let known = |pending: &PendingClient| pending.order == order && pending.request().is_some();
            let Some(pending) = self.pending.iter().position(known).and_then(|at| self.pending.remove(at)) else {
                continue;
            };
            let kept = self.authenticated(pending, verdict, now);
            self.pending.extend(kept);
        }
        let Some(authentication) = &mut self.authentication else { return };
        let requests = || self.pending.iter().filter_map(|pending| Some((pending, pending.request()?)));
        let waiting: Vec<_> = requests().map(|(pending, _)| (pending.order, pending.origin)).collect();
        authentication.check_next(&waiting, |order| {
            let (_, request) = requests().find(|(pending, _)| pending.order == order)?;
            Some((request.params.authtoken.clone(), request.received_at_s))
        });
    }

    /// Goes on with a pending client whose token was checked; `None`: it is pending no more.
    fn authenticated(&mut self, mut pending: PendingClient, verdict: Verdict, now: Instant) -> Option<PendingClient> {
        if let Err(denied) = verdict {
            self.note_refusal(pending.peer, &denied);
            pending.refuse(ErrorCode::AUTHENTICATION, now);
            return Some(pending);
        }
        self.give_place(pending, now)
    }

    /// Goes on with a pending client that has sent something; `None`: it is pending no more.
    fn advance(&mut self, mut pending: PendingClient, now: Instant) -> Option<PendingClient> {
        match pending.advance() {
            Progress::Waits => Some(pending),
            Progress::Gone => None,
            Progress::Named(cookie) => self.named(pending, cookie, now),
            Progress::Requests(cookie, params) => self.check_request(pending, cookie, *params, now),
            Progress::Unreadable => {
                self.note_refusal(pending.peer, "its parameters cannot be read");
                pending.refuse(ErrorCode::PARAMS, now);
                Some(pending)
            }
        }
    }

    fn named(&mut self, mut pending: PendingClient, cookie: Cookie, now: Instant) -> Option<PendingClient> {
        if self.shared.calls.expect(&cookie) {
            self.shared.calls.hand_over(&cookie, Arrived { order: pending.order, stream: pending.stream });
            return None;
        }
        if self.places.decide(pending.origin) == Decision::Deny {
            self.note_refusal(pending.peer, "there is no place");
            pending.deny(now);
            return Some(pending);
        }
        pending.request_params(cookie, now).ok()?;
        Some(pending)
    }

    fn check_request(
        &mut self,
        mut pending: PendingClient,
        cookie: Cookie,
        params: Params,
        now: Instant,
    ) -> Option<PendingClient> {
        if let Err(refusal) = self.shared.config.limits.check(&params) {
            self.note_refusal(pending.peer, &refusal.to_string());
            pending.refuse(refusal.code, now);
            return Some(pending);
        }
        pending.wait_for_verdict(cookie, params, now);
        if self.authentication.is_some() { Some(pending) } else { self.give_place(pending, now) }
    }

    /// Has a pending client that may test begin, wait or leave.
    fn give_place(&mut self, mut pending: PendingClient, now: Instant) -> Option<PendingClient> {
        let decision = self.places.decide(pending.origin);
        if decision == Decision::Deny {
            self.note_refusal(pending.peer, "there is no place");
            pending.deny(now);
            return Some(pending);
        }
        let peer = pending.peer;
        let (stream, request) = pending.admitted()?;
        self.begun += 1;
        let client = Client { number: self.begun, stream, cookie: request.cookie, params: request.params, peer };
        if decision == Decision::Begin {
            self.begin(client);
        } else {
            if decision == Decision::WaitInstead {
                self.send_away();
            }
            // One that vanishes while it waits must not keep its place; if that cannot be set, its turn shows it.
            let _ = notice_vanishing(&client.stream, VANISHED);
            self.note("test_waits", json!({ "test": client.number, "client": peer.to_string() }));
            self.places.waiting.push_back(client);
        }
        None
    }

    /// Tells one that waits that there is no place after all: its address has more of the queue than another one's.
    fn send_away(&mut self) {
        let Some(mut client) = self.places.make_room() else { return };
        // A client that cannot be reached is gone.
        let _ = client.stream.write_all(&[State::AccessDenied.byte()]);
        let error = "the queue is full, and most who wait come from this address";
        self.note("test_ends", json!({ "test": client.number, "status": "failed", "error": error }));
    }

    /// A client that waits has nothing to say: anything received, or a close, means that it has given up.
    fn look_at_waiting(&mut self, ready: &[bool]) {
        let mut ready = ready.iter();
        let (left, waiting): (VecDeque<_>, _) =
            std::mem::take(&mut self.places.waiting).into_iter().partition(|_| ready.next().is_some_and(|said| *said));
        self.places.waiting = waiting;
        for client in left {
            let error = "the client left while it waited for a place";
            self.note("test_ends", json!({ "test": client.number, "status": "client_gone", "error": error }));
        }
    }

    fn admit_waiting(&mut self) {
        while let Some(client) = self.places.next() {
            self.begin(client);
        }
    }

    fn begin(&mut self, client: Client) {
        let (number, peer) = (client.number, client.peer);
        let (bell, shared) = (Bell(number, self.ended.0.clone(), Arc::clone(&self.bell)), Arc::clone(&self.shared));
        let thread = thread::Builder::new().name(format!("test-{number}")).stack_size(STACK_BYTES);
        let body = move || {
            let _bell = bell;
            converse(client, &shared);
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
        for client in &mut self.places.waiting {
            // A client that cannot be reached will notice.
            let _ = client.stream.write_all(&[State::ServerTerminate.byte()]);
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
