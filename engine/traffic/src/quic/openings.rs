//! How the two ends of a trial come to sockets, before they shake hands: by openings, as those of datagrams do.

use std::time::Duration;

use wire::{OPENING_BYTES, QuicSettings, UdpSettings};

use crate::{
    Control, Outbox, Task, TrialError,
    defaults::DATAGRAM_WINDOW_BYTES,
    tls::opening_token,
    udp::{self, Established},
};

/// Sockets of all flows, each between the two ends alone.
pub fn sockets(
    task: &Task<'_, QuicSettings>,
    control: &Control,
    outbox: &dyn Outbox,
) -> Result<(Established, Option<udp::Listener>), TrialError> {
    let settings = datagrams(task.settings);
    let datagrams = Task {
        trial: task.trial,
        role: task.role,
        // These are shown in clear: nobody may learn the secrets from them.
        token: opening_token(task.token),
        answer: opening_token(task.answer),
        rendezvous: task.rendezvous,
        settings: &settings,
    };
    let (established, listener) = udp::meet(&datagrams, control, outbox)?;
    match established.missing.len() {
        0 => Ok((established, listener)),
        missing => Err(not_all_stand(missing, task, &established, listener.as_ref())),
    }
}

/// A trial of connections needs all its flows.
fn not_all_stand(
    missing: usize,
    task: &Task<'_, QuicSettings>,
    established: &Established,
    listener: Option<&udp::Listener>,
) -> TrialError {
    let flows = task.settings.flows;
    let timeout = Duration::from_micros(task.settings.connect_timeout_us);
    if let Some(listener) = listener {
        return TrialError::AcceptTimeout { missing, flows, port: listener.port, timeout };
    }
    let remote = established.flows.first().and_then(|(_, stream)| stream.socket.peer_addr().ok());
    let address = remote.map_or_else(|| "the other end".into(), |remote| remote.to_string());
    let heard = established.missing.iter().find_map(|flow| flow.heard.as_deref());
    let address = heard.map_or_else(|| address.clone(), |heard| format!("{address} ({heard})"));
    TrialError::ConnectTimeout { missing, flows, address, timeout }
}

/// What the rendezvous of datagrams has to know.
fn datagrams(settings: &QuicSettings) -> UdpSettings {
    UdpSettings {
        flows: settings.flows,
        length_bytes: u32::try_from(OPENING_BYTES).unwrap_or(u32::MAX),
        window_bytes: Some(DATAGRAM_WINDOW_BYTES),
        clip_allowed: true,
        duration_us: settings.duration_us,
        pad_us: settings.pad_us,
        sample_interval_us: settings.sample_interval_us,
        connect_timeout_us: settings.connect_timeout_us,
        drain_us: settings.drain_timeout_us,
        silence_timeout_us: settings.silence_timeout_us,
        family: settings.family,
        ..UdpSettings::default()
    }
}

#[cfg(test)]
mod tests {
    use std::{
        net::UdpSocket,
        sync::{
            Mutex,
            mpsc::{Sender, channel},
        },
        thread,
    };

    use wire::{Event, Opening, Phase, RendezvousRole, Role, Token};

    use super::*;
    use crate::SampleBatch;

    const TOKEN: Token = Token([1; 16]);
    const ANSWER: Token = Token([2; 16]);

    struct Told(Mutex<Sender<Event>>);

    impl Outbox for Told {
        fn event(&self, event: Event) {
            let _ = self.0.lock().unwrap().send(event);
        }

        fn samples(&self, _: SampleBatch) {}
    }

    /// What keeps two flows from standing, of which a firewall lets one through.
    fn refusal(rendezvous: &RendezvousRole, outbox: &Told) -> TrialError {
        let settings = QuicSettings { flows: 2, connect_timeout_us: 600_000, ..QuicSettings::default() };
        let task = Task { trial: "t", role: Role::Sink, token: TOKEN, answer: ANSWER, rendezvous, settings: &settings };
        sockets(&task, &Control::default(), outbox).map(drop).unwrap_err()
    }

    #[test]
    fn flows_that_do_not_arrive_are_counted_as_those_of_tcp_are() {
        let (sender, events) = channel();
        let outbox = Told(Mutex::new(sender));
        let rendezvous = RendezvousRole::Listen { bind: Some([127, 0, 0, 1].into()), ports: None };
        let (error, port) = thread::scope(|scope| {
            let listens = scope.spawn(|| refusal(&rendezvous, &outbox));
            let Event::Listening(listening) = events.recv().unwrap() else { panic!("it listens first") };
            let far = UdpSocket::bind("127.0.0.1:0").unwrap();
            let opening = Opening { token: opening_token(TOKEN), flow: 0 }.encode();
            far.send_to(&opening, ("127.0.0.1", listening.port)).unwrap();
            (listens.join().unwrap(), listening.port)
        });
        assert_eq!(error.phase_and_kind(), (Phase::Listen, "accept_timeout"));
        let said = format!("1 of 2 flows did not arrive on port {port} within 0.6 s; is a firewall in the way?");
        assert_eq!(error.to_string(), said);
    }

    #[test]
    fn flows_that_are_not_answered_are_counted_as_those_of_tcp_are() {
        let far = UdpSocket::bind("127.0.0.1:0").unwrap();
        let address = far.local_addr().unwrap();
        let rendezvous = RendezvousRole::Connect {
            address: address.ip().to_string(),
            port: address.port(),
            bind: None,
            further: Vec::new(),
        };
        let outbox = Told(Mutex::new(channel().0));
        let error = thread::scope(|scope| {
            let connects = scope.spawn(|| refusal(&rendezvous, &outbox));
            far.set_read_timeout(Some(Duration::from_millis(50))).unwrap();
            let mut bytes = [0; OPENING_BYTES];
            while !connects.is_finished() {
                let Ok((_, from)) = far.recv_from(&mut bytes) else { continue };
                let opening = Opening::decode(&bytes).unwrap();
                if opening.flow == 0 {
                    far.send_to(&opening.answer(opening_token(ANSWER)), from).unwrap();
                } else {
                    far.send_to(&[0; 24], from).unwrap();
                }
            }
            connects.join().unwrap()
        });
        assert_eq!(error.phase_and_kind(), (Phase::Connect, "connect_timeout"));
        let heard = "what answered is not the engine of this trial";
        let said = format!("1 of 2 flows to {address} ({heard}) did not connect and shake hands within 0.6 s");
        assert_eq!(error.to_string(), said);
    }
}
