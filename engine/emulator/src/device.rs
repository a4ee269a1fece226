//! One end of the link: a TUN device in a network namespace.

use std::{
    fs::{self, File},
    io::{self, Read, Seek},
    os::{
        fd::{AsFd, BorrowedFd, OwnedFd},
        unix::fs::MetadataExt,
    },
    sync::{Mutex, PoisonError},
};

use rustix::io::Errno;
use sys::{in_network_namespace, make_tun};

use crate::{defaults::DEVICE_QUEUE_PACKETS, error::EmulationError, request::DeviceRequest};

/// A device that was made, and goes when this is dropped.
#[derive(Debug)]
pub struct Device {
    request: DeviceRequest,
    tun: OwnedFd,
    statistics: Mutex<Statistics>,
    /// Device and inode of the namespace's file: whether it is still the same namespace.
    identity: (u64, u64),
}

/// What the kernel counts of a device.
#[derive(Debug)]
struct Statistics {
    /// `/proc/net/dev` of the device's namespace, wherever it is read.
    table: File,
    /// Packets that were dropped, as far as known.
    dropped_packets: u64,
}

impl Device {
    /// Makes the device, not up and without addresses.
    ///
    /// # Errors
    /// When the namespace does not exist or the kernel refuses.
    pub fn make(request: &DeviceRequest, mtu_bytes: u32) -> Result<Self, EmulationError> {
        let make = || -> io::Result<Self> {
            let inside = || -> io::Result<_> {
                let tun = make_tun(&request.name, mtu_bytes, DEVICE_QUEUE_PACKETS)?;
                Ok((tun, File::open("/proc/thread-self/net/dev")?))
            };
            let (tun, table) = in_network_namespace(&request.namespace, inside)??;
            let identity = identity(&request.namespace)?;
            let statistics = Mutex::new(Statistics { table, dropped_packets: 0 });
            Ok(Self { request: request.clone(), tun, statistics, identity })
        };
        make().map_err(|source| EmulationError::Make {
            name: request.name.clone(),
            namespace: request.namespace.clone(),
            source,
        })
    }

    pub fn file(&self) -> BorrowedFd<'_> {
        self.tun.as_fd()
    }

    /// Packets that the kernel dropped because nobody read them in time, since the device was made. Of a device that is
    /// gone, as many as were seen last: what was dropped stays dropped.
    pub fn dropped_packets(&self) -> u64 {
        let mut statistics = self.statistics.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(dropped_packets) = statistics.read(&self.request.name) {
            statistics.dropped_packets = dropped_packets;
        }
        statistics.dropped_packets
    }

    /// # Errors
    /// When the namespace has no name any more, or its name is another's. (The device itself stays: an open file keeps
    /// its namespace alive.)
    pub fn check_namespace(&self) -> Result<(), EmulationError> {
        if identity(&self.request.namespace).is_ok_and(|now| now == self.identity) {
            return Ok(());
        }
        let DeviceRequest { name, namespace } = self.request.clone();
        Err(EmulationError::NamespaceGone { name, namespace })
    }

    /// The error for a failed read, write or wait.
    pub fn broken(&self, operation: &'static str, error: Errno) -> EmulationError {
        let DeviceRequest { name, namespace } = self.request.clone();
        let source = match error {
            Errno::BADFD => io::Error::other("the device was deleted"),
            other => other.into(),
        };
        EmulationError::Device { name, namespace, operation, source }
    }
}

impl Statistics {
    /// `None` when the kernel does not list the device any more.
    fn read(&mut self, device: &str) -> Option<u64> {
        let mut text = String::new();
        self.table.rewind().ok()?;
        self.table.read_to_string(&mut text).ok()?;
        transmit_drops(&text, device)
    }
}

fn identity(namespace: &std::path::Path) -> io::Result<(u64, u64)> {
    let metadata = fs::metadata(namespace)?;
    Ok((metadata.dev(), metadata.ino()))
}

/// Field `drop` of the transmitting side in a line of `/proc/net/dev` (`proc_pid_net(5)`).
fn transmit_drops(table: &str, device: &str) -> Option<u64> {
    let fields = table.lines().find_map(|line| line.trim_start().strip_prefix(device)?.strip_prefix(':'))?;
    fields.split_whitespace().nth(11)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_right_number_is_taken_from_the_kernel_s_table() {
        let table = "\
Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed
    lo:       1       2    3    4    5     6          7         8        9      10   11   12   13    14      15         16
path01:     101     102  103  104  105   106        107       108      109     110  111  112  113   114     115        116
 path0:     201     202  203  204  205   206        207       208      209     210  211  212  213   214     215        216
";
        assert_eq!(transmit_drops(table, "path0"), Some(212));
        assert_eq!(transmit_drops(table, "path01"), Some(112));
        assert_eq!(transmit_drops(table, "path"), None);
    }
}
