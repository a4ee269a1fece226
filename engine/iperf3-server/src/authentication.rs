//! Authenticates clients in a thread of its own: an RSA decryption takes milliseconds, with a long key a second, and
//! the acceptor waits for nobody.
//!
//! Tokens are checked one at a time. Only pending clients wait for it, so the queue is bounded, and addresses take
//! turns: a flood from one host delays each of the others by one check.

use std::{
    collections::HashMap,
    io,
    os::fd::OwnedFd,
    sync::{
        Arc,
        mpsc::{Receiver, SyncSender, channel, sync_channel},
    },
    thread,
    time::{SystemTime, UNIX_EPOCH},
};

use iperf3::auth::{Authenticator, RANDOM_BYTES};
use rustix::rand::{GetRandomFlags, getrandom};
use serving::Origin;

use crate::defaults::STACK_BYTES;

/// The result of checking a token; if it is refused, the reason for the log.
pub type Verdict = Result<(), String>;

/// A thread that checks tokens, one at a time.
pub struct Authentication {
    /// Once this is dropped the thread ends; nobody waits for the token that it is checking then.
    checks: SyncSender<TokenCheck>,
    verdicts: Receiver<(u64, Verdict)>,
    busy: bool,
    turns: u64,
    /// When an address had its turn; of those that wait.
    last_turns: HashMap<Origin, u64>,
}

struct TokenCheck {
    order: u64,
    token: Option<String>,
    received_at_s: i64,
}

impl Authentication {
    /// Starts the thread; `bell` rings when there is a verdict.
    ///
    /// # Errors
    /// If there can be no more threads.
    pub fn begin(authenticator: Arc<Authenticator>, bell: Arc<OwnedFd>) -> io::Result<Self> {
        let (checks, requested) = sync_channel::<TokenCheck>(1);
        let (decided, verdicts) = channel();
        let body = move || {
            for check in requested {
                let verdict = check_token(&authenticator, &check);
                if decided.send((check.order, verdict)).is_err() {
                    return;
                }
                let _ = rustix::io::write(&bell, &1_u64.to_ne_bytes());
            }
        };
        thread::Builder::new().name("authentication".into()).stack_size(STACK_BYTES).spawn(body)?;
        Ok(Self { checks, verdicts, busy: false, turns: 0, last_turns: HashMap::new() })
    }

    /// Has the next token checked, unless one is being checked. `waiting`: order and address of each pending client
    /// that waits for it, in their order; `token`: that of an order, and when it was received, in seconds since 1970.
    pub fn check_next(&mut self, waiting: &[(u64, Origin)], token: impl FnOnce(u64) -> Option<(Option<String>, i64)>) {
        if self.busy {
            return;
        }
        self.last_turns.retain(|address, _| waiting.iter().any(|(_, peer)| peer == address));
        let Some((order, peer)) = next(waiting, &self.last_turns) else { return };
        let Some((token, received_at_s)) = token(order) else { return };
        self.busy = self.checks.try_send(TokenCheck { order, token, received_at_s }).is_ok();
        self.turns += 1;
        self.last_turns.insert(peer, self.turns);
    }

    /// The order of the pending client whose token was checked, and the verdict.
    pub fn verdict(&mut self) -> Option<(u64, Verdict)> {
        let verdict = self.verdicts.try_recv().ok();
        self.busy &= verdict.is_none();
        verdict
    }
}

/// Now, by the clock by which tokens are made, in seconds since 1970.
pub fn now_s() -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(now.as_secs()).unwrap_or(i64::MAX)
}

/// The one whose address has not had a turn for the longest; among those, the first to arrive.
fn next(waiting: &[(u64, Origin)], last_turns: &HashMap<Origin, u64>) -> Option<(u64, Origin)> {
    let turn = |peer: &Origin| last_turns.get(peer).copied().unwrap_or(0);
    waiting.iter().min_by_key(|(order, peer)| (turn(peer), *order)).copied()
}

fn check_token(authenticator: &Authenticator, check: &TokenCheck) -> Verdict {
    let mut random = [0; RANDOM_BYTES];
    getrandom(&mut random[..], GetRandomFlags::empty()).map_err(|error| error.to_string())?;
    // A token is valid for seconds: the time that it waited here does not count.
    let user = authenticator.check(check.token.as_deref(), check.received_at_s, random);
    user.map(drop).map_err(|denied| denied.to_string())
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use super::*;

    #[test]
    fn a_flood_from_one_address_delays_each_of_the_others_by_one_check() {
        let origin = |last| Origin::from(IpAddr::from([192, 0, 2, last]));
        let (flood, other) = (origin(1), origin(2));
        let mut waiting: Vec<_> = (0..100).map(|order| (order, flood)).chain([(100, other), (101, other)]).collect();
        let mut last_turns = HashMap::new();
        let mut turns = Vec::new();
        while let Some((order, peer)) = next(&waiting, &last_turns) {
            waiting.retain(|(other, _)| *other != order);
            last_turns.insert(peer, turns.len() as u64 + 1);
            turns.push(order);
        }
        assert_eq!(turns[..5], [0, 100, 1, 101, 2]);
        assert_eq!(turns.len(), 102);
    }
}
