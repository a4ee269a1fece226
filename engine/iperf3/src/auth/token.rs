//! The token itself: three lines of text, RSA, base64.

use base64ct::{Base64, Encoding};
use rsa::{
    Oaep, Pkcs1v15Encrypt, RsaPrivateKey, RsaPublicKey,
    pkcs1::{DecodeRsaPrivateKey, DecodeRsaPublicKey},
    pkcs8::{DecodePrivateKey, DecodePublicKey},
    traits::PublicKeyParts,
};
use sha1::Sha1;
use thiserror::Error;

use super::expansion::{Expansion, RANDOM_BYTES};
use crate::limits::TEXT_CHARS_MAX;

/// Longest text of a key: one of 8192 bits makes 6.4 KB.
const PEM_BYTES_MAX: usize = 16 << 10;
/// Sizes of keys, in bits. Below, anyone can find the private one; above, one look at a token takes a second.
const KEY_BITS: std::ops::RangeInclusive<u32> = 1024..=8192;

/// How a message is made as long as the key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Padding {
    /// OAEP with SHA-1 (RFC 8017, 7.1), as iperf3 since 3.17.
    Oaep,
    /// PKCS#1 v1.5 (RFC 8017, 7.2), as iperf3 before 3.17, and later with `--use-pkcs1-padding`.
    Pkcs1,
}

/// With which a client encrypts.
#[derive(Clone, Debug)]
pub struct PublicKey(RsaPublicKey);

/// With which a server decrypts.
pub struct PrivateKey(RsaPrivateKey);

/// What is no key.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum KeyError {
    /// Not the PEM of such a key.
    #[error("not an RSA {0} key in PEM, without a password (PKCS#8 or PKCS#1)")]
    Pem(&'static str),
    /// Too short to protect anything, or too long.
    #[error("an RSA key of {0} bits, expected {least} to {most}", least = KEY_BITS.start(), most = KEY_BITS.end())]
    Size(u32),
}

/// Why a token cannot be made.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum TokenError {
    /// iperf3 reads both up to the first white space.
    #[error("the {0} is empty, or has white space in it, which iperf3 cannot read")]
    WhiteSpace(&'static str),
    /// They do not fit the key.
    #[error("user name and password are too long for an RSA key of {0} bits")]
    Length(u32),
}

/// What a token says.
#[derive(Default, PartialEq, Eq)]
pub struct Claim {
    /// Who is speaking, if the password is right.
    pub user: String,
    /// As it was typed.
    pub password: String,
    /// Seconds since 1970, by the client's clock.
    pub made_at_s: i64,
}

impl Claim {
    /// Reads what was encrypted. It may be anything: whoever has the public key can encrypt.
    #[must_use]
    pub fn parse(message: &str) -> Option<Self> {
        let mut lines = message.split('\n');
        let user = lines.next()?.strip_prefix("user: ")?.trim_start().to_owned();
        let password = lines.next()?.strip_prefix("pwd:  ")?.trim_start().to_owned();
        let made_at_s = lines.next()?.strip_prefix("ts:   ")?.trim().parse().ok()?;
        (lines.next().is_none() && !user.is_empty()).then_some(Self { user, password, made_at_s })
    }
}

impl PublicKey {
    /// Reads a key as `openssl rsa -pubout` writes it.
    ///
    /// # Errors
    /// [`KeyError`] if it is none, or of another size than is accepted.
    pub fn from_pem(pem: &str) -> Result<Self, KeyError> {
        let text = bounded(pem).ok_or(KeyError::Pem("public"))?;
        let key = RsaPublicKey::from_public_key_pem(text)
            .or_else(|_| RsaPublicKey::from_pkcs1_pem(text))
            .map_err(|_| KeyError::Pem("public"))?;
        check_size(&key).map(|()| Self(key))
    }
}

impl PrivateKey {
    /// Reads a key as `openssl genrsa` writes it, old (PKCS#1) or new (PKCS#8).
    ///
    /// # Errors
    /// [`KeyError`] if it is none, is encrypted, or of another size than is accepted.
    pub fn from_pem(pem: &str) -> Result<Self, KeyError> {
        let text = bounded(pem).ok_or(KeyError::Pem("private"))?;
        let key = RsaPrivateKey::from_pkcs8_pem(text)
            .or_else(|_| RsaPrivateKey::from_pkcs1_pem(text))
            .map_err(|_| KeyError::Pem("private"))?;
        check_size(&key).map(|()| Self(key))
    }

    /// What an encrypted token says; nothing if it says nothing, for whatever reason.
    pub(super) fn read(&self, encrypted: &[u8], padding: Padding, random: [u8; RANDOM_BYTES]) -> Option<Claim> {
        let random = &mut Expansion::of(random);
        let message = match padding {
            Padding::Oaep => self.0.decrypt_blinded(random, Oaep::<Sha1>::new(), encrypted),
            Padding::Pkcs1 => self.0.decrypt_blinded(random, Pkcs1v15Encrypt, encrypted),
        };
        Claim::parse(&String::from_utf8(message.ok()?).ok()?)
    }
}

impl std::fmt::Debug for PrivateKey {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("PrivateKey(…)")
    }
}

/// Makes the `authtoken` of a client's parameters. `now_s` is the wall clock in seconds since 1970.
///
/// # Errors
/// [`TokenError`] if user or password cannot be said to iperf3.
pub fn make_token(
    key: &PublicKey,
    padding: Padding,
    (user, password): (&str, &str),
    now_s: i64,
    random: [u8; RANDOM_BYTES],
) -> Result<String, TokenError> {
    for (name, text) in [("user name", user), ("password", password)] {
        if text.is_empty() || text.chars().any(char::is_whitespace) {
            return Err(TokenError::WhiteSpace(name));
        }
    }
    let message = format!("user: {user}\npwd:  {password}\nts:   {now_s}");
    let random = &mut Expansion::of(random);
    let encrypted = match padding {
        Padding::Oaep => key.0.encrypt(random, Oaep::<Sha1>::new(), message.as_bytes()),
        Padding::Pkcs1 => key.0.encrypt(random, Pkcs1v15Encrypt, message.as_bytes()),
    };
    encrypted.map(|bytes| Base64::encode_string(&bytes)).map_err(|_| TokenError::Length(bits(&key.0)))
}

/// The bytes of a token; nothing if it is no base64, or longer than any key.
pub fn decode_base64(token: &str) -> Option<Vec<u8>> {
    (token.len() <= TEXT_CHARS_MAX).then(|| Base64::decode_vec(token).ok())?
}

fn bounded(pem: &str) -> Option<&str> {
    (pem.len() <= PEM_BYTES_MAX).then(|| pem.trim())
}

fn bits(key: &impl PublicKeyParts) -> u32 {
    key.n().bits()
}

fn check_size(key: &impl PublicKeyParts) -> Result<(), KeyError> {
    let bits = bits(key);
    if KEY_BITS.contains(&bits) { Ok(()) } else { Err(KeyError::Size(bits)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_three_lines() {
        let claim = Claim::parse("user: mario\npwd:  rossi\nts:   1795319600").unwrap();
        assert_eq!((claim.user.as_str(), claim.password.as_str(), claim.made_at_s), ("mario", "rossi", 1_795_319_600));
        for message in [
            "",
            "user: ",
            "user: a\npwd:  b",
            "user: a\npwd:  b\nts:   now",
            "pwd:  b\nuser: a\nts:   1",
            "user: a\npwd:  b\nts:   99999999999999999999",
            "user: a\npwd:  b\nts:   1\nmore",
            "user: \npwd:  \nts:   1",
        ] {
            assert!(Claim::parse(message).is_none(), "{message}");
        }
    }

    #[test]
    fn what_is_no_key_is_said() {
        assert_eq!(PublicKey::from_pem("key").unwrap_err(), KeyError::Pem("public"));
        assert_eq!(PrivateKey::from_pem(&"A".repeat(1 << 20)).unwrap_err(), KeyError::Pem("private"));
        let encrypted = "-----BEGIN ENCRYPTED PRIVATE KEY-----\nMIIB\n-----END ENCRYPTED PRIVATE KEY-----\n";
        assert_eq!(
            PrivateKey::from_pem(encrypted).unwrap_err().to_string(),
            "not an RSA private key in PEM, without a password (PKCS#8 or PKCS#1)"
        );
    }
}
