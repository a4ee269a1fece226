//! Trials against servers that are not at their best, played over loopback from a script.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

#[path = "../ends/mod.rs"]
#[expect(dead_code, reason = "here every end connects")]
mod ends;
mod support;

use std::{
    io::{Read, Write},
    net::TcpStream,
    thread,
    time::{Duration, Instant},
};

use iperf3::{ErrorCode, Results, ServerError, State, StreamResults, encode_frame};
use wire::{Event, Iperf3, Prepare, Role, TcpSettings};

use self::{
    ends::End,
    support::{Server, iperf3, outcome, settings},
};

#[test]
fn a_busy_server_is_asked_again_until_it_has_time() {
    let server = Server::new(|visit, mut control| {
        if visit < 2 {
            control.write_all(&[State::AccessDenied.byte()]).unwrap();
            return false;
        }
        refuse(&mut control, ErrorCode::CONGESTION);
        true
    });
    let failed = End::begin(server.prepare(Role::Source, settings(1), iperf3())).failed();
    assert_eq!(failed.kind, "iperf3_refused", "the third time it has time to look at the parameters: {failed:?}");
}

#[test]
fn a_server_that_is_always_busy_is_given_up_in_time() {
    let server = Server::new(|_, mut control| {
        control.write_all(&[State::AccessDenied.byte()]).unwrap();
        false
    });
    let began = Instant::now();
    let failed = End::begin(server.prepare(Role::Sink, settings(1), iperf3())).failed();
    assert_eq!((failed.kind.as_str(), failed.phase), ("iperf3_busy", wire::Phase::Connect));
    assert!(began.elapsed() >= Duration::from_millis(300), "it was not asked again");
}

#[test]
fn whoever_hangs_up_each_time_is_not_called_busy() {
    let server = Server::new(|_, _| false);
    let failed = End::begin(server.prepare(Role::Source, settings(1), iperf3())).failed();
    assert_eq!((failed.kind.as_str(), failed.phase), ("iperf3_hung_up", wire::Phase::Connect));
    assert!(failed.message.contains("it accepted and hung up each time for"), "{}", failed.message);
    let server = Server::new(|visit, mut control| {
        if visit == 0 {
            say(&mut control, State::AccessDenied);
        }
        false
    });
    let failed = End::begin(server.prepare(Role::Source, settings(1), iperf3())).failed();
    assert_eq!(failed.kind, "iperf3_busy", "it said so once: {failed:?}");
}

#[test]
fn a_parameter_that_is_refused_is_told_in_words() {
    let server = Server::new(|_, mut control| {
        refuse(&mut control, ErrorCode::CONGESTION);
        true
    });
    let failed = End::begin(server.prepare(Role::Sink, settings(1), iperf3())).failed();
    assert_eq!(failed.kind, "iperf3_refused");
    let words = "it refused: it could not set the congestion control (iperf3's error 134): No such file or directory";
    assert!(failed.message.contains(words), "{}", failed.message);
}

#[test]
fn a_user_who_is_refused_is_told_so_by_old_servers_and_new_ones() {
    let old = Server::new(|_, mut control| {
        say(&mut control, State::ParamExchange);
        take_frame(&mut control);
        say(&mut control, State::ServerError);
        control.write_all(&ErrorCode::AUTHENTICATION.0.to_be_bytes()).unwrap();
        true
    });
    let failed = End::begin(old.prepare(Role::Source, settings(1), iperf3())).failed();
    assert_eq!(failed.kind, "iperf3_refused");
    let words = "it refused: user name or password are wrong (iperf3's error 142)";
    assert!(failed.message.ends_with(words), "{}", failed.message);
    let new = Server::new(|_, mut control| {
        say(&mut control, State::ParamExchange);
        take_frame(&mut control);
        true
    });
    let failed = End::begin(new.prepare(Role::Source, settings(1), iperf3())).failed();
    assert_eq!(failed.kind, "iperf3_declined");
    assert!(failed.message.ends_with("newer servers do so where they want to know who asks"), "{}", failed.message);
}

#[test]
fn a_server_that_vanishes_while_data_flows_ends_the_trial() {
    let server = Server::new(|_, mut control| {
        let streams = accept_stream(&mut control);
        say(&mut control, State::TestStart);
        say(&mut control, State::TestRunning);
        drop((control, streams));
        true
    });
    let end = End::begin(server.prepare(Role::Source, settings(1), iperf3()));
    end.connected();
    end.control.start(Instant::now());
    let (report, _) = end.report();
    let incomplete = report.incomplete.unwrap();
    assert!(["iperf3_lost", "broken"].contains(&incomplete.kind.as_str()), "{incomplete:?}");
    assert_eq!(report.far_side, None, "nobody is left to say anything");
}

#[test]
fn a_server_that_receives_had_no_data_before_the_trial_began() {
    let server = Server::new(|_, mut control| {
        let mut stream = accept_stream(&mut control);
        say(&mut control, State::TestStart);
        say(&mut control, State::TestRunning);
        let drains = thread::spawn(move || std::io::copy(&mut stream, &mut std::io::sink()));
        control.read_exact(&mut [0]).unwrap();
        say(&mut control, State::ExchangeResults);
        take_frame(&mut control);
        let streams = vec![StreamResults { id: 1, bytes: 1000, end_time: 5.0, ..StreamResults::default() }];
        control.write_all(&encode_frame(&Results { streams, ..Results::default() }).unwrap()).unwrap();
        say(&mut control, State::DisplayResults);
        wait_for_end(&mut control);
        let _ = drains.join();
        true
    });
    let short = TcpSettings { duration_us: 200_000, ..settings(1) };
    let end = End::begin(server.prepare(Role::Source, short, iperf3()));
    end.connected();
    thread::sleep(Duration::from_millis(300));
    end.control.start(Instant::now());
    let (report, _) = end.report();
    assert_eq!(report.incomplete, None);
    let elapsed_us = report.far_side.unwrap().flows[0].elapsed_us;
    assert!((1..=4_700_000).contains(&elapsed_us), "of 5 s, it waited 0.3 s for the trial: {elapsed_us}");
}

#[test]
fn in_both_directions_nothing_waits_while_the_server_sends_already() {
    let server = Server::new(|_, mut control| {
        let mut there = accept_stream(&mut control);
        let mut back = Server::accept_beside(&control);
        say(&mut control, State::TestStart);
        say(&mut control, State::TestRunning);
        let drains = thread::spawn(move || std::io::copy(&mut there, &mut std::io::sink()));
        let sends = thread::spawn(move || while back.write_all(&[0; 1000]).is_ok() {});
        control.read_exact(&mut [0]).unwrap();
        say(&mut control, State::ExchangeResults);
        take_frame(&mut control);
        let stream = |id| StreamResults { id, bytes: 1000, end_time: 0.2, ..StreamResults::default() };
        let results = Results { streams: vec![stream(1), stream(3)], ..Results::default() };
        control.write_all(&encode_frame(&results).unwrap()).unwrap();
        say(&mut control, State::DisplayResults);
        wait_for_end(&mut control);
        let _ = (drains.join(), sends.join());
        true
    });
    let short = TcpSettings { duration_us: 200_000, drain_timeout_us: 200_000, ..settings(1) };
    let together = |other: &str| Iperf3 { together_with: Some(other.into()), ..iperf3() };
    let back = Prepare { trial: "back".into(), ..server.prepare(Role::Sink, short.clone(), together("t")) };
    let waits = End::begin(back);
    let end = End::begin(server.prepare(Role::Source, short, together("back")));
    let ran = [outcome(&end), outcome(&end), outcome(&end), outcome(&end)];
    assert!(ran.iter().all(|event| !matches!(event, Event::Failed(_))), "nobody has said that it is to begin: {ran:?}");
    waits.thread.join().unwrap();
}

#[test]
fn a_server_that_knows_one_direction_only_is_told_so() {
    let server = Server::new(|_, mut control| {
        let mut there = accept_stream(&mut control);
        say(&mut control, State::TestStart);
        say(&mut control, State::TestRunning);
        Server::accept_beside(&control).write_all(&[State::AccessDenied.byte()]).unwrap();
        let drains = thread::spawn(move || std::io::copy(&mut there, &mut std::io::sink()));
        wait_for_end(&mut control);
        drop(control);
        let _ = drains.join();
        true
    });
    let together = |other: &str| Iperf3 { together_with: Some(other.into()), ..iperf3() };
    let back = Prepare { trial: "back".into(), ..server.prepare(Role::Sink, settings(1), together("t")) };
    let waits = End::begin(back);
    let end = End::begin(server.prepare(Role::Source, settings(1), together("back")));
    let reports =
        [outcome(&end), outcome(&end), outcome(&end), outcome(&end)].into_iter().filter_map(|event| match event {
            Event::Report(report) => report.incomplete,
            _ => None,
        });
    let reasons: Vec<_> = reports.map(|incomplete| (incomplete.kind, incomplete.message)).collect();
    assert_eq!(reasons.len(), 2);
    for (kind, message) in reasons {
        assert_eq!(kind, "iperf3_one_way");
        assert!(message.contains("before iperf3 3.7 a server takes no test in both directions at once"), "{message}");
    }
    waits.thread.join().unwrap();
}

#[test]
fn a_server_that_says_no_time_counted_as_long_as_the_trial() {
    let server = Server::new(|_, mut control| {
        let mut stream = accept_stream(&mut control);
        say(&mut control, State::TestStart);
        say(&mut control, State::TestRunning);
        let drains = thread::spawn(move || std::io::copy(&mut stream, &mut std::io::sink()));
        control.read_exact(&mut [0]).unwrap();
        say(&mut control, State::ExchangeResults);
        take_frame(&mut control);
        // As 3.1 does.
        let text = br#"{"streams":[{"id":1,"bytes":1000,"retransmits":-1,"jitter":0,"errors":0,"packets":0}]}"#;
        control.write_all(&u32::try_from(text.len()).unwrap().to_be_bytes()).unwrap();
        control.write_all(text).unwrap();
        say(&mut control, State::DisplayResults);
        wait_for_end(&mut control);
        let _ = drains.join();
        true
    });
    let short = TcpSettings { duration_us: 200_000, ..settings(1) };
    let end = End::begin(server.prepare(Role::Source, short, iperf3()));
    end.connected();
    thread::sleep(Duration::from_millis(300));
    end.control.start(Instant::now());
    let far = end.report().0.far_side.unwrap();
    assert!((200_000..10_000_000).contains(&far.flows[0].elapsed_us), "{far:?}");
}

#[test]
fn a_server_that_ends_the_test_is_believed() {
    let server = Server::new(|_, mut control| {
        let streams = accept_stream(&mut control);
        say(&mut control, State::TestStart);
        say(&mut control, State::TestRunning);
        say(&mut control, State::ServerTerminate);
        wait_for_end(&mut control);
        drop(streams);
        true
    });
    let end = End::begin(server.prepare(Role::Source, settings(1), iperf3()));
    end.connected();
    end.control.start(Instant::now());
    assert_eq!(end.report().0.incomplete.unwrap().kind, "iperf3_terminated");
}

#[test]
fn whoever_speaks_something_else_is_no_server() {
    let server = Server::new(|_, mut control| {
        control.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").unwrap();
        true
    });
    let failed = End::begin(server.prepare(Role::Source, settings(1), iperf3())).failed();
    assert_eq!(failed.kind, "iperf3_unexpected");
}

#[test]
fn a_stop_reaches_a_trial_that_waits_for_a_busy_server() {
    let server = Server::new(|_, mut control| {
        wait_for_end(&mut control);
        true
    });
    let end = End::begin(server.prepare(Role::Source, settings(1), iperf3()));
    end.control.stop();
    assert_eq!(end.failed().kind, "stopped");
}

#[test]
fn what_iperf3_does_not_take_is_refused_before_anything_is_sent() {
    let server = Server::new(|_, _| true);
    let failed = End::begin(server.prepare(Role::Source, settings(129), iperf3())).failed();
    assert_eq!(failed.kind, "settings");
    assert!(failed.message.contains("flows is 129, expected 1 to 128"), "{}", failed.message);
}

fn refuse(control: &mut TcpStream, code: ErrorCode) {
    say(control, State::ParamExchange);
    take_frame(control);
    say(control, State::ServerError);
    control.write_all(&ServerError { code, errno: 2 }.encode()).unwrap();
    wait_for_end(control);
}

fn accept_stream(control: &mut TcpStream) -> TcpStream {
    say(control, State::ParamExchange);
    take_frame(control);
    say(control, State::CreateStreams);
    Server::accept_beside(control)
}

fn take_frame(control: &mut TcpStream) {
    let mut length = [0; 4];
    control.read_exact(&mut length).unwrap();
    let mut text = vec![0; u32::from_be_bytes(length) as usize];
    control.read_exact(&mut text).unwrap();
}

fn say(control: &mut TcpStream, state: State) {
    control.write_all(&[state.byte()]).unwrap();
}

fn wait_for_end(control: &mut TcpStream) {
    let mut bytes = [0; 64];
    while control.read(&mut bytes).is_ok_and(|count| count > 0) {}
}
