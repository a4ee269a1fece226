//! Tests that a standing point can bound.

/// A test whose peers, bytes and time an engine can bound at one end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TestName {
    /// TCP, encrypted or not.
    Tcp,
    /// Datagrams.
    Udp,
    /// QUIC.
    Quic,
    /// Round-trip times.
    Rtt,
    /// Hops and capacity of a path.
    Path,
}

impl TestName {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Tcp, Self::Udp, Self::Quic, Self::Rtt, Self::Path];

    /// As plans call it.
    #[must_use]
    pub fn text(self) -> &'static str {
        match self {
            Self::Tcp => "tcp",
            Self::Udp => "udp",
            Self::Quic => "quic",
            Self::Rtt => "rtt",
            Self::Path => "path",
        }
    }

    /// The one that plans call so.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|test| test.text() == text)
    }

    /// Several of them.
    #[must_use]
    pub fn list(tests: &[Self]) -> String {
        tests.iter().map(|test| test.text()).collect::<Vec<_>>().join(", ")
    }
}
