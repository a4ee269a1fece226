//! Says to a server who asks.

use std::{fs::File, io::Read};

use iperf3::auth::{Padding, PublicKey, RANDOM_BYTES, make_token};
use wire::Iperf3Login;

use crate::{TrialError, defaults::RANDOM_DEVICE, origin::wall_clock_ns};

const NANOSECONDS_PER_S: i64 = 1_000_000_000;

/// A token that the server takes for some seconds, as long as its clock allows.
pub fn token(login: &Iperf3Login) -> Result<String, TrialError> {
    let failed = |reason: String| TrialError::Settings(format!("cannot log in to the iperf3 server: {reason}"));
    let key = PublicKey::from_pem(&login.public_key).map_err(|error| failed(error.to_string()))?;
    let padding = if login.pkcs1 { Padding::Pkcs1 } else { Padding::Oaep };
    let mut random = [0; RANDOM_BYTES];
    let drawn = File::open(RANDOM_DEVICE).and_then(|mut device| device.read_exact(&mut random));
    drawn.map_err(|error| failed(format!("{RANDOM_DEVICE}: {error}")))?;
    let who = (login.user.as_str(), login.password.0.as_str());
    make_token(&key, padding, who, wall_clock_ns() / NANOSECONDS_PER_S, random)
        .map_err(|error| failed(error.to_string()))
}
