//! Tokens that were accepted, for as long as they could be accepted again.

use std::collections::HashMap;

use sha2::{Digest, Sha256};

/// Most tokens that are remembered: 3 MB. Only those of known users come here.
const REMEMBERED_MAX: usize = 1 << 16;

/// Tokens are not checked in the order in which they were received: how much later one may have come than those after it.
/// No server lets one wait for so long.
const BEHIND_MAX_S: i64 = 60;

/// Remembers each token until its time is over, and a while longer.
#[derive(Default)]
pub struct Replays {
    until_s: HashMap<[u8; 32], i64>,
}

impl Replays {
    /// Takes note of an encrypted token that cannot be accepted any more after `until_s`, by the clock that says `now_s`.
    ///
    /// # Errors
    /// `false` if it has come before, `true` if there is no room for another one.
    pub fn first_time(&mut self, encrypted: &[u8], now_s: i64, until_s: i64) -> Result<(), bool> {
        self.until_s.retain(|_, until_s| *until_s >= now_s.saturating_sub(BEHIND_MAX_S));
        let digest = Sha256::digest(encrypted).into();
        if self.until_s.contains_key(&digest) {
            return Err(false);
        }
        if self.until_s.len() >= REMEMBERED_MAX {
            return Err(true);
        }
        self.until_s.insert(digest, until_s);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_forgotten_when_it_is_too_old_anyway() {
        let mut replays = Replays::default();
        assert_eq!(replays.first_time(b"token", 100, 110), Ok(()));
        assert_eq!(replays.first_time(b"token", 110, 110), Err(false));
        assert_eq!(replays.first_time(b"another", 110, 120), Ok(()));
        assert_eq!(replays.first_time(b"token", 111, 110), Err(false), "a check of one received before may come later");
        assert_eq!(replays.first_time(b"token", 111 + BEHIND_MAX_S, 110), Ok(()));
    }

    #[test]
    fn memory_is_bounded() {
        let digest_of = |number: usize| {
            let mut digest = [0; 32];
            digest[..8].copy_from_slice(&number.to_be_bytes());
            (digest, 10)
        };
        let mut replays = Replays { until_s: (0..REMEMBERED_MAX).map(digest_of).collect() };
        assert_eq!(replays.first_time(b"one too many", 10, 20), Err(true));
        assert_eq!(replays.first_time(b"room again", 11 + BEHIND_MAX_S, 20), Ok(()));
        assert_eq!(replays.until_s.len(), 1);
    }
}
