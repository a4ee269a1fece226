//! Tokens of iperf3 itself, and what somebody may make of them.

use super::*;
use crate::limits::TEXT_CHARS_MAX;

const PRIVATE: &str = include_str!("samples/key.pem");
const PRIVATE_PKCS1: &str = include_str!("samples/key-pkcs1.pem");
const PUBLIC: &str = include_str!("samples/public.pem");
const OF_3_12: &str = include_str!("samples/token-3.12.txt").trim_ascii_end();
const OF_3_21: &str = include_str!("samples/token-3.21.txt").trim_ascii_end();
const MADE_AT_S: i64 = 1_795_319_620;
const USERS: &str = "mario,bf7a49a846d44b454a5d11e7acfaf13d138bbe0b7483aa3e050879700572709b\n";
const RANDOM: [u8; RANDOM_BYTES] = [42; RANDOM_BYTES];

fn server(paddings: &[Padding]) -> Authenticator {
    let users = Users::parse(USERS).unwrap();
    Authenticator::new(PrivateKey::from_pem(PRIVATE).unwrap(), paddings.to_vec(), users, SKEW_S_DEFAULT)
}

fn both() -> Authenticator {
    server(&[Padding::Oaep, Padding::Pkcs1])
}

fn token(padding: Padding, password: &str) -> String {
    make_token(&PublicKey::from_pem(PUBLIC).unwrap(), padding, ("mario", password), MADE_AT_S, RANDOM).unwrap()
}

#[test]
fn what_iperf3_encrypts_is_read() {
    assert_eq!(server(&[Padding::Oaep]).check(Some(OF_3_21), MADE_AT_S, RANDOM).unwrap(), "mario");
    assert_eq!(server(&[Padding::Pkcs1]).check(Some(OF_3_12), MADE_AT_S, RANDOM).unwrap(), "mario");
    let both = both();
    assert_eq!(both.check(Some(OF_3_21), MADE_AT_S, RANDOM).unwrap(), "mario");
    assert_eq!(both.check(Some(OF_3_12), MADE_AT_S, RANDOM).unwrap(), "mario");
}

#[test]
fn the_other_padding_is_not_read() {
    assert_eq!(server(&[Padding::Pkcs1]).check(Some(OF_3_21), MADE_AT_S, RANDOM), Err(Denied::Unreadable));
    assert_eq!(server(&[Padding::Oaep]).check(Some(OF_3_12), MADE_AT_S, RANDOM), Err(Denied::Unreadable));
}

#[test]
fn what_is_made_is_read_with_either_form_of_the_key() {
    for (pem, padding) in [(PRIVATE, Padding::Oaep), (PRIVATE_PKCS1, Padding::Pkcs1)] {
        let key = PrivateKey::from_pem(pem).unwrap();
        let server = Authenticator::new(key, vec![padding], Users::parse(USERS).unwrap(), SKEW_S_DEFAULT);
        assert_eq!(server.check(Some(&token(padding, "rossi")), MADE_AT_S, RANDOM).unwrap(), "mario");
        assert_eq!(server.check(Some(&token(padding, "bianchi")), MADE_AT_S, RANDOM), Err(Denied::User));
    }
}

#[test]
fn a_token_is_accepted_once() {
    let server = both();
    assert!(server.check(Some(OF_3_21), MADE_AT_S, RANDOM).is_ok());
    assert_eq!(server.check(Some(OF_3_21), MADE_AT_S + 1, [1; RANDOM_BYTES]), Err(Denied::Replayed));
    // The same user at the same second, once more: what is random in it differs.
    assert!(server.check(Some(&token(Padding::Oaep, "rossi")), MADE_AT_S, RANDOM).is_ok());
}

#[test]
fn clocks_may_differ_by_the_skew() {
    for (now_s, accepted) in [(-11, false), (-10, true), (10, true), (11, false)] {
        let answer = both().check(Some(OF_3_21), MADE_AT_S + now_s, RANDOM);
        let expected = if accepted { Ok("mario".into()) } else { Err(Denied::Skew { behind_s: now_s, skew_s: 10 }) };
        assert_eq!(answer, expected, "{now_s}");
    }
}

#[test]
fn whatever_else_comes_is_denied() {
    let server = both();
    assert_eq!(server.check(None, MADE_AT_S, RANDOM), Err(Denied::Missing));
    let mut turned: Vec<char> = OF_3_21.chars().collect();
    turned[20] = if turned[20] == 'A' { 'B' } else { 'A' };
    let turned: String = turned.into_iter().collect();
    let long = "A".repeat(TEXT_CHARS_MAX + 4);
    for text in ["", "=", "====", "AAAA", "no base64", "é", &OF_3_21[..340], &format!("{OF_3_21}\n"), &turned, &long] {
        assert_eq!(server.check(Some(text), MADE_AT_S, RANDOM), Err(Denied::Unreadable), "{text}");
    }
}

#[test]
fn what_iperf3_could_not_read_is_not_said() {
    let key = PublicKey::from_pem(PUBLIC).unwrap();
    let make = |user, password| make_token(&key, Padding::Oaep, (user, password), MADE_AT_S, RANDOM).unwrap_err();
    assert_eq!(make("super mario", "rossi"), TokenError::WhiteSpace("user name"));
    assert_eq!(make("mario", ""), TokenError::WhiteSpace("password"));
    assert_eq!(make("mario", &"x".repeat(300)), TokenError::Length(2048));
}

#[test]
fn secrets_are_not_shown() {
    let shown = format!("{:?} {:?}", both(), PrivateKey::from_pem(PRIVATE).unwrap());
    assert_eq!(shown, "Authenticator { paddings: [Oaep, Pkcs1], skew_s: 10, … } PrivateKey(…)");
}
