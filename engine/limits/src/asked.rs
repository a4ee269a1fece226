//! Requests, as the audit has them.

use serde_json::{Value, json};
use wire::{Prepare, RendezvousRole, Role, Test};

use crate::{defaults::AUDITED_CHARS, demand::stated_rate_bps};

/// What the audit says of a request.
#[must_use]
pub fn asked_of(prepare: &Prepare) -> Value {
    let short = |text: &str| text.chars().take(AUDITED_CHARS).collect::<String>();
    let peer = match &prepare.rendezvous {
        RendezvousRole::Listen { .. } => Value::Null,
        RendezvousRole::Connect { address, port, .. } => format!("{}:{port}", short(address)).into(),
    };
    let role = if prepare.role == Role::Source { "source" } else { "sink" };
    json!({ "trial": short(&prepare.trial), "role": role, "connects_to": peer, "asked": asked(&prepare.test) })
}

fn asked(test: &Test) -> Value {
    let bulk = |name: &str, flows: u32, duration_us: u64| json!({ "test": name, "flows": flows, "rate_per_flow_bps": stated_rate_bps(test), "duration_us": duration_us });
    match test {
        Test::Tcp(own) => bulk("tcp", own.flows, own.duration_us),
        Test::Udp(own) => bulk("udp", own.flows, own.duration_us),
        Test::Quic(own) => bulk("quic", own.flows, own.duration_us),
        Test::Mptcp(own) => bulk("mptcp", own.tcp.flows, own.tcp.duration_us),
        Test::File(own) => bulk("file", own.tcp.flows, own.tcp.duration_us),
        Test::Rtt(own) => json!({ "test": "rtt", "every_us": own.every_us, "duration_us": own.duration_us }),
        Test::Path(own) => json!({ "test": "path", "trains": own.trains, "duration_us": own.deadline_us }),
        Test::Added(own) => json!({ "test": own.name.chars().take(AUDITED_CHARS).collect::<String>() }),
    }
}
