use sys::TcpInfo;
use wire::Role;

use super::Sample;
use crate::flow::{Connection, Flow, Flows};

/// Where each flow's last sample ended.
pub struct Marks {
    role: Role,
    marks: Vec<Mark>,
}

#[derive(Clone, Copy, Default)]
struct Mark {
    at_ns: Option<i64>,
    bytes: u64,
    closed: bool,
}

impl Marks {
    /// Of so many flows. A source's first sample begins at the origin, a sink's with the flow's first byte.
    pub fn new(role: Role, flows: usize) -> Self {
        let at_ns = (role == Role::Source).then_some(0);
        Self { role, marks: vec![Mark { at_ns, ..Mark::default() }; flows] }
    }

    /// The next sample of a flow, with its bytes and times; `None` where nothing is new.
    pub fn next<C: Connection>(&mut self, place: usize, flow: &Flow<C>, flows: &Flows<C>) -> Option<Sample> {
        let mark = self.marks.get_mut(place).filter(|mark| !mark.closed)?;
        // The order matters: an ending that is seen here has all its bytes in the counter that is read after it.
        let ended_ns = flow.ending().map(|ending| ending.at_ns);
        let first_byte_ns = flow.first_byte_ns();
        let (now_ns, bytes) = (flows.now_ns(), flow.bytes());
        if self.role == Role::Sink {
            mark.at_ns = mark.at_ns.or(first_byte_ns);
        }
        mark.closed = ended_ns.is_some();
        let start_ns = mark.at_ns?;
        // The thread may have looked at the clock just before the previous sample did.
        let end_ns = ended_ns.unwrap_or(now_ns).max(start_ns);
        let before = mark.bytes;
        mark.at_ns = Some(end_ns);
        mark.bytes = bytes;
        let tcp_info = TcpInfo::from_bytes(&[]);
        let sample = Sample { flow: flow.index, start_ns, end_ns, bytes: bytes - before, tcp_info, bbr: None };
        (sample.bytes > 0 || end_ns > start_ns).then_some(sample)
    }
}
