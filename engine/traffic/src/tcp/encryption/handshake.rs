//! How all flows of a trial come to TLS, each on a thread: a handshake takes a round trip.

use std::{
    io::{self, Read, Write},
    net::TcpStream,
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use rustls::Error;
use wire::{RendezvousRole, TcpSettings};

use super::session::{Next, RECORD_MAX_BYTES, Session};
use crate::{
    Control, Task, TrialError, defaults::STOP_CHECK, tcp::socket::is_timeout, threads::spawn_once, tls::Secrets,
};

/// Shakes hands on connected streams, all at once, in the order of the flows.
///
/// # Errors
/// The other end is not that of this trial, does not answer in time, or the trial is stopped.
pub fn sessions(
    task: &Task<'_, TcpSettings>,
    secrets: Secrets,
    streams: &[TcpStream],
    control: &Control,
) -> Result<Vec<Session>, TrialError> {
    let longest = Duration::from_micros(task.settings.connect_timeout_us);
    let patience = Patience { longest, deadline: Instant::now() + longest, control };
    let new = new_sessions(task, secrets, streams.len())
        .map_err(|error| TrialError::Settings(format!("TLS cannot begin: {error}")))?;
    let shaken: Vec<io::Result<Session>> = thread::scope(|scope| {
        let threads: Vec<_> = new
            .into_iter()
            .zip(streams)
            .map(|(session, stream)| spawn_once(scope, || shake(session, stream, &patience)))
            .collect::<Result<_, _>>()?;
        let failed = || io::Error::other("the handshake's thread failed");
        Ok(threads.into_iter().map(|thread| thread.join().unwrap_or_else(|_| Err(failed()))).collect())
    })?;
    if control.stopped() {
        return Err(TrialError::Stopped);
    }
    let ends = (0..).zip(shaken.into_iter().zip(streams));
    ends.map(|(flow, (shaken, stream))| {
        let address = || stream.peer_addr().map_or_else(|_| "its peer".into(), |address| address.to_string());
        shaken.map_err(|error| TrialError::Handshake { flow, address: address(), reason: error.to_string() })
    })
    .collect()
}

fn new_sessions(task: &Task<'_, TcpSettings>, secrets: Secrets, count: usize) -> Result<Vec<Session>, Error> {
    if matches!(task.rendezvous, RendezvousRole::Connect { .. }) {
        let config = Arc::new(secrets.client()?);
        return (0..count).map(|_| Session::client(config.clone())).collect();
    }
    let mut config = secrets.server()?;
    // Nobody comes back with one.
    config.send_tls13_tickets = 0;
    let config = Arc::new(config);
    (0..count).map(|_| Session::server(config.clone())).collect()
}

fn shake(mut session: Session, mut stream: &TcpStream, patience: &Patience<'_>) -> io::Result<Session> {
    stream.set_read_timeout(Some(STOP_CHECK))?;
    let mut incoming = vec![0; 2 * RECORD_MAX_BYTES];
    let (mut filled, mut outgoing, mut early) = (0, Vec::new(), 0);
    loop {
        let advanced = session.advance(&mut incoming[..filled], &mut outgoing, |bytes| early += bytes.len());
        let (taken, next) = advanced?;
        incoming.copy_within(taken..filled, 0);
        filled -= taken;
        match next {
            Next::Again => continue,
            Next::Closed => return Err(io::Error::other("the other end closed TLS during the handshake")),
            Next::Wait => {}
        }
        let mut written = 0;
        while written < outgoing.len() {
            written += patience.retry(|| stream.write(&outgoing[written..]))?;
        }
        outgoing.clear();
        if !session.is_handshaking() {
            break;
        }
        match patience.retry(|| stream.read(&mut incoming[filled..]))? {
            0 => return Err(io::Error::other("the other end closed the connection during the handshake of TLS")),
            count => filled += count,
        }
    }
    if filled + early > 0 {
        return Err(io::Error::other("the other end sent before the start"));
    }
    stream.set_read_timeout(None)?;
    Ok(session)
}

/// How long a handshake may take.
struct Patience<'a> {
    longest: Duration,
    deadline: Instant,
    control: &'a Control,
}

impl Patience<'_> {
    /// Calls until something comes of it. Before each call it looks whether there is time for one: a peer that sends a
    /// byte now and then keeps every call from taking too long.
    fn retry<T>(&self, mut call: impl FnMut() -> io::Result<T>) -> io::Result<T> {
        loop {
            if self.control.stopped() || Instant::now() >= self.deadline {
                let text = format!("no handshake of TLS within {} s", self.longest.as_secs_f64());
                return Err(io::Error::new(io::ErrorKind::TimedOut, text));
            }
            match call() {
                Err(error) if is_timeout(&error) => {}
                done => return done,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use wire::Token;

    use super::*;

    /// The first bytes of a server's record as large as any, which has to be there as a whole before it says anything.
    const RECORD: [u8; 11] = [0x16, 3, 3, 0x40, 0, 2, 0, 0x3e, 0x80, 3, 3];

    /// What comes of a handshake with an end that sends a byte each millisecond, for as long as the record lasts.
    fn shaken_with_a_trickle(longest: Duration, control: &Control) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (mut peer, _) = listener.accept().unwrap();
        peer.set_nodelay(true).unwrap();
        let config = Secrets { token: Token([1; 16]), answer: Token([2; 16]) }.client().unwrap();
        let session = Session::client(Arc::new(config)).unwrap();
        let patience = Patience { longest, deadline: Instant::now() + longest, control };
        let trickle = thread::spawn(move || {
            let rest = vec![0; (1 << 14) + 5 - RECORD.len()];
            for byte in RECORD.iter().chain(&rest) {
                if peer.write_all(&[*byte]).is_err() {
                    break;
                }
                thread::sleep(Duration::from_millis(1));
            }
        });
        let error = shake(session, &stream, &patience).err().unwrap().to_string();
        drop(stream);
        trickle.join().unwrap();
        error
    }

    #[test]
    fn a_byte_now_and_then_keeps_no_handshake_alive() {
        let error = shaken_with_a_trickle(Duration::from_millis(200), &Control::default());
        assert_eq!(error, "no handshake of TLS within 0.2 s");
    }

    #[test]
    fn a_byte_now_and_then_keeps_no_stop_unheard() {
        let control = Control::default();
        control.stop();
        let error = shaken_with_a_trickle(Duration::from_secs(3600), &control);
        assert_eq!(error, "no handshake of TLS within 3600 s");
    }
}
