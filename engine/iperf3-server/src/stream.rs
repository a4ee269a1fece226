//! One stream of a test, with the thread that carries it.

use std::{
    io,
    net::{Shutdown, TcpStream, UdpSocket},
    sync::Arc,
    thread::{self, JoinHandle},
};

use sys::ThreadCpu;

use crate::{defaults::STACK_BYTES, tally::Tally, tcp_stream, test_state::TestState, udp_stream};

/// A stream's connection.
pub enum Socket {
    /// Of bytes.
    Tcp(TcpStream),
    /// Of datagrams, connected to the client's address.
    Udp(UdpSocket),
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

impl Stream {
    /// Has a thread carry a stream: it receives at once, and sends once all begin together.
    ///
    /// # Errors
    /// If there can be no more threads.
    pub fn begin(id: i64, sends: bool, socket: Socket, test: &Arc<TestState>) -> io::Result<Self> {
        let (socket, tally) = (Arc::new(socket), Arc::new(Tally::default()));
        let (its_socket, its_tally, test) = (Arc::clone(&socket), Arc::clone(&tally), Arc::clone(test));
        let carry = move || {
            if sends {
                test.wait_for_begin();
            }
            match &*its_socket {
                Socket::Tcp(socket) if sends => tcp_stream::send(socket, &its_tally, &test),
                Socket::Tcp(socket) => tcp_stream::receive(socket, &its_tally, &test),
                Socket::Udp(socket) if sends => udp_stream::send(socket, &its_tally, &test),
                Socket::Udp(socket) => udp_stream::receive(socket, &its_tally, &test),
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
    use crate::parameters::TestParameters;

    fn pair() -> (TcpStream, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        (near, listener.accept().unwrap().0)
    }

    fn test_state() -> Arc<TestState> {
        let parameters = TestParameters::of(&Params {
            tcp: true,
            reverse: true,
            num: Some(1000),
            len: Some(1000),
            ..Params::default()
        })
        .unwrap();
        Arc::new(TestState::new(parameters, vec![0; 1000].into(), None))
    }

    #[test]
    fn what_sends_waits_until_all_begin() {
        let (near, mut far) = pair();
        let test = test_state();
        let mut stream = Stream::begin(1, true, Socket::Tcp(near), &test).unwrap();
        far.set_nonblocking(true).unwrap();
        let early = far.read(&mut [0; 1]).map_err(|error| error.kind());
        assert_eq!(early, Err(io::ErrorKind::WouldBlock));
        test.begin();
        assert!(stream.finish().is_some());
        assert_eq!(stream.tally.count().bytes, 1000);
    }

    #[test]
    fn what_never_began_ends_and_has_sent_nothing() {
        let (near, _far) = pair();
        let test = test_state();
        let mut stream = Stream::begin(1, true, Socket::Tcp(near), &test).unwrap();
        test.stop(true);
        assert!(stream.finish().is_some());
        assert_eq!(stream.tally.count().bytes, 0);
    }
}
