//! A point of a test, and requests to it.

use std::{
    fs,
    net::{IpAddr, SocketAddr},
    path::PathBuf,
};

use limits::{Admitted, Gate, Refusal, Who};
use serde_json::Value;
use tempfile::TempDir;
use wire::{
    Echo, PathSettings, Prepare, QuicSettings, RendezvousRole, Role, RttSettings, TcpSettings, Test, Token, UdpSettings,
};

/// Where most trials go to.
pub const PEER: &str = "192.0.2.7";
/// Where most controllers come from.
pub const CONTROLLER: &str = "198.51.100.1";

/// A standing point: a limits file, a state folder, an audit.
pub struct Point(TempDir);

impl Point {
    /// With this at the top of its file, and these rules.
    pub fn new(top: &str, rules: &str) -> Self {
        let point = Self(tempfile::tempdir().unwrap());
        fs::create_dir(point.state()).unwrap();
        let (state, audit) = (point.state(), point.path("audit.jsonl"));
        let folders = format!("state = '{}'\naudit = '{}'", state.display(), audit.display());
        fs::write(point.path("limits.toml"), format!("{folders}\n{top}\n{rules}")).unwrap();
        point
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub fn state(&self) -> PathBuf {
        self.path("state")
    }

    /// The session of a controller.
    pub fn session(&self, name: &str, address: Option<&str>) -> Gate {
        let who = Who { name: Some(name.into()), address: address.map(|text| text.parse().unwrap()) };
        Gate::new(&self.path("limits.toml"), who, resolve)
    }

    pub fn audited(&self) -> Vec<Value> {
        let text = fs::read_to_string(self.path("audit.jsonl")).unwrap_or_default();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

/// Knows one name, of a peer that is in no rule.
fn resolve(name: &str, port: u16, _: Option<u8>) -> Result<SocketAddr, String> {
    let address = if name == "elsewhere.example" { "203.0.113.9" } else { name };
    let address: IpAddr = address.parse().map_err(|_| format!("{name} has no address"))?;
    Ok(SocketAddr::new(address, port))
}

pub fn connect(address: &str) -> RendezvousRole {
    RendezvousRole::Connect { address: address.into(), port: 5201, bind: None, further: Vec::new() }
}

pub fn listen() -> RendezvousRole {
    RendezvousRole::Listen { bind: None, ports: None }
}

pub fn prepare(role: Role, rendezvous: RendezvousRole, test: Test) -> Prepare {
    let (token, answer) = (Token([1; 16]), Token([2; 16]));
    Prepare { trial: "t".into(), role, token, answer, rendezvous, test, iperf3: None }
}

/// A source of TCP that connects to the usual peer.
pub fn to_peer(test: Test) -> Prepare {
    prepare(Role::Source, connect(PEER), test)
}

pub fn admit(gate: &Gate, prepare: &Prepare) -> Result<Admitted, Refusal> {
    gate.admit(prepare, &|| false)
}

pub fn tcp() -> TcpSettings {
    TcpSettings {
        flows: 1,
        length_bytes: 1000,
        duration_us: 1_000_000,
        sample_interval_us: 100_000,
        connect_timeout_us: 1_000_000,
        drain_timeout_us: 1_000_000,
        silence_timeout_us: 1_000_000,
        rate_bps: Some(1000),
        ..TcpSettings::default()
    }
}

pub fn udp() -> UdpSettings {
    UdpSettings {
        flows: 1,
        length_bytes: 1000,
        duration_us: 1_000_000,
        sample_interval_us: 100_000,
        connect_timeout_us: 1_000_000,
        drain_us: 1_000_000,
        silence_timeout_us: 1_000_000,
        rate_bps: Some(1000),
        ..UdpSettings::default()
    }
}

pub fn quic() -> QuicSettings {
    QuicSettings {
        flows: 1,
        streams: 1,
        length_bytes: 1000,
        duration_us: 1_000_000,
        sample_interval_us: 100_000,
        connect_timeout_us: 1_000_000,
        drain_timeout_us: 1_000_000,
        silence_timeout_us: 1_000_000,
        rate_bps: Some(1000),
        ..QuicSettings::default()
    }
}

pub fn rtt() -> RttSettings {
    RttSettings {
        echo: Echo::Udp,
        sizes_bytes: vec![100],
        every_us: 100_000,
        poisson: false,
        seed: 1,
        duration_us: 1_000_000,
        timeout_us: 1_000_000,
        connect_timeout_us: 1_000_000,
        dscp: None,
        family: None,
    }
}

pub fn path() -> PathSettings {
    PathSettings {
        ttl_max: 1,
        sizes_bytes: vec![100],
        probes: 1,
        every_us: 100_000,
        timeout_us: 1_000_000,
        train_bytes: 100,
        deadline_us: 1_000_000,
        connect_timeout_us: 1_000_000,
        seed: 1,
        ..PathSettings::default()
    }
}
