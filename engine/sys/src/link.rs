use std::io;

use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, recv, send, socket_with};

/// Bytes of `struct nlmsghdr` and of `struct ifinfomsg`, which are 16 each.
const HEADERS_BYTES: usize = 32;

/// Sets the MTU and the length of the transmit queue of a network device in the namespace of the calling thread
/// (`rtnetlink(7)`: the `ioctl` for the latter is refused in user namespaces).
///
/// # Errors
/// What the kernel says: no such device, not permitted, an MTU it cannot have.
pub fn set_link(name: &str, mtu_bytes: u32, transmit_queue_packets: u32) -> io::Result<()> {
    // Protocol 0 is NETLINK_ROUTE.
    let socket = socket_with(AddressFamily::NETLINK, SocketType::RAW, SocketFlags::CLOEXEC, None)?;
    send(&socket, &request(name, mtu_bytes, transmit_queue_packets)?, SendFlags::empty())?;
    let mut answer = [0; 1024];
    let (length, _) = recv(&socket, &mut answer[..], RecvFlags::empty())?;
    // `struct nlmsgerr` behind the header begins with the error, negative; 0 is the acknowledgement.
    match answer[..length].get(16..20).map(|error| [0, 1, 2, 3].map(|at| error[at])).map(i32::from_ne_bytes) {
        Some(0) => Ok(()),
        Some(error) => Err(io::Error::from_raw_os_error(-error)),
        None => Err(io::Error::from(io::ErrorKind::UnexpectedEof)),
    }
}

fn request(name: &str, mtu_bytes: u32, transmit_queue_packets: u32) -> io::Result<Vec<u8>> {
    let mut message = vec![0; HEADERS_BYTES];
    let text = [name.as_bytes(), &[0]].concat();
    for (kind, value) in [
        (libc::IFLA_IFNAME, &text[..]),
        (libc::IFLA_MTU, &mtu_bytes.to_ne_bytes()),
        (libc::IFLA_TXQLEN, &transmit_queue_packets.to_ne_bytes()),
    ] {
        let length = u16::try_from(4 + value.len()).map_err(io::Error::other)?;
        message.extend(length.to_ne_bytes());
        message.extend(kind.to_ne_bytes());
        message.extend(value);
        message.resize(message.len().next_multiple_of(4), 0);
    }
    let length = u32::try_from(message.len()).map_err(io::Error::other)?;
    let flags = u16::try_from(libc::NLM_F_REQUEST | libc::NLM_F_ACK).map_err(io::Error::other)?;
    message[0..4].copy_from_slice(&length.to_ne_bytes());
    message[4..6].copy_from_slice(&libc::RTM_SETLINK.to_ne_bytes());
    message[6..8].copy_from_slice(&flags.to_ne_bytes());
    Ok(message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_that_does_not_exist_is_the_kernel_s_error() {
        let error = set_link("no-such-device", 1500, 500).unwrap_err();
        assert!(matches!(error.raw_os_error(), Some(libc::ENODEV | libc::EPERM)), "{error}");
    }
}
