use std::collections::HashMap;

use arrow_array::{Int32Array, Int64Array};
use wire::{Prepare, Report, Role, TcpSettings, Test};

use crate::ends::{self, End, Tables, column};

/// The report of an end that has not said yet that it is connected.
pub fn connected_report(end: End) -> Report {
    end.connected();
    end.report().0
}

/// What the samples of each flow add up to.
pub fn bytes_of_flows(tables: &Tables) -> HashMap<i32, i64> {
    let mut bytes = HashMap::new();
    for batch in &tables["samples"] {
        let (flows, passed): (Int32Array, Int64Array) = (column(batch, "flow"), column(batch, "bytes"));
        for (flow, passed) in flows.values().iter().zip(passed.values()) {
            *bytes.entry(*flow).or_insert(0) += passed;
        }
    }
    bytes
}

pub fn settings(flows: u32) -> TcpSettings {
    TcpSettings {
        flows,
        length_bytes: 16 << 10,
        duration_us: 200_000,
        pad_us: 50_000,
        sample_interval_us: 20_000,
        connect_timeout_us: 15_000_000,
        drain_timeout_us: 15_000_000,
        silence_timeout_us: 15_000_000,
        ..TcpSettings::default()
    }
}

pub fn listen(role: Role, tcp: TcpSettings) -> Prepare {
    ends::listen(role, Test::Tcp(tcp))
}

pub fn connect(role: Role, address: &str, port: u16, tcp: TcpSettings) -> Prepare {
    ends::connect(role, address, port, Test::Tcp(tcp))
}
