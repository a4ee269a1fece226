//! Frames on the engine's standard input and output.
//!
//! `u32` big-endian payload length, one kind byte, payload. The engine's side of the stream opens with [`MAGIC`], so
//! that a login banner in front of it can be distinguished from the protocol.

use thiserror::Error;

/// Opens the engine's output. The NUL makes it impossible in a text banner.
pub const MAGIC: &[u8; 16] = b"\0flowsweep/agent";

/// Length and kind of a frame, in bytes.
pub const HEADER_BYTES: usize = 5;

/// Largest payload either side accepts, in bytes. A peer that announces more is broken or hostile.
pub const MAX_PAYLOAD_BYTES: usize = 64 << 20;

/// What the payload of a frame is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameKind {
    /// One JSON message: a [`crate::Request`] or an [`crate::Event`].
    Json,
    /// One complete Arrow IPC stream of samples.
    Arrow,
}

/// One frame, read completely.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// What the payload is.
    pub kind: FrameKind,
    /// The payload, at most [`MAX_PAYLOAD_BYTES`].
    pub payload: Vec<u8>,
}

/// Why bytes are not a frame.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum FrameError {
    /// The kind byte is none of ours.
    #[error("unknown frame kind {0:#04x}, expected 'J' or 'A'")]
    UnknownKind(u8),
    /// The announced payload is larger than [`MAX_PAYLOAD_BYTES`].
    #[error("frame of {0} bytes, at most {MAX_PAYLOAD_BYTES} are accepted")]
    TooLarge(usize),
}

/// Reads a header: kind and payload length in bytes.
///
/// # Errors
/// [`FrameError`] if the kind is unknown or the length out of bounds.
pub fn decode_header(header: [u8; HEADER_BYTES]) -> Result<(FrameKind, usize), FrameError> {
    let [a, b, c, d, kind] = header;
    let length = u32::from_be_bytes([a, b, c, d]) as usize;
    let kind = match kind {
        b'J' => FrameKind::Json,
        b'A' => FrameKind::Arrow,
        other => return Err(FrameError::UnknownKind(other)),
    };
    if length > MAX_PAYLOAD_BYTES {
        return Err(FrameError::TooLarge(length));
    }
    Ok((kind, length))
}

/// Header and payload as they go over the wire.
///
/// # Errors
/// [`FrameError::TooLarge`] if the payload is over [`MAX_PAYLOAD_BYTES`].
pub fn encode(kind: FrameKind, payload: &[u8]) -> Result<Vec<u8>, FrameError> {
    let length = u32::try_from(payload.len())
        .ok()
        .filter(|&length| length as usize <= MAX_PAYLOAD_BYTES)
        .ok_or(FrameError::TooLarge(payload.len()))?;
    let mut bytes = Vec::with_capacity(HEADER_BYTES + payload.len());
    bytes.extend_from_slice(&length.to_be_bytes());
    bytes.push(match kind {
        FrameKind::Json => b'J',
        FrameKind::Arrow => b'A',
    });
    bytes.extend_from_slice(payload);
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_is_encoded_decodes(payload in proptest::collection::vec(any::<u8>(), 0..2000), arrow: bool) {
            let kind = if arrow { FrameKind::Arrow } else { FrameKind::Json };
            let bytes = encode(kind, &payload).unwrap();
            let header = bytes[..HEADER_BYTES].try_into().unwrap();
            prop_assert_eq!(decode_header(header), Ok((kind, payload.len())));
            prop_assert_eq!(&bytes[HEADER_BYTES..], &payload[..]);
        }

        #[test]
        fn no_header_is_accepted_beyond_the_bound(header: [u8; HEADER_BYTES]) {
            if let Ok((_, length)) = decode_header(header) {
                prop_assert!(length <= MAX_PAYLOAD_BYTES);
            }
        }
    }

    #[test]
    fn an_announced_giant_is_refused() {
        assert_eq!(decode_header([0xff, 0xff, 0xff, 0xff, b'J']), Err(FrameError::TooLarge(0xffff_ffff)));
    }

    #[test]
    fn text_is_not_a_frame() {
        assert_eq!(decode_header(*b"\0\0\0\x10W"), Err(FrameError::UnknownKind(b'W')));
    }
}
