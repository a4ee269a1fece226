//! User and password, encrypted for a server: iperf3's `authtoken`.
//!
//! A client makes a token of its user, password and time ([`make_token`]); a server reads it with its private key and
//! says who it is ([`Authenticator`]). iperf3 encrypts with OAEP since 3.17, before with PKCS#1 v1.5, and accepts a
//! token as often as it comes; here it is accepted once.

mod expansion;
mod replays;
mod token;
mod users;

use std::sync::{Mutex, PoisonError};

use thiserror::Error;

pub use expansion::RANDOM_BYTES;
use replays::Replays;
use token::decode_base64;
pub use token::{Claim, KeyError, Padding, PrivateKey, PublicKey, TokenError, make_token};
pub use users::{Users, UsersError};

/// How far the clocks of client and server may be apart, in seconds, as in iperf3.
pub const SKEW_S_DEFAULT: u32 = 10;

/// Decides who may test.
pub struct Authenticator {
    key: PrivateKey,
    paddings: Vec<Padding>,
    users: Users,
    skew_s: u32,
    replays: Mutex<Replays>,
}

/// Why nobody was let in. Peers are given [`crate::ErrorCode::AUTHENTICATION`] whatever the reason: who knows which it
/// was could find out users, or decrypt what others have sent. It is for the server's own log.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum Denied {
    /// There was no token.
    #[error("there was no user name, and this server requires one")]
    Missing,
    /// It is no base64, is not encrypted for this key or with another padding, or holds something else.
    #[error("the token is not of this server's key (OAEP since iperf3 3.17, PKCS#1 v1.5 before)")]
    Unreadable,
    /// User and password are not among those that are known.
    #[error("unknown user or wrong password")]
    User,
    /// It was not made now.
    #[error("the token was made {behind_s} s ago by the client's clock; {skew_s} s are accepted either way")]
    Skew {
        /// Age of the token, in seconds; below 0 if it comes from the future.
        behind_s: i64,
        /// That are accepted.
        skew_s: u32,
    },
    /// It has come before.
    #[error("the token was used before")]
    Replayed,
    /// There were more tokens within the accepted skew than are remembered.
    #[error("too many users within {0} s")]
    TooMany(u32),
}

impl Authenticator {
    /// Makes one that reads tokens of each padding in `paddings`, and accepts clocks that are `skew_s` seconds apart.
    #[must_use]
    pub fn new(key: PrivateKey, paddings: Vec<Padding>, users: Users, skew_s: u32) -> Self {
        Self { key, paddings, users, skew_s, replays: Mutex::default() }
    }

    /// Says which user sent a token. `now_s` is the wall clock in seconds since 1970; `random` hides from the time that
    /// it takes what is decrypted.
    ///
    /// # Errors
    /// [`Denied`], which is not for the peer.
    pub fn check(&self, token: Option<&str>, now_s: i64, random: [u8; RANDOM_BYTES]) -> Result<String, Denied> {
        let encrypted = decode_base64(token.ok_or(Denied::Missing)?).ok_or(Denied::Unreadable)?;
        // All paddings and the users are gone through whatever comes out: the time tells nothing.
        let mut claim = None;
        for padding in &self.paddings {
            let read = self.key.read(&encrypted, *padding, random);
            claim = claim.or(read);
        }
        let nobody = Claim::default();
        let known = self.users.has(claim.as_ref().unwrap_or(&nobody));
        let claim = claim.ok_or(Denied::Unreadable)?;
        if !known {
            return Err(Denied::User);
        }
        let behind_s = now_s.saturating_sub(claim.made_at_s);
        if behind_s.unsigned_abs() > u64::from(self.skew_s) {
            return Err(Denied::Skew { behind_s, skew_s: self.skew_s });
        }
        let until_s = claim.made_at_s.saturating_add(i64::from(self.skew_s));
        self.replays
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .first_time(&encrypted, now_s, until_s)
            .map_err(|full| if full { Denied::TooMany(self.skew_s) } else { Denied::Replayed })?;
        Ok(claim.user)
    }
}

impl std::fmt::Debug for Authenticator {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { paddings, skew_s, .. } = self;
        write!(formatter, "Authenticator {{ paddings: {paddings:?}, skew_s: {skew_s}, … }}")
    }
}

#[cfg(test)]
mod tests;
