use std::{
    fs::{File, OpenOptions},
    io,
    os::{
        fd::{AsRawFd, OwnedFd},
        unix::fs::OpenOptionsExt,
    },
};

use crate::link::set_link;

/// Bytes of the header in front of each packet that a TUN device gives and takes: `struct virtio_net_hdr` of
/// `linux/virtio_net.h`, its numbers in the byte order of the machine.
pub const VNET_HEADER_BYTES: usize = 10;

/// Makes a TUN device in the network namespace of the calling thread: with virtio headers, partial checksums and
/// super-packets (those of UDP where the kernel has them: Linux 6.2), not up and without addresses. Reads and writes of
/// the file are one packet each and never block. The device goes when the file is closed.
///
/// # Errors
/// When `/dev/net/tun` cannot be opened, a device of that name exists (`EBUSY`), the name is not valid (`EINVAL`), or
/// it is not permitted (`EPERM`).
pub fn make_tun(name: &str, mtu_bytes: u32, transmit_queue_packets: u32) -> io::Result<OwnedFd> {
    let file = OpenOptions::new().read(true).write(true).custom_flags(libc::O_NONBLOCK).open("/dev/net/tun")?;
    let mut request = request_for(name)?;
    let flags = libc::IFF_TUN | libc::IFF_NO_PI | libc::IFF_VNET_HDR | libc::IFF_TUN_EXCL;
    // The flags are 16 bits of a field that is signed in some headers and not in others.
    request.ifr_ifru.ifru_flags = i16::from_ne_bytes(low_half(flags));
    device_request(&file, libc::TUNSETIFF, &mut request)?;
    set_header_bytes(&file)?;
    set_offloads(&file)?;
    set_link(name, mtu_bytes, transmit_queue_packets)?;
    Ok(file.into())
}

fn request_for(name: &str) -> io::Result<libc::ifreq> {
    let fits = !name.is_empty() && name.len() < libc::IFNAMSIZ && !name.contains('\0');
    if !fits {
        return Err(io::Error::from(io::ErrorKind::InvalidInput));
    }
    let mut ifr_name = [0; libc::IFNAMSIZ];
    for (to, from) in ifr_name.iter_mut().zip(name.bytes()) {
        *to = libc::c_char::from_ne_bytes([from]);
    }
    Ok(libc::ifreq { ifr_name, ifr_ifru: libc::__c_anonymous_ifr_ifru { ifru_ifindex: 0 } })
}

fn low_half(flags: libc::c_int) -> [u8; 2] {
    let [a, b, ..] = flags.to_le_bytes();
    u16::from_le_bytes([a, b]).to_ne_bytes()
}

fn device_request(file: &impl AsRawFd, operation: libc::Ioctl, request: &mut libc::ifreq) -> io::Result<()> {
    // SAFETY: each of these operations reads, and may write, one ifreq, which lives as long as the call.
    let result = unsafe { libc::ioctl(file.as_raw_fd(), operation, std::ptr::from_mut(request)) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

fn set_header_bytes(file: &File) -> io::Result<()> {
    let bytes = libc::c_int::try_from(VNET_HEADER_BYTES).map_err(io::Error::other)?;
    // SAFETY: the operation reads one int, which lives as long as the call.
    let result = unsafe { libc::ioctl(file.as_raw_fd(), libc::TUNSETVNETHDRSZ, &raw const bytes) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

fn set_offloads(file: &File) -> io::Result<()> {
    let tcp = libc::TUN_F_CSUM | libc::TUN_F_TSO4 | libc::TUN_F_TSO6 | libc::TUN_F_TSO_ECN;
    let attempt = |offloads: libc::c_uint| {
        // SAFETY: the operation takes its flags by value.
        let result = unsafe { libc::ioctl(file.as_raw_fd(), libc::TUNSETOFFLOAD, libc::c_ulong::from(offloads)) };
        if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    };
    attempt(tcp | libc::TUN_F_USO4 | libc::TUN_F_USO6).or_else(|_| attempt(tcp))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_cannot_be_are_refused_before_the_kernel_sees_them() {
        for name in ["", "sixteen-letters-", "a\0b"] {
            assert_eq!(request_for(name).unwrap_err().kind(), io::ErrorKind::InvalidInput);
        }
        assert!(request_for("fifteen-letters").is_ok());
    }
}
