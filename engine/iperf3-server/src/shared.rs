//! What the acceptor and all tests share.

use std::{
    collections::HashMap,
    io,
    net::TcpStream,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        mpsc::{Receiver, SyncSender, sync_channel},
    },
};

use iperf3::{Cookie, limits::WRITE_BYTES_MAX};
use serving::Log;

use crate::{config::Config, openings::SetUps, urgency::Urgency};

/// What the acceptor and all tests share.
pub struct Shared {
    /// The configuration of the server.
    pub config: Config,
    /// Where tests are written down.
    pub log: Log,
    /// Tests that wait for their streams.
    pub calls: Calls,
    /// Tests whose streams of datagrams are being opened.
    pub set_ups: SetUps,
    /// What all streams send.
    pub payload: Arc<[u8]>,
    /// Why tests may have to hurry.
    pub urgency: Urgency,
}

/// A stream's connection, and when it was accepted.
pub struct Arrived {
    /// Streams have their roles in this order.
    pub order: u64,
    /// The connection.
    pub stream: TcpStream,
}

/// Tests that wait for their streams, by their names.
#[derive(Default)]
pub struct Calls(Mutex<HashMap<Cookie, SyncSender<Arrived>>>);

/// A test that waits for its streams; as long as this lives.
pub struct Call<'a> {
    calls: &'a Calls,
    cookie: Cookie,
    /// Where they come.
    pub arrivals: Receiver<Arrived>,
}

impl Shared {
    /// Of a server that begins.
    ///
    /// # Errors
    /// If there can be no more files.
    pub fn new(config: Config, log: Log) -> io::Result<Self> {
        // Nothing that a device on the way could compress.
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        let payload = (0..WRITE_BYTES_MAX).map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state.to_le_bytes()[0]
        });
        let payload = payload.collect();
        let urgency = Urgency::new()?;
        Ok(Self { config, log, calls: Calls::default(), set_ups: SetUps::default(), payload, urgency })
    }
}

impl Calls {
    /// Waits for so many streams; nothing if a test of the same name does already.
    pub fn call(&self, cookie: Cookie, streams: usize) -> Option<Call<'_>> {
        let (sender, arrivals) = sync_channel(streams);
        let mut calls = self.lock();
        if calls.contains_key(&cookie) {
            return None;
        }
        calls.insert(cookie, sender);
        drop(calls);
        Some(Call { calls: self, cookie, arrivals })
    }

    /// Whether a test of this name waits for streams.
    pub fn expect(&self, cookie: &Cookie) -> bool {
        self.lock().contains_key(cookie)
    }

    /// Hands a connection to the test that waits for it. One too many is closed.
    pub fn hand_over(&self, cookie: &Cookie, arrived: Arrived) {
        if let Some(sender) = self.lock().get(cookie) {
            let _ = sender.try_send(arrived);
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Cookie, SyncSender<Arrived>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Call<'_> {
    fn drop(&mut self) {
        self.calls.lock().remove(&self.cookie);
    }
}
