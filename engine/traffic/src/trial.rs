use wire::{Event, Prepare, Test};

use crate::{Control, Outbox, Task, iperf3_client, path, rtt, tcp, udp};

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
