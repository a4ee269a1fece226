//! One connection: its streams, how long it lasts, and what is told of it.

use std::{
    cell::Cell,
    future::Future,
    net::SocketAddr,
    time::{Duration, Instant},
};

use bytes::Bytes;
use futures_util::{StreamExt, stream::FuturesUnordered};
use quinn::{Connection, ConnectionError, ReadError, ReadExactError, RecvStream, SendStream, WriteError};
use serde_json::{Value, json};
use tokio::{
    sync::watch,
    time::{Instant as Moment, sleep, sleep_until, timeout},
};

use crate::{
    Config,
    defaults::{CHUNKS_AT_ONCE, LAST_WORDS, WRITE_BYTES},
    pace::Pace,
};

/// What a stream asks for that is to have no end: its client stops it.
const ENDLESS: u64 = u64::MAX;
/// What clients are told when the server ends.
pub const SERVER_ENDS: &[u8] = b"the server ends";
/// What a stream or a connection is closed with, beyond 0, which is no error: it did nothing for too long.
const IDLE: u8 = 1;
/// See [`IDLE`]: it is over the limit of what a stream carries, or of how long a connection lasts.
const OVER_LIMIT: u8 = 2;
static PAYLOAD: [u8; WRITE_BYTES] = [0; WRITE_BYTES];

/// How a connection ended, and why if it was not its client that ended it.
type Ended = (&'static str, Option<String>);

/// What all streams of a connection carried.
struct Carried<'a> {
    config: &'a Config,
    pace: Pace,
    streams: Cell<u64>,
    received_bytes: Cell<u64>,
    sent_bytes: Cell<u64>,
    /// Why the first stream was broken off that was not its client's wish.
    trouble: Cell<Option<String>>,
    stopping: watch::Receiver<bool>,
}

/// Serves a connection to its end; what is to be told of it.
///
/// It breaks its streams off when `stopping` says so, and closes when what was on its way is acknowledged: before, the
/// library's congestion control would hold the closing word back.
pub async fn serve(connection: &Connection, config: &Config, stopping: watch::Receiver<bool>) -> Value {
    let begin = Instant::now();
    let client = canonical(connection.remote_address()).to_string();
    let carried = Carried {
        config,
        pace: Pace::new(config.rate_max_bps),
        streams: Cell::new(0),
        received_bytes: Cell::new(0),
        sent_bytes: Cell::new(0),
        trouble: Cell::new(None),
        stopping,
    };
    let (status, error) = carried.serve_streams(connection).await;
    json!({
        "client": client,
        "status": status,
        "error": error.or(carried.trouble.take()),
        "seconds": begin.elapsed().as_secs_f64(),
        "streams": carried.streams.get(),
        "received_bytes": carried.received_bytes.get(),
        "sent_bytes": carried.sent_bytes.get(),
    })
}

/// An IPv4 address as one, however the socket says it.
pub fn canonical(address: SocketAddr) -> SocketAddr {
    SocketAddr::new(address.ip().to_canonical(), address.port())
}

impl Carried<'_> {
    async fn serve_streams(&self, connection: &Connection) -> Ended {
        let (idle, longest) = (self.config.idle_timeout, self.config.duration_max);
        let over = Moment::now() + longest;
        let mut idle_until = Moment::now() + idle;
        let mut streams = FuturesUnordered::new();
        loop {
            tokio::select! {
                () = self.stops() => break,
                stream = connection.accept_bi() => match stream {
                    Ok((answer, request)) => streams.push(self.serve_stream(connection, request, Some(answer))),
                    Err(error) => return ended(&error),
                },
                stream = connection.accept_uni() => match stream {
                    Ok(request) => streams.push(self.serve_stream(connection, request, None)),
                    Err(error) => return ended(&error),
                },
                Some(()) = streams.next() => idle_until = Moment::now() + idle,
                () = sleep_until(over) => {
                    let reason = format!("it lasted {} s, the longest here", longest.as_secs_f64());
                    return close(connection, OVER_LIMIT, "too_long", reason);
                }
                () = sleep_until(idle_until), if streams.is_empty() => {
                    return close(connection, IDLE, "idle", format!("no stream for {} s", idle.as_secs_f64()));
                }
            }
        }
        while streams.next().await.is_some() {}
        sleep(LAST_WORDS).await;
        connection.close(0_u8.into(), SERVER_ENDS);
        ("server_ends", None)
    }

    /// Comes back once the server ends.
    async fn stops(&self) {
        // Without a sender it has ended already.
        drop(self.stopping.clone().wait_for(|stopping| *stopping).await);
    }

    /// A stream that is broken off says so to its client, and others go on.
    ///
    /// What only its client sends on has no `answer` yet: a stream that only the server sends on.
    async fn serve_stream(&self, connection: &Connection, mut request: RecvStream, mut answer: Option<SendStream>) {
        self.streams.set(self.streams.get() + 1);
        let answered = tokio::select! {
            answered = self.answer(connection, &mut request, &mut answer) => answered,
            () = self.stops() => Err(BrokenOff::without_fault()),
        };
        let Err(BrokenOff { code, reason }) = answered else { return };
        let _ = (answer.map(|mut answer| answer.reset(code.into())), request.stop(code.into()));
        if let Some(reason) = reason {
            self.trouble.set(self.trouble.take().or(Some(reason)));
        }
    }

    async fn answer(
        &self,
        connection: &Connection,
        request: &mut RecvStream,
        answer: &mut Option<SendStream>,
    ) -> Result<(), BrokenOff> {
        let most = self.config.bytes_max;
        let mut wanted = [0; 8];
        self.in_time(request.read_exact(&mut wanted)).await?;
        let wanted = u64::from_be_bytes(wanted);
        if wanted > most && wanted != ENDLESS {
            return Err(BrokenOff::over(format!("a stream asked for {wanted} B, at most {most} B are sent")));
        }
        self.read(request).await?;
        let answer = match answer {
            Some(answer) => answer,
            None if wanted == 0 => return Ok(()),
            None => answer.insert(self.in_time(connection.open_uni()).await?),
        };
        self.write(answer, wanted.min(most)).await?;
        // It is over once everything was acknowledged.
        answer.finish().map_err(|_| BrokenOff::without_fault())?;
        self.in_time(answer.stopped()).await.map(drop)
    }

    /// Reads to the end.
    async fn read(&self, request: &mut RecvStream) -> Result<(), BrokenOff> {
        let mut left = self.config.bytes_max;
        let mut chunks = [const { Bytes::new() }; CHUNKS_AT_ONCE];
        while let Some(filled) = self.in_time(request.read_chunks(&mut chunks)).await? {
            let count: u64 = chunks[..filled].iter().map(|chunk| chunk.len() as u64).sum();
            self.received_bytes.set(self.received_bytes.get() + count);
            left = left.checked_sub(count).ok_or_else(|| {
                BrokenOff::over(format!("a stream sent more than the {} B that are read", self.config.bytes_max))
            })?;
            self.pace.carried(count).await;
        }
        Ok(())
    }

    async fn write(&self, answer: &mut SendStream, mut left: u64) -> Result<(), BrokenOff> {
        // What was granted to a stream that its client does not read stays its own: no other one waits for it.
        let mut granted = 0;
        while left > 0 {
            if granted == 0 {
                granted = usize::try_from(left).unwrap_or(usize::MAX).min(PAYLOAD.len());
                self.pace.granted(granted as u64).await;
            }
            let payload = Bytes::from_static(&PAYLOAD[..granted]);
            let written = self.in_time(answer.write_chunks(&mut [payload])).await?;
            let count = written.bytes as u64;
            self.sent_bytes.set(self.sent_bytes.get() + count);
            left -= count;
            granted -= written.bytes;
        }
        Ok(())
    }

    async fn in_time<T, E: Into<BrokenOff>>(
        &self,
        progress: impl Future<Output = Result<T, E>>,
    ) -> Result<T, BrokenOff> {
        let idle = self.config.idle_timeout;
        timeout(idle, progress).await.map_err(|_| BrokenOff::idle(idle))?.map_err(Into::into)
    }
}

/// A stream that does not go to its end: what its client hears, and what the log says unless its client wanted it.
struct BrokenOff {
    code: u8,
    reason: Option<String>,
}

impl BrokenOff {
    /// Its client wanted it, or the server ends, of which the log says more elsewhere.
    fn without_fault() -> Self {
        Self { code: 0, reason: None }
    }

    fn idle(idle: Duration) -> Self {
        Self { code: IDLE, reason: Some(format!("a stream carried nothing for {} s", idle.as_secs_f64())) }
    }

    fn over(reason: String) -> Self {
        Self { code: OVER_LIMIT, reason: Some(reason) }
    }
}

/// Only its client resets a stream, stops or closes it.
macro_rules! by_client {
    ($($error:ty),*) => {
        $(impl From<$error> for BrokenOff {
            fn from(_: $error) -> Self {
                Self::without_fault()
            }
        })*
    };
}
by_client!(ReadError, ReadExactError, WriteError, ConnectionError, quinn::StoppedError);

fn close(connection: &Connection, code: u8, status: &'static str, reason: String) -> Ended {
    connection.close(code.into(), reason.as_bytes());
    (status, Some(reason))
}

fn ended(error: &ConnectionError) -> Ended {
    match error {
        ConnectionError::ApplicationClosed(_) => ("complete", None),
        ConnectionError::TimedOut => ("client_gone", Some(error.to_string())),
        ConnectionError::LocallyClosed => ("server_ends", None),
        _ => ("failed", Some(error.to_string())),
    }
}
