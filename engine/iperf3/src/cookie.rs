//! What names a test on each of its connections.

use thiserror::Error;

/// Length on the wire: 36 characters and a NUL.
pub const COOKIE_BYTES: usize = 37;
const ALPHABET: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";

/// Names a test on each of its connections.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Cookie([u8; COOKIE_BYTES]);

/// A connection does not begin with a cookie.
#[derive(Debug, Error, PartialEq, Eq)]
#[error("no cookie of iperf3: 36 printable characters and a NUL were expected")]
pub struct CookieError;

impl Cookie {
    /// Makes a cookie of random bytes: five bits of each make a character.
    #[must_use]
    pub fn from_random(random: [u8; COOKIE_BYTES - 1]) -> Self {
        let mut bytes = [0; COOKIE_BYTES];
        for (place, value) in bytes.iter_mut().zip(random) {
            *place = ALPHABET[usize::from(value) % ALPHABET.len()];
        }
        Self(bytes)
    }

    /// Reads a cookie. Clients other than iperf3 take other letters, so that every printable character will do.
    ///
    /// # Errors
    /// [`CookieError`] if a character cannot be printed, or the last one is not NUL.
    pub fn parse(bytes: [u8; COOKIE_BYTES]) -> Result<Self, CookieError> {
        match bytes.split_last() {
            Some((0, characters)) if characters.iter().all(u8::is_ascii_graphic) => Ok(Self(bytes)),
            _ => Err(CookieError),
        }
    }

    /// As it goes over the wire.
    #[must_use]
    pub fn bytes(&self) -> &[u8; COOKIE_BYTES] {
        &self.0
    }
}

impl std::fmt::Debug for Cookie {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Whoever knows it may join the test.
        formatter.write_str("Cookie(…)")
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_is_made_is_read(random: [u8; 18], more: [u8; 18]) {
            let mut all = [0; 36];
            all[..18].copy_from_slice(&random);
            all[18..].copy_from_slice(&more);
            let cookie = Cookie::from_random(all);
            prop_assert_eq!(Cookie::parse(*cookie.bytes()), Ok(cookie));
        }
    }

    #[test]
    fn garbage_is_no_cookie() {
        assert_eq!(Cookie::parse([0; COOKIE_BYTES]), Err(CookieError));
        assert_eq!(Cookie::parse([b'a'; COOKIE_BYTES]), Err(CookieError));
        let mut request = [b'x'; COOKIE_BYTES];
        request[..16].copy_from_slice(b"GET / HTTP/1.1\r\n");
        request[36] = 0;
        assert_eq!(Cookie::parse(request), Err(CookieError));
    }
}
