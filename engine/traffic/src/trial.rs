use wire::{Event, Prepare, Test};

use serde_json::Value;

use crate::{Control, Outbox, Task, TrialError, file, iperf3_client, mptcp, path, quic, rtt, tcp, udp};

/// A test of another crate.
pub struct AddedTest {
    /// What controllers call it.
    pub name: &'static str,
    /// Carries one end of a trial out, up to its report.
    pub carry_out: fn(&Task<'_, Value>, &Control, &dyn Outbox) -> Result<(), TrialError>,
}

/// Carries one end of a trial out, of a test of ours or of those `added`. Whatever happens ends in exactly one `report` or `failed` event.
pub fn carry_out(prepare: &Prepare, added: &[AddedTest], control: &Control, outbox: &dyn Outbox) {
    let carried = match (&prepare.iperf3, &prepare.test) {
        (Some(iperf3), _) => iperf3_client::carry_out(prepare, iperf3, control, outbox),
        (None, Test::Tcp(settings)) => tcp::carry_out(&Task::new(prepare, settings), control, outbox),
        (None, Test::Mptcp(settings)) => mptcp::carry_out(&Task::new(prepare, settings), control, outbox),
        (None, Test::Quic(settings)) => quic::carry_out(&Task::new(prepare, settings), control, outbox),
        (None, Test::File(settings)) => file::carry_out(&Task::new(prepare, &**settings), control, outbox),
        (None, Test::Rtt(settings)) => rtt::carry_out(&Task::new(prepare, settings), control, outbox),
        (None, Test::Path(settings)) => path::carry_out(&Task::new(prepare, settings), control, outbox),
        (None, Test::Udp(settings)) => udp::carry_out(&Task::new(prepare, settings), control, outbox),
        (None, Test::Added(test)) => match added.iter().find(|known| known.name == test.name) {
            Some(known) => (known.carry_out)(&Task::new(prepare, &test.settings), control, outbox),
            None => Err(TrialError::Settings(format!("this engine has no test {:?}", test.name))),
        },
    };
    if let Err(error) = carried {
        outbox.event(Event::Failed(error.to_failed(&prepare.trial)));
    }
}
