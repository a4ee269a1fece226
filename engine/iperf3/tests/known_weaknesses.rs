//! What iperf3 itself could be broken with, each under the number that it got. Here it is refused, and what comes
//! after it is served.

use iperf3::{
    Counter, DatagramHeader, FrameError, Params, Results,
    auth::{
        Authenticator, Denied, Padding, PrivateKey, PublicKey, RANDOM_BYTES, SKEW_S_DEFAULT, TokenError, Users,
        make_token,
    },
    frame_length,
    limits::{PARAMS_BYTES_MAX, RESULTS_BYTES_MAX},
    parse_json,
};
use serde_json::{Value, json};

const PUBLIC: &str = include_str!("../src/auth/samples/public.pem");
const PRIVATE: &str = include_str!("../src/auth/samples/key.pem");
const TOKEN: &str = include_str!("../src/auth/samples/token-3.21.txt").trim_ascii_end();
const MADE_AT_S: i64 = 1_795_319_620;
const KEY_BYTES: usize = 256;
const RANDOM: [u8; RANDOM_BYTES] = [3; RANDOM_BYTES];

/// iperf3 before 3.14 took memory for the announced length and one byte: of 4 GiB − 1 that is none.
#[test]
fn cve_2023_38403_a_length_that_wraps_is_refused() {
    for announced in [0, 0x8000_0000, 0xffff_fffe, u32::MAX] {
        for most in [PARAMS_BYTES_MAX, RESULTS_BYTES_MAX] {
            let refused = frame_length(announced.to_be_bytes(), most);
            assert!(matches!(refused, Err(FrameError::Length { .. })), "{announced} of {most}");
        }
    }
}

/// iperf3 before 3.18 took any value for the text or number that it expected, and followed the pointer in it.
#[test]
fn cve_2024_53580_a_value_of_another_type_is_refused() {
    let texts = ["title", "extra_data", "congestion", "authtoken", "client_version"];
    let numbers = [
        "omit",
        "time",
        "num",
        "blockcount",
        "MSS",
        "parallel",
        "window",
        "len",
        "bandwidth",
        "fqrate",
        "pacing_timer",
        "burst",
        "TOS",
    ];
    let switches = [
        "tcp",
        "udp",
        "sctp",
        "nodelay",
        "reverse",
        "bidirectional",
        "mptcp",
        "get_server_output",
        "udp_counters_64bit",
    ];
    let (text, number, truth) = (json!("cubic"), json!(1), json!(true));
    let (list, object, nothing) = (json!([1]), json!({"a": 1}), Value::Null);
    let refused = |key: &str, values: &[&Value]| {
        for value in values {
            let params = json!({key: value}).to_string();
            assert!(parse_json::<Params>(params.as_bytes()).is_err(), "{params}");
        }
    };
    for key in texts {
        refused(key, &[&number, &truth, &list, &object]);
    }
    for key in numbers {
        refused(key, &[&text, &truth, &list, &object, &nothing]);
    }
    for key in switches {
        refused(key, &[&text, &list, &object, &nothing]);
    }
}

/// The same in the results, which either end reads.
#[test]
fn cve_2024_53580_results_of_another_type_are_refused() {
    for results in [
        json!({"streams": 1}),
        json!({"streams": [1]}),
        json!({"streams": [null]}),
        json!({"streams": [{"id": "1", "bytes": 1}]}),
        json!({"streams": [{"id": 1, "bytes": null}]}),
        json!({"streams": [{"id": 1}]}),
        json!({"streams": [{"id": 1, "bytes": 1, "omitted_packets": []}]}),
        json!({"cpu_util_total": "much"}),
        json!({"server_output_text": 7}),
        json!({"congestion_used": {}}),
    ] {
        assert!(parse_json::<Results>(results.to_string().as_bytes()).is_err(), "{results}");
    }
}

/// iperf3 before 3.19.1 wrote one byte behind what it had decrypted, when that was as long as can be.
#[test]
fn cve_2025_54349_a_token_may_be_as_long_as_the_key_allows() {
    let key = PublicKey::from_pem(PUBLIC).unwrap();
    for (padding, overhead) in [(Padding::Oaep, 42), (Padding::Pkcs1, 11)] {
        let fixed = "user: \npwd:  \nts:   ".len() + MADE_AT_S.to_string().len();
        let user = "m".repeat(KEY_BYTES - overhead - fixed - 1);
        let make = |user: &str| make_token(&key, padding, (user, "p"), MADE_AT_S, RANDOM);
        let longest = make(&user).unwrap();
        assert_eq!(server(padding).check(Some(&longest), MADE_AT_S, RANDOM), Err(Denied::User));
        assert_eq!(make(&format!("{user}m")), Err(TokenError::Length(2048)));
    }
}

/// The same with tokens that are longer or shorter than what the key encrypts.
#[test]
fn cve_2025_54349_a_token_of_another_length_than_the_key_is_denied() {
    let server = server(Padding::Oaep);
    for quartets in [0, 1, 2, 84, 85, 86, 87, 1000, 1024, 1025, 100_000] {
        for padding in ["", "AA==", "AAA="] {
            let token = format!("{}{padding}", "AAAA".repeat(quartets));
            assert_eq!(server.check(Some(&token), MADE_AT_S, RANDOM), Err(Denied::Unreadable), "{quartets} {padding}");
        }
    }
    assert_eq!(server.check(Some(TOKEN), MADE_AT_S, RANDOM).as_deref(), Ok("mario"));
}

/// iperf3 before 3.19.1 ended when a token was no base64.
#[test]
fn cve_2025_54350_a_token_that_is_no_base64_is_denied_and_the_next_one_served() {
    let server = server(Padding::Oaep);
    for token in ["", "=", "==", "===", "A", "A=", "AAA", "A===", "====", "AA=A", "\0", " ", "AAAA\n", "%s%n", "äöü"]
    {
        assert_eq!(server.check(Some(token), MADE_AT_S, RANDOM), Err(Denied::Unreadable), "{token:?}");
        let cut = format!("{}{token}", &TOKEN[..TOKEN.len() - 4]);
        assert_eq!(server.check(Some(&cut), MADE_AT_S, RANDOM), Err(Denied::Unreadable), "{cut:?}");
    }
    assert_eq!(server.check(Some(TOKEN), MADE_AT_S, RANDOM).as_deref(), Ok("mario"));
}

/// iperf3 before 3.19.1 believed the length that the kernel tells of a datagram of which it left most behind
/// (`--skip-rx-copy`). What is asked for is passed over here, and no header is read out of less than its bytes.
#[test]
fn cve_2025_54351_nothing_is_read_behind_the_bytes_that_are_there() {
    let asked = br#"{"udp": true, "skip_rx_copy": true, "len": 16}"#;
    assert_eq!(parse_json::<Params>(asked).unwrap(), parse_json(br#"{"udp": true, "len": 16}"#).unwrap());
    let datagram = [1; 64];
    for counter in [Counter::Narrow, Counter::Wide] {
        for length in 0..=datagram.len() {
            let read = DatagramHeader::read(counter, &datagram[..length]);
            assert!(length >= counter.header_bytes() || read.is_none(), "{length}");
        }
    }
}

#[expect(clippy::unwrap_used, reason = "part of a test")]
fn server(padding: Padding) -> Authenticator {
    let users = "mario,bf7a49a846d44b454a5d11e7acfaf13d138bbe0b7483aa3e050879700572709b\n";
    let key = PrivateKey::from_pem(PRIVATE).unwrap();
    Authenticator::new(key, vec![padding], Users::parse(users).unwrap(), SKEW_S_DEFAULT)
}
