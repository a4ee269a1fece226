//! How far a source that sends lengths only may be ahead of the sink that writes as many bytes. A connection holds many
//! thousand headers: without this the whole job would be in it at once, and its duration would cut nothing.
//!
//! The source may send as many blocks as a flow has buffers, and one more for each that the sink has a buffer for. Where
//! the path is so long that the thread of the files waits for blocks, the sink lets it send more.

use std::{
    io::{self, Read},
    net::TcpStream,
    time::Instant,
};

use rustix::io::Errno;
use wire::RUNNING;

use super::sending::passes;
use crate::{
    defaults::{CREDIT_BLOCKS_MAX, CREDIT_IDLE_SHARE, STOP_CHECK},
    tcp::TcpFlows,
};

/// What the sink lets the source send.
pub struct Grants {
    /// Blocks that may be on their way, or wait for a buffer.
    window: usize,
    /// Blocks since the window was last looked at: once in so many as it has.
    taken: usize,
    /// When that was, and how long the thread of the files had waited until then.
    mark: Option<(Instant, u64)>,
}

impl Grants {
    /// Of a flow that has so many buffers.
    pub fn new(blocks: usize) -> Self {
        Self { window: blocks, taken: 0, mark: None }
    }

    /// There is a buffer for a block, and the thread of the files has waited for the network for `waited_ns` in all: how
    /// many more the source may send.
    pub fn after_block(&mut self, now: Instant, waited_ns: u64) -> u8 {
        self.taken += 1;
        if self.taken < self.window {
            return 1;
        }
        self.taken = 0;
        let idle = self.mark.is_some_and(|(since, before_ns)| {
            let waited_ns = u128::from(waited_ns.saturating_sub(before_ns));
            waited_ns * CREDIT_IDLE_SHARE > now.saturating_duration_since(since).as_nanos()
        });
        self.mark = Some((now, waited_ns));
        let more = if idle { self.window.min(CREDIT_BLOCKS_MAX.saturating_sub(self.window)) } else { 0 };
        let grant = u8::try_from(more + 1).unwrap_or(u8::MAX);
        self.window += usize::from(grant - 1);
        grant
    }
}

/// What the source may still send.
pub struct Credit {
    blocks: usize,
    running: bool,
}

impl Credit {
    /// Of a flow that has so many buffers. Nobody else may read from the connection; calls return now and then.
    pub fn new(blocks: usize, connection: &TcpStream) -> io::Result<Self> {
        connection.set_read_timeout(Some(STOP_CHECK))?;
        // A header must not wait until the one before it is acknowledged, as no grant does.
        connection.set_nodelay(true)?;
        Ok(Self { blocks, running: false })
    }

    /// Waits until one more block may be sent; `false` once sending is to stop.
    pub fn take(&mut self, connection: &TcpStream, flows: &TcpFlows) -> io::Result<bool> {
        while !flows.sending_stopped() {
            if self.running && self.blocks > 0 {
                self.blocks -= 1;
                return Ok(true);
            }
            self.hear(connection)?;
        }
        Ok(false)
    }

    /// Reads what the sink says, if it does so soon: first that it runs, then one number for each block.
    fn hear(&mut self, mut connection: &TcpStream) -> io::Result<()> {
        let mut words = [0; 64];
        match connection.read(&mut words) {
            // Why it is gone the sink says.
            Ok(0) => Err(Errno::PIPE.into()),
            Ok(count) => {
                let words = &words[..count];
                let granted = if self.running { words } else { words.strip_prefix(&[RUNNING]).unwrap_or(words) };
                self.running = true;
                self.blocks += granted.iter().map(|&blocks| usize::from(blocks)).sum::<usize>();
                Ok(())
            }
            Err(error) if passes(&error) => Ok(()),
            Err(error) => Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// What is granted for each of `blocks`, one every microsecond, of which the files waited `waits_ns`.
    fn granted(grants: &mut Grants, blocks: u64, waits_ns: u64) -> Vec<u8> {
        let began = Instant::now();
        (0..blocks).map(|block| grants.after_block(began + Duration::from_micros(block), block * waits_ns)).collect()
    }

    #[test]
    fn files_that_are_slower_than_the_network_get_no_more_than_their_buffers() {
        let mut grants = Grants::new(32);
        assert_eq!(granted(&mut grants, 10_000, 10), vec![1; 10_000]);
        assert_eq!(grants.window, 32);
    }

    #[test]
    fn files_that_wait_for_blocks_get_twice_as_many_a_round_up_to_a_bound() {
        let mut grants = Grants::new(32);
        let granted = granted(&mut grants, 50_000, 500);
        assert!(granted[..63].iter().all(|&blocks| blocks == 1), "a round in which nothing is known yet");
        assert_eq!(granted[63], 33);
        assert_eq!(grants.window, CREDIT_BLOCKS_MAX);
        let sum: u64 = granted.iter().map(|&blocks| u64::from(blocks)).sum();
        assert_eq!(sum, 50_000 + CREDIT_BLOCKS_MAX as u64 - 32);
    }
}
