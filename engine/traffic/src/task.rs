use wire::{Event, Meeting, Prepare, Role, Test, Token};

use crate::{Control, Outbox, iperf3_client, path, rtt, tcp, udp};

/// One end of a trial: what every test must know, and the settings of this one.
pub struct Task<'a, S> {
    /// Name of the trial, unique in its session.
    pub trial: &'a str,
    /// Which end this is.
    pub role: Role,
    /// The connecting side shows this.
    pub token: Token,
    /// The listening side answers with this.
    pub answer: Token,
    /// How the two ends meet.
    pub meeting: &'a Meeting,
    /// What is measured, and how.
    pub settings: &'a S,
}

impl<'a, S> Task<'a, S> {
    /// The task of a prepared trial.
    pub fn new(prepare: &'a Prepare, settings: &'a S) -> Self {
        let Prepare { trial, role, token, answer, meeting, .. } = prepare;
        Self { trial, role: *role, token: *token, answer: *answer, meeting, settings }
    }
}

/// Carries one end of a trial out. Whatever happens ends in exactly one `report` or `failed` event.
pub fn carry_out(prepare: &Prepare, control: &Control, outbox: &dyn Outbox) {
    let carried = match (&prepare.iperf3, &prepare.test) {
        (Some(iperf3), _) => iperf3_client::carry_out(prepare, iperf3, control, outbox),
        (None, Test::Tcp(settings)) => tcp::carry_out(&Task::new(prepare, settings), control, outbox),
        (None, Test::Rtt(settings)) => rtt::carry_out(&Task::new(prepare, settings), control, outbox),
        (None, Test::Path(settings)) => path::carry_out(&Task::new(prepare, settings), control, outbox),
        (None, Test::Udp(settings)) => udp::carry_out(&Task::new(prepare, settings), control, outbox),
    };
    if let Err(error) = carried {
        outbox.event(Event::Failed(error.to_failed(&prepare.trial)));
    }
}
