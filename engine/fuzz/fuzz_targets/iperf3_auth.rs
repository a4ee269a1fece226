//! What a client may put into its token, and what stands in a file of users. Without RSA: whoever has the server's
//! public key can encrypt any message, and a hundred decryptions a second would find nothing.
#![no_main]

use iperf3::auth::{Authenticator, Claim, Denied, PrivateKey, RANDOM_BYTES, SKEW_S_DEFAULT, Users};
use libfuzzer_sys::fuzz_target;
use std::sync::LazyLock;

const USERS: &str = "mario,bf7a49a846d44b454a5d11e7acfaf13d138bbe0b7483aa3e050879700572709b";

static SERVER: LazyLock<Authenticator> = LazyLock::new(|| {
    let key = PrivateKey::from_pem(include_str!("../../iperf3/src/auth/samples/key.pem")).expect("a key");
    Authenticator::new(key, Vec::new(), Users::parse(USERS).expect("users"), SKEW_S_DEFAULT)
});

fuzz_target!(|text: &str| {
    assert_eq!(SERVER.check(Some(text), 0, [0; RANDOM_BYTES]), Err(Denied::Unreadable));
    let known = Users::parse(USERS).expect("users");
    if let Some(claim) = Claim::parse(text) {
        assert_eq!(known.has(&claim), claim.user == "mario" && claim.password == "rossi");
    }
    if let Ok(users) = Users::parse(text) {
        assert!(!users.has(&Claim::default()));
    }
});
