//! One stream of a test, with the thread that carries it.

use std::{
    io,
    net::{Shutdown, TcpStream, UdpSocket},
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread::{self, JoinHandle},
    time::Instant,
};

use sys::ThreadCpu;

use crate::{
    defaults::{READ_BYTES, READ_BYTES_MIN, SINK_READ_ON, STACK_BYTES, TEST_READ_BYTES},
    tally::Tally,
    tcp_stream::{self, wait_until},
    terms::{Budget, Terms},
    throttle::Throttle,
    udp_stream,
};

/// A stream's connection.
pub enum Socket {
    /// Of bytes.
    Tcp(TcpStream),
    /// Of datagrams, connected to the client's address.
    Udp(UdpSocket),
}

/// What all streams of a test share.
pub struct Together {
    /// What the test is.
    pub terms: Terms,
    /// What may still be sent.
    pub budget: Budget,
    /// What is sent.
    pub payload: Arc<[u8]>,
    /// What keeps the limit of the rate, if there is one.
    pub throttle: Option<Throttle>,
    /// Streams that send, and do not because they are to wait.
    resting: AtomicUsize,
    /// Nobody waits for what is still under way.
    abandoned: AtomicBool,
    begun: OnceLock<()>,
    counts: AtomicBool,
    sources_stop: AtomicBool,
    sinks_stop: AtomicBool,
}

/// One stream.
pub struct Stream {
    /// iperf3's number of it.
    pub id: i64,
    /// Whether data goes to the client.
    pub sends: bool,
    /// Its connection.
    pub socket: Arc<Socket>,
    /// What it has carried.
    pub tally: Arc<Tally>,
    thread: Option<JoinHandle<Option<ThreadCpu>>>,
}

impl Together {
    /// Of a test that begins; `rate_max_bps`: what its streams may carry together, in bit/s.
    #[must_use]
    pub fn new(terms: Terms, payload: Arc<[u8]>, rate_max_bps: Option<u64>) -> Self {
        Self {
            budget: Budget::of(&terms),
            begun: OnceLock::new(),
            counts: AtomicBool::new(terms.omit.is_zero()),
            terms,
            payload,
            throttle: rate_max_bps.map(Throttle::new),
            resting: AtomicUsize::new(0),
            abandoned: AtomicBool::new(false),
            sources_stop: AtomicBool::new(false),
            sinks_stop: AtomicBool::new(false),
        }
    }

    /// Streams that send do so from now on.
    pub fn begin(&self) {
        // Once is enough.
        let _ = self.begun.set(());
    }

    /// Whether what flows counts: the beginning that is left out is over.
    pub fn counts(&self) -> bool {
        self.counts.load(Ordering::Relaxed)
    }

    /// From now on it counts.
    pub fn count(&self) {
        self.counts.store(true, Ordering::Relaxed);
    }

    /// Whether streams of a kind are to end.
    pub fn stops(&self, sends: bool) -> bool {
        if sends { &self.sources_stop } else { &self.sinks_stop }.load(Ordering::Relaxed)
    }

    /// All streams are to end at once: nobody is interested any more.
    pub fn abandon(&self) {
        self.abandoned.store(true, Ordering::Relaxed);
        self.stop(true);
        self.stop(false);
    }

    /// Whether a stream that receives is to end, whatever is still under way; `stopped`: when it first saw that it is to.
    pub fn ends_sink(&self, stopped: &mut Option<Instant>) -> bool {
        self.abandoned.load(Ordering::Relaxed)
            || self.stops(false) && stopped.get_or_insert_with(Instant::now).elapsed() > SINK_READ_ON
    }

    /// A stream has received so many bytes: waits until more may come under the limit.
    pub fn received(&self, bytes: usize, stopped: &mut Option<Instant>) {
        if let Some(throttle) = &self.throttle {
            wait_until(throttle.carried(bytes), || self.ends_sink(stopped));
        }
    }

    /// A stream has sent so many bytes: waits until more may go under the limit.
    pub fn sent(&self, bytes: usize) {
        if let Some(throttle) = &self.throttle {
            self.rest_until(throttle.carried(bytes));
        }
    }

    /// A stream that sends waits because it is to, and not because of its client.
    pub fn rest_until(&self, moment: Instant) {
        if moment <= Instant::now() {
            return;
        }
        self.resting.fetch_add(1, Ordering::Relaxed);
        wait_until(moment, || self.stops(true));
        self.resting.fetch_sub(1, Ordering::Relaxed);
    }

    /// Whether any stream that sends waits because it is to.
    pub fn rests(&self) -> bool {
        self.resting.load(Ordering::Relaxed) > 0
    }

    /// How much a stream carries at once, at most.
    pub fn part_bytes(&self) -> usize {
        let streams = self.terms.receiving.saturating_add(self.terms.sending).max(1);
        let fair = (TEST_READ_BYTES / streams as usize).clamp(READ_BYTES_MIN, READ_BYTES);
        self.throttle.as_ref().map_or(fair, |throttle| throttle.part_bytes(streams).min(fair))
    }

    /// Streams of a kind are to end; sinks once they have read what is there.
    pub fn stop(&self, sends: bool) {
        if sends { &self.sources_stop } else { &self.sinks_stop }.store(true, Ordering::Relaxed);
        self.begin();
    }
}

impl Stream {
    /// Has a thread carry a stream: it receives at once, and sends once all begin together.
    ///
    /// # Errors
    /// If there can be no more threads.
    pub fn begin(id: i64, sends: bool, socket: Socket, together: &Arc<Together>) -> io::Result<Self> {
        let (socket, tally) = (Arc::new(socket), Arc::new(Tally::default()));
        let (its_socket, its_tally, together) = (Arc::clone(&socket), Arc::clone(&tally), Arc::clone(together));
        let carry = move || {
            if sends {
                together.begun.wait();
            }
            match &*its_socket {
                Socket::Tcp(socket) if sends => tcp_stream::send(socket, &its_tally, &together),
                Socket::Tcp(socket) => tcp_stream::receive(socket, &its_tally, &together),
                Socket::Udp(socket) if sends => udp_stream::send(socket, &its_tally, &together),
                Socket::Udp(socket) => udp_stream::receive(socket, &its_tally, &together),
            }
            sys::thread_cpu().ok()
        };
        let thread = thread::Builder::new().name(format!("stream-{id}")).stack_size(STACK_BYTES).spawn(carry)?;
        Ok(Self { id, sends, socket, tally, thread: Some(thread) })
    }

    /// Wakes its thread, if that waits for the peer.
    pub fn wake(&self) {
        if let Socket::Tcp(socket) = &*self.socket {
            // A connection that is gone wakes it, too.
            let _ = socket.shutdown(if self.sends { Shutdown::Write } else { Shutdown::Read });
        }
    }

    /// Waits for its thread, and says what CPU time that took.
    pub fn finish(&mut self) -> Option<ThreadCpu> {
        self.thread.take()?.join().ok()?
    }

    /// Its connection, if it is one of bytes.
    #[must_use]
    pub fn tcp(&self) -> Option<&TcpStream> {
        match &*self.socket {
            Socket::Tcp(socket) => Some(socket),
            Socket::Udp(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{io::Read, net::TcpListener};

    use iperf3::Params;

    use super::*;

    fn pair() -> (TcpStream, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        (near, listener.accept().unwrap().0)
    }

    fn together() -> Arc<Together> {
        let terms =
            Terms::of(&Params { tcp: true, reverse: true, num: Some(1000), len: Some(1000), ..Params::default() })
                .unwrap();
        Arc::new(Together::new(terms, vec![0; 1000].into(), None))
    }

    #[test]
    fn what_sends_waits_until_all_begin() {
        let (near, mut far) = pair();
        let together = together();
        let mut stream = Stream::begin(1, true, Socket::Tcp(near), &together).unwrap();
        far.set_nonblocking(true).unwrap();
        let early = far.read(&mut [0; 1]).map_err(|error| error.kind());
        assert_eq!(early, Err(io::ErrorKind::WouldBlock));
        together.begin();
        assert!(stream.finish().is_some());
        assert_eq!(stream.tally.count().bytes, 1000);
    }

    #[test]
    fn what_never_began_ends_and_has_sent_nothing() {
        let (near, _far) = pair();
        let together = together();
        let mut stream = Stream::begin(1, true, Socket::Tcp(near), &together).unwrap();
        together.stop(true);
        assert!(stream.finish().is_some());
        assert_eq!(stream.tally.count().bytes, 0);
    }
}
