//! What anybody may send to an engine's ports: the opening of a flow, the answer to it, a datagram, an echo, a block of a
//! file.
#![no_main]

use libfuzzer_sys::fuzz_target;
use wire::{
    ANSWER_BYTES, BLOCK_HEADER_BYTES, BlockHeader, DATAGRAM_HEADER_BYTES, DatagramHeader, EchoMessage, OPENING_BYTES,
    Opening, Token,
};

fuzz_target!(|bytes: &[u8]| {
    if let Some(opening) = bytes.first_chunk::<OPENING_BYTES>() {
        if let Ok(read) = Opening::decode(opening) {
            assert_eq!(&read.encode(), opening);
            let answer = Token([7; 16]);
            assert!(read.check_answer(answer, &read.answer(answer)).is_ok());
            if let Some(other) = bytes[OPENING_BYTES..].first_chunk::<ANSWER_BYTES>() {
                assert_eq!(read.check_answer(answer, other).is_ok(), *other == read.answer(answer));
            }
        }
    }
    if let Some(header) = DatagramHeader::decode(bytes) {
        assert_eq!(DatagramHeader::decode(&header.encode()), Some(header));
        assert!(bytes.len() >= DATAGRAM_HEADER_BYTES);
    }
    if let Some(block) = bytes.first_chunk::<BLOCK_HEADER_BYTES>() {
        if let Ok(header) = BlockHeader::decode(block) {
            assert_eq!(&header.encode(), block);
        }
    }
    if let Some(secret) = bytes.first_chunk::<16>() {
        let _ = EchoMessage::read(Token(*secret), &bytes[16..]);
    }
});
