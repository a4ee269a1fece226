//! Sends datagrams as an iperf3 server expects them.

use std::{
    io,
    num::NonZero,
    thread,
    time::{Duration, Instant},
};

use iperf3::DatagramHeader;
use wire::{FlowEnd, UdpCounts, UdpSettings};

use super::{conversation::is_pause, udp::COUNTER};
use crate::{
    defaults::{REFUSED_PAUSE, STOP_CHECK},
    flow::cpu_since,
    udp::{
        pace::Pace,
        source::{is_refusal, now_ns},
        stream::{Outcome, UdpFlow, UdpFlows},
    },
};

/// Sends one stream at its pace, or as fast as the kernel takes it, until told to stop.
pub fn send(flow: &UdpFlow, flows: &UdpFlows, settings: &UdpSettings) {
    let (cpu, began) = (sys::thread_cpu().ok(), Instant::now());
    // The kernel may put a sleep off by 50 us otherwise.
    let _ = rustix::thread::set_current_timer_slack(NonZero::new(1));
    let mut sender = Sender {
        flow,
        flows,
        datagram: vec![0; settings.length_bytes as usize],
        pace: Pace::new(settings.length_bytes, settings.rate_bps, settings.spacing_ns, 1),
        next: 1,
        refused: 0,
    };
    let broken = sender.send_until_stopped().err().map(|error| error.to_string());
    let cpu = cpu_since(cpu, began);
    flow.connection.leave(Outcome { counts: sender.counts(), ..Outcome::default() });
    let end = if broken.is_some() { FlowEnd::Broken } else { flows.aborted().unwrap_or(FlowEnd::Drained) };
    flows.end(flow, end, broken, cpu);
}

struct Sender<'a> {
    flow: &'a UdpFlow,
    flows: &'a UdpFlows,
    datagram: Vec<u8>,
    pace: Option<Pace>,
    /// Number of the next datagram; iperf3 counts from 1.
    next: u64,
    refused: u64,
}

impl Sender<'_> {
    fn send_until_stopped(&mut self) -> io::Result<()> {
        if let Some(pace) = &mut self.pace {
            pace.begin(now_ns(self.flows), 0.0);
        }
        while !self.flows.sending_stopped() {
            if let Some(pace) = &mut self.pace {
                let now_ns = now_ns(self.flows);
                if pace.due(now_ns, 1) == 0 {
                    thread::sleep(Duration::from_nanos(pace.due_ns() - now_ns).min(STOP_CHECK));
                    continue;
                }
            }
            self.send_one()?;
        }
        Ok(())
    }

    fn send_one(&mut self) -> io::Result<()> {
        let sent_us = u64::try_from(self.flows.origin().elapsed().as_micros()).unwrap_or(0);
        DatagramHeader { sent_us, sequence: self.next }.write(COUNTER, &mut self.datagram);
        match self.flow.connection.socket.send(&self.datagram) {
            Ok(count) => {
                self.next += 1;
                if let Some(pace) = &mut self.pace {
                    pace.sent(1);
                }
                self.flow.passed(count, self.flows.origin());
            }
            Err(error) if is_pause(&error) => {}
            Err(error) if is_refusal(&error) => {
                self.refused += 1;
                thread::sleep(REFUSED_PAUSE);
            }
            Err(error) => return Err(error),
        }
        Ok(())
    }

    fn counts(&self) -> UdpCounts {
        UdpCounts {
            datagrams: self.next - 1,
            refused: self.refused,
            behind_max_ns: self.pace.as_ref().map(|pace| pace.behind_max_ns),
            ..UdpCounts::default()
        }
    }
}
