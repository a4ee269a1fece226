//! A whole control connection, as each end reads it: cookie, states and what follows them.
#![no_main]

use iperf3::{
    COOKIE_BYTES, Cookie, LENGTH_BYTES, Params, Results, ServerError, State, frame_length,
    limits::{PARAMS_BYTES_MAX, RESULTS_BYTES_MAX},
    parse_json,
};
use libfuzzer_sys::fuzz_target;
use serde::de::DeserializeOwned;

fuzz_target!(|bytes: &[u8]| {
    let mut rest = bytes;
    let _ = match take::<1>(&mut rest) {
        Some([0]) => server(&mut rest),
        Some(_) => client(&mut rest),
        None => None,
    };
});

/// What a client says to a server.
fn server(rest: &mut &[u8]) -> Option<()> {
    let cookie = Cookie::parse(take::<COOKIE_BYTES>(rest)?).ok()?;
    assert_eq!(format!("{cookie:?}"), "Cookie(…)");
    let params: Params = frame(rest, PARAMS_BYTES_MAX)?;
    params.check().ok()?;
    while let Ok(state) = State::try_from(take::<1>(rest)?[0]) {
        match state {
            State::TestEnd => drop(frame::<Results>(rest, RESULTS_BYTES_MAX)?),
            State::ClientTerminate | State::IperfDone => break,
            _ => {}
        }
    }
    Some(())
}

/// What a server says to a client.
fn client(rest: &mut &[u8]) -> Option<()> {
    while let Ok(state) = State::try_from(take::<1>(rest)?[0]) {
        assert_eq!(State::try_from(state.byte()), Ok(state));
        match state {
            State::ExchangeResults => drop(frame::<Results>(rest, RESULTS_BYTES_MAX)?),
            State::ServerError => {
                let said = take::<{ ServerError::BYTES }>(rest)?;
                let error = ServerError::decode(said);
                assert_eq!(error.encode(), said);
                assert!(!error.to_string().is_empty());
                break;
            }
            State::AccessDenied | State::ServerTerminate => break,
            _ => {}
        }
    }
    Some(())
}

fn frame<T: DeserializeOwned>(rest: &mut &[u8], most: usize) -> Option<T> {
    let length = frame_length(take::<LENGTH_BYTES>(rest)?, most).ok()?;
    assert!((1..=most).contains(&length));
    let (text, behind) = rest.split_at_checked(length)?;
    *rest = behind;
    parse_json(text).ok()
}

fn take<const N: usize>(rest: &mut &[u8]) -> Option<[u8; N]> {
    let (taken, behind) = rest.split_first_chunk::<N>()?;
    *rest = behind;
    Some(*taken)
}
