//! Trials whose flows TLS protects, and who must not take part in them.

use std::{
    io::{Read, Write},
    net::{Shutdown, TcpListener, TcpStream},
    thread,
    time::Instant,
};

use wire::{ANSWER_BYTES, Encryption, FlowEnd, Mode, OPENING_BYTES, Opening, Phase, Role, TcpSettings};

use crate::{
    ends::End,
    support::{connect, listen, settings},
    whole::runs_whole,
};

fn encrypted(flows: u32) -> TcpSettings {
    TcpSettings { encryption: Encryption::Tls, ..settings(flows) }
}

#[test]
fn both_ends_agree_to_the_byte() {
    for length_bytes in [1, 1000, 1 << 14, 100_000] {
        runs_whole("127.0.0.1", Role::Sink, &TcpSettings { length_bytes, ..encrypted(2) });
    }
    runs_whole("::1", Role::Source, &TcpSettings { family: Some(6), ..encrypted(64) });
    let paced = TcpSettings { rate_bps: Some(8_000_000), length_bytes: 1000, ..encrypted(2) };
    runs_whole("127.0.0.1", Role::Source, &paced);
    let narrow = TcpSettings { window_bytes: Some(8192), length_bytes: 1 << 18, ..encrypted(1) };
    runs_whole("127.0.0.1", Role::Sink, &narrow);
}

#[test]
fn nothing_but_copy_is_encrypted() {
    let tcp = TcpSettings { mode: Mode::Zerocopy, ..encrypted(1) };
    let failed = End::begin(listen(Role::Sink, tcp)).failed();
    assert_eq!((failed.phase, failed.kind.as_str()), (Phase::Prepare, "settings"));
}

#[test]
fn whoever_knows_what_is_shown_in_clear_gets_no_byte() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let source = End::begin(connect(Role::Source, "127.0.0.1", listener.local_addr().unwrap().port(), encrypted(1)));
    let (mut stranger, _) = listener.accept().unwrap();
    let mut opening = [0; OPENING_BYTES];
    stranger.read_exact(&mut opening).unwrap();
    assert!(!opening.windows(16).any(|bytes| bytes == [1; 16]), "the secret itself is shown");
    // What the true sink answers in clear, by heart.
    let sink = End::begin(listen(Role::Sink, encrypted(1)));
    let mut answer = [0; ANSWER_BYTES];
    let mut asking = TcpStream::connect(("127.0.0.1", sink.listening_port())).unwrap();
    asking.write_all(&opening).unwrap();
    asking.read_exact(&mut answer).unwrap();
    assert!(!answer.windows(16).any(|bytes| bytes == [2; 16]), "the secret itself is shown");
    stranger.write_all(&answer).unwrap();
    stranger.write_all(b"HTTP/1.1 200 OK\r\n\r\n").unwrap();
    let failed = source.failed();
    assert_eq!((failed.phase, failed.kind.as_str()), (Phase::Connect, "handshake"));
    drop(asking);
    assert_eq!(sink.failed().kind, "handshake");
    assert!(Opening::decode(&opening).is_ok());
}

#[test]
fn bytes_that_are_changed_on_the_way_break_the_flow() {
    let sink = End::begin(listen(Role::Sink, encrypted(1)));
    let port = between(sink.listening_port(), |at, bytes| {
        if (1 << 20..).contains(&at) {
            bytes[0] ^= 1;
        }
    });
    let source = End::begin(connect(Role::Source, "127.0.0.1", port, encrypted(1)));
    source.connected();
    sink.connected();
    source.control.start(Instant::now());
    let (_, (read, _)) = (source.report(), sink.report());
    assert_eq!(read.flows[0].end, FlowEnd::Broken);
    assert!(read.flows[0].error.as_deref().unwrap().contains("decrypt"), "{:?}", read.flows[0].error);
    assert!(read.flows[0].bytes > 0);
}

/// A port from which bytes go to another one and back; those to it may be changed, by their place.
fn between(port: u16, change: fn(usize, &mut [u8])) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let own = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        let (near, _) = listener.accept().unwrap();
        let far = TcpStream::connect(("127.0.0.1", port)).unwrap();
        let (back, forth) = ((far.try_clone().unwrap(), near.try_clone().unwrap()), (near, far));
        let returning = thread::spawn(move || pass(back.0, back.1, |_, _| {}));
        pass(forth.0, forth.1, change);
        returning.join().unwrap();
    });
    own
}

fn pass(mut from: TcpStream, mut to: TcpStream, change: fn(usize, &mut [u8])) {
    let (mut bytes, mut at) = (vec![0; 1 << 16], 0);
    while let Ok(count @ 1..) = from.read(&mut bytes) {
        change(at, &mut bytes[..count]);
        at += count;
        if to.write_all(&bytes[..count]).is_err() {
            break;
        }
    }
    let _ = to.shutdown(Shutdown::Write);
}
