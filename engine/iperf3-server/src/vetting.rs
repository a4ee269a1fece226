//! Who a client is, found out by a thread of its own: an RSA decryption takes milliseconds, with a long key a second, and
//! the acceptor waits for nobody.
//!
//! One token is looked at at a time. Those that wait are the pending clients themselves, hence bounded, and whose turn it is
//! goes round by address: a flood from one host costs the others one look each.

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

use crate::{defaults::STACK_BYTES, fairness::Origin};

/// What a look at a token came to: the reason why not, for the log.
pub type Verdict = Result<(), String>;

/// A thread that looks at tokens, one at a time.
pub struct Vetting {
    /// Once they are gone the thread ends; nobody waits for the token that it looks at just then.
    questions: SyncSender<Question>,
    answers: Receiver<(u64, Verdict)>,
    busy: bool,
    turns: u64,
    /// When an address had its turn; of those that wait.
    last_turns: HashMap<Origin, u64>,
}

struct Question {
    order: u64,
    token: Option<String>,
    came_at_s: i64,
}

impl Vetting {
    /// Has the thread begin; `bell` rings when there is an answer.
    ///
    /// # Errors
    /// If there can be no more threads.
    pub fn begin(authenticator: Arc<Authenticator>, bell: Arc<OwnedFd>) -> io::Result<Self> {
        let (questions, asked) = sync_channel::<Question>(1);
        let (answer, answers) = channel();
        let body = move || {
            for question in asked {
                let verdict = look(&authenticator, &question);
                if answer.send((question.order, verdict)).is_err() {
                    return;
                }
                let _ = rustix::io::write(&bell, &1_u64.to_ne_bytes());
            }
        };
        thread::Builder::new().name("vetting".into()).stack_size(STACK_BYTES).spawn(body)?;
        Ok(Self { questions, answers, busy: false, turns: 0, last_turns: HashMap::new() })
    }

    /// Has the next token looked at, if none is just now. `waiting`: order and address of each pending client that waits for it,
    /// in their order; `token` is that of an order, and the wall clock in seconds since 1970 when it came.
    pub fn ask(&mut self, waiting: &[(u64, Origin)], token: impl FnOnce(u64) -> Option<(Option<String>, i64)>) {
        if self.busy {
            return;
        }
        self.last_turns.retain(|address, _| waiting.iter().any(|(_, peer)| peer == address));
        let Some((order, peer)) = next(waiting, &self.last_turns) else { return };
        let Some((token, came_at_s)) = token(order) else { return };
        self.busy = self.questions.try_send(Question { order, token, came_at_s }).is_ok();
        self.turns += 1;
        self.last_turns.insert(peer, self.turns);
    }

    /// The order of the pending client whose token was looked at, and what that came to.
    pub fn answer(&mut self) -> Option<(u64, Verdict)> {
        let answer = self.answers.try_recv().ok();
        self.busy &= answer.is_none();
        answer
    }
}

/// Now, by the clock by which tokens are made, in seconds since 1970.
pub fn now_s() -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(now.as_secs()).unwrap_or(i64::MAX)
}

/// Whose address has not had a turn for the longest; among those, who came first.
fn next(waiting: &[(u64, Origin)], last_turns: &HashMap<Origin, u64>) -> Option<(u64, Origin)> {
    let turn = |peer: &Origin| last_turns.get(peer).copied().unwrap_or(0);
    waiting.iter().min_by_key(|(order, peer)| (turn(peer), *order)).copied()
}

fn look(authenticator: &Authenticator, question: &Question) -> Verdict {
    let mut random = [0; RANDOM_BYTES];
    getrandom(&mut random[..], GetRandomFlags::empty()).map_err(|error| error.to_string())?;
    // A token is good for seconds: that it had to wait here is not its fault.
    let user = authenticator.check(question.token.as_deref(), question.came_at_s, random);
    user.map(drop).map_err(|denied| denied.to_string())
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use super::*;

    #[test]
    fn a_flood_from_one_address_costs_the_others_one_look_each() {
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
