//! JSON on the control connection: its length as `u32` big-endian, then the text.

use serde::de::DeserializeOwned;
use thiserror::Error;

use crate::{limits::JSON_DEPTH_MAX, object::Object};

/// Length of the length, in bytes.
pub const LENGTH_BYTES: usize = 4;

/// Why bytes are not what was expected.
#[derive(Debug, Error)]
pub enum FrameError {
    /// Nothing, or more than is accepted.
    #[error("JSON of {announced} bytes was announced, 1 to {most} are accepted")]
    Length {
        /// By the peer.
        announced: usize,
        /// That are accepted.
        most: usize,
    },
    /// Objects and lists lie in each other without end.
    #[error("JSON of more than {JSON_DEPTH_MAX} levels")]
    Depth,
    /// It is not the JSON that iperf3 sends.
    #[error("not the JSON of iperf3: {0}")]
    Json(#[from] serde_json::Error),
}

/// Reads the length of what follows, in bytes.
///
/// # Errors
/// [`FrameError::Length`] if it is 0 or more than `most`.
pub fn frame_length(header: [u8; LENGTH_BYTES], most: usize) -> Result<usize, FrameError> {
    let announced = u32::from_be_bytes(header) as usize;
    if announced == 0 || announced > most {
        return Err(FrameError::Length { announced, most });
    }
    Ok(announced)
}

/// A message as it goes over the wire, with its length.
///
/// # Errors
/// [`FrameError`] if it has more than 4 GiB.
pub fn encode_frame(message: &impl serde::Serialize) -> Result<Vec<u8>, FrameError> {
    let text = serde_json::to_vec(message)?;
    let length =
        u32::try_from(text.len()).map_err(|_| FrameError::Length { announced: text.len(), most: u32::MAX as usize })?;
    Ok([&length.to_be_bytes()[..], &text].concat())
}

/// Reads the text of a message, which is an object.
///
/// # Errors
/// [`FrameError`] if it is nested too deeply, or is not what was expected.
pub fn parse_json<T: DeserializeOwned>(text: &[u8]) -> Result<T, FrameError> {
    if depth(text) > JSON_DEPTH_MAX {
        return Err(FrameError::Depth);
    }
    Ok(serde_json::from_slice::<Object<T>>(text)?.0)
}

/// How deep brackets lie in each other, outside of strings.
fn depth(text: &[u8]) -> usize {
    let (mut depth, mut deepest, mut in_string, mut escaped) = (0_usize, 0, false, false);
    for byte in text {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            b'{' | b'[' if !in_string => depth += 1,
            b'}' | b']' if !in_string => depth = depth.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(depth);
    }
    deepest
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{limits::PARAMS_BYTES_MAX, params::Params, results::Results};

    proptest! {
        #[test]
        fn no_length_is_accepted_beyond_the_bound(header: [u8; LENGTH_BYTES]) {
            if let Ok(length) = frame_length(header, PARAMS_BYTES_MAX) {
                prop_assert!((1..=PARAMS_BYTES_MAX).contains(&length));
            }
        }

        #[test]
        fn text_that_is_said_is_read(said: String) {
            let bytes = encode_frame(&Results { server_output_text: Some(said.clone()), ..Results::default() }).unwrap();
            let (header, text) = bytes.split_first_chunk::<LENGTH_BYTES>().unwrap();
            prop_assert_eq!(frame_length(*header, usize::MAX).unwrap(), text.len());
            prop_assert_eq!(parse_json::<Results>(text).unwrap().server_output_text, Some(said));
        }
    }

    #[test]
    fn brackets_without_end_are_refused_before_they_are_parsed() {
        let deep = "[".repeat(100_000);
        assert!(matches!(parse_json::<serde_json::Value>(deep.as_bytes()), Err(FrameError::Depth)));
        let in_text = format!("{{\"title\":\"{}\\\"{}\"}}", "[".repeat(100), "{".repeat(100));
        assert!(parse_json::<Params>(in_text.as_bytes()).is_ok());
    }
}
