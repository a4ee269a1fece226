//! What the driver of a network device tells (`SIOCETHTOOL`, `include/uapi/linux/ethtool.h`), in the network namespace
//! of the calling thread. Needs no right.

use std::{
    io,
    os::fd::{AsFd, AsRawFd, OwnedFd},
};

use rustix::net::{AddressFamily, SocketFlags, SocketType, socket_with};

const SIOCETHTOOL: libc::Ioctl = 0x8946;
const GET_SETTINGS: u32 = 0x01;
const GET_DRIVER: u32 = 0x03;
const GET_STRINGS: u32 = 0x1b;
const GET_STATISTICS: u32 = 0x1d;
const GET_STRING_COUNT: u32 = 0x37;
const GET_FEATURES: u32 = 0x3a;

/// Length of each name (`ETH_GSTRING_LEN`).
const NAME_BYTES: usize = 32;
/// More names than any driver has: a count beyond it is not believed.
const NAMES_MAX: usize = 1 << 16;
/// The kernel writes as many entries as the driver has at that moment, which may be more than a moment before.
const SPARE_ENTRIES: usize = 1024;

/// A set of names that a driver has.
#[derive(Clone, Copy, Debug)]
enum Names {
    Statistics = 1,
    Features = 4,
}

/// Sends requests to drivers. Any socket will do to name a device by.
#[derive(Debug)]
pub struct Ethtool {
    socket: OwnedFd,
}

impl Ethtool {
    /// Makes the socket.
    ///
    /// # Errors
    /// When the host gives none.
    pub fn open() -> io::Result<Self> {
        let of = |family| socket_with(family, SocketType::DGRAM, SocketFlags::CLOEXEC, None);
        Ok(Self { socket: of(AddressFamily::INET).or_else(|_| of(AddressFamily::INET6))? })
    }

    /// Name of the driver.
    ///
    /// # Errors
    /// What the kernel says; `EOPNOTSUPP` for a device without a driver, such as `lo`.
    pub fn driver(&self, device: &str) -> io::Result<String> {
        let mut answer = self.request(device, GET_DRIVER, &[], 196)?;
        Ok(text(&answer.split_off(4)[..NAME_BYTES]))
    }

    /// Speed of the link in Mbit/s; `None` where it has none, or is down.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn speed_mbps(&self, device: &str) -> io::Result<Option<u32>> {
        let answer = self.request(device, GET_SETTINGS, &[], 44)?;
        let half = |at: usize| u32::from(u16::from_ne_bytes([answer[at], answer[at + 1]]));
        let speed_mbps = half(28) << 16 | half(12);
        Ok(Some(speed_mbps).filter(|&speed_mbps| speed_mbps != 0 && speed_mbps != u32::MAX))
    }

    /// Offloads by the kernel's names for them, and whether they are on.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn features(&self, device: &str) -> io::Result<Vec<(String, bool)>> {
        let names = self.names(device, Names::Features)?;
        let blocks = names.len().div_ceil(32);
        let size = u32::try_from(blocks).map_err(io::Error::other)?;
        // One block: available, requested, active, never changed, 32 features each.
        let answer = self.request(device, GET_FEATURES, &[size], 8 + blocks * 16)?;
        let is_on = |index: usize| word(&answer, 8 + index / 32 * 16 + 8) >> (index % 32) & 1 == 1;
        Ok(names.into_iter().enumerate().map(|(index, name)| (name, is_on(index))).collect())
    }

    /// The driver's own counters.
    ///
    /// # Errors
    /// What the kernel says; `EOPNOTSUPP` where there are none.
    pub fn statistics(&self, device: &str) -> io::Result<Vec<(String, u64)>> {
        let names = self.names(device, Names::Statistics)?;
        let count = u32::try_from(names.len()).map_err(io::Error::other)?;
        let answer = self.request(device, GET_STATISTICS, &[count], 8 + (names.len() + SPARE_ENTRIES) * 8)?;
        if word(&answer, 4) != count {
            return Err(io::Error::other("the driver changed its counters while it was asked"));
        }
        Ok(names.into_iter().zip(answer[8..].chunks_exact(8).map(number)).collect())
    }

    fn names(&self, device: &str, set: Names) -> io::Result<Vec<String>> {
        // The set as a mask of 64 bits behind a reserved word; one count follows for each bit that is known.
        let answer = self.request(device, GET_STRING_COUNT, &[0, 1 << set as u32, 0], 20)?;
        if word(&answer, 8) == 0 {
            return Err(io::Error::from(io::ErrorKind::Unsupported));
        }
        let count = word(&answer, 16);
        let entries = usize::try_from(count).unwrap_or(usize::MAX);
        if entries > NAMES_MAX {
            return Err(io::Error::other(format!("a driver with {count} names")));
        }
        let length = 12 + (entries + SPARE_ENTRIES) * NAME_BYTES;
        let answer = self.request(device, GET_STRINGS, &[set as u32, count], length)?;
        Ok(answer[12..].chunks_exact(NAME_BYTES).take(entries).map(text).collect())
    }

    /// Sends a command and its arguments; the answer has `length` bytes, the command and arguments included.
    fn request(&self, device: &str, command: u32, arguments: &[u32], length: usize) -> io::Result<Vec<u8>> {
        let mut buffer: Vec<u8> = [command].iter().chain(arguments).flat_map(|word| word.to_ne_bytes()).collect();
        buffer.resize(length.max(buffer.len()), 0);
        let mut request = libc::ifreq {
            ifr_name: device_name(device)?,
            ifr_ifru: libc::__c_anonymous_ifr_ifru { ifru_data: buffer.as_mut_ptr().cast() },
        };
        // SAFETY: the kernel reads the request and reads and writes the buffer it points to, both of which live as long
        // as the call. How much it writes is fixed for each command, or the number of entries requested, which the
        // callers make room for with some to spare.
        let result =
            unsafe { libc::ioctl(self.socket.as_fd().as_raw_fd(), SIOCETHTOOL, std::ptr::from_mut(&mut request)) };
        if result < 0 { Err(io::Error::last_os_error()) } else { Ok(buffer) }
    }
}

fn device_name(name: &str) -> io::Result<[libc::c_char; libc::IFNAMSIZ]> {
    if name.is_empty() || name.len() >= libc::IFNAMSIZ || name.contains('\0') {
        return Err(io::Error::from(io::ErrorKind::InvalidInput));
    }
    let mut bytes = [0; libc::IFNAMSIZ];
    for (to, from) in bytes.iter_mut().zip(name.bytes()) {
        *to = libc::c_char::from_ne_bytes([from]);
    }
    Ok(bytes)
}

fn text(bytes: &[u8]) -> String {
    let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
    String::from_utf8_lossy(&bytes[..end]).trim().to_owned()
}

fn word(bytes: &[u8], at: usize) -> u32 {
    let mut word = [0; 4];
    word.copy_from_slice(&bytes[at..at + 4]);
    u32::from_ne_bytes(word)
}

fn number(bytes: &[u8]) -> u64 {
    let mut number = [0; 8];
    number.copy_from_slice(bytes);
    u64::from_ne_bytes(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_tells_its_offloads_and_has_no_counters_of_its_own() {
        let ethtool = Ethtool::open().unwrap();
        let features = ethtool.features("lo").unwrap();
        assert!(features.iter().any(|(name, on)| name == "tx-tcp-segmentation" && *on), "{features:?}");
        assert!(features.iter().any(|(_, on)| !on));
        assert!(ethtool.statistics("lo").is_err());
        assert_eq!(ethtool.speed_mbps("lo").unwrap_or(None), None);
    }

    #[test]
    fn a_device_that_is_not_there_is_an_error() {
        let ethtool = Ethtool::open().unwrap();
        for name in ["no-such-device", "", "longer-than-any-name"] {
            assert!(ethtool.driver(name).is_err());
        }
    }
}
