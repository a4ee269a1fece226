//! Questions to the kernel over netlink (`netlink(7)`), in the network namespace of the calling thread.

use std::{io, mem::MaybeUninit, os::fd::OwnedFd};

use netlink_packet_core::{
    NLM_F_DUMP, NLM_F_REQUEST, NetlinkDeserializable, NetlinkHeader, NetlinkMessage, NetlinkPayload,
    NetlinkSerializable,
};
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketType, netlink, recv, send, socket,
    sockopt::{Timeout, set_socket_timeout},
};

use crate::defaults::NETLINK_TIMEOUT;

/// Larger than any message of the kernel: it packs at most 32 KiB into one.
const ANSWER_BYTES: usize = 64 << 10;
/// Answers that are read to one request.
const ANSWERS_MAX: usize = 100_000;
const HEADER_BYTES: usize = 16;

/// Whom to ask.
#[derive(Clone, Copy)]
pub enum Protocol {
    /// Devices and routes.
    Route,
    /// Everything that has no protocol of its own.
    Generic,
}

/// Sends one request and reads all answers to it. One with `NLM_F_ACK` in its flags has no other answer than success.
///
/// # Errors
/// What the kernel says.
pub fn request<M>(protocol: Protocol, body: M, flags: u16) -> io::Result<Vec<M>>
where
    M: NetlinkSerializable + NetlinkDeserializable + Into<NetlinkPayload<M>>,
{
    let protocol = match protocol {
        // NETLINK_ROUTE is protocol 0, which is what a socket has without one.
        Protocol::Route => None,
        Protocol::Generic => Some(netlink::GENERIC),
    };
    let socket = socket(AddressFamily::NETLINK, SocketType::RAW, protocol)?;
    set_socket_timeout(&socket, Timeout::Recv, Some(NETLINK_TIMEOUT))?;
    let mut header = NetlinkHeader::default();
    header.flags = NLM_F_REQUEST | flags;
    let mut message = NetlinkMessage::new(header, body.into());
    message.finalize();
    let mut bytes = vec![0; message.buffer_len()];
    message.serialize(&mut bytes);
    send(&socket, &bytes, SendFlags::empty())?;
    let mut answers = Vec::new();
    while answers.len() < ANSWERS_MAX {
        if take_answers(&receive(&socket)?, &mut answers)? || flags & NLM_F_DUMP == 0 {
            return Ok(answers);
        }
    }
    Err(io::Error::other(format!("more than {ANSWERS_MAX} answers of the kernel")))
}

fn receive(socket: &OwnedFd) -> io::Result<Vec<u8>> {
    let mut room = vec![MaybeUninit::uninit(); ANSWER_BYTES];
    let ((bytes, _), length) = recv(socket, &mut room[..], RecvFlags::TRUNC)?;
    if length > bytes.len() {
        return Err(io::Error::other(format!("an answer of {length} bytes")));
    }
    Ok(bytes.to_vec())
}

/// Adds what a datagram holds; says whether the last answer was among it. An answer that makes no sense is left out.
fn take_answers<M: NetlinkDeserializable>(mut datagram: &[u8], answers: &mut Vec<M>) -> io::Result<bool> {
    while let Some(length) = datagram.first_chunk().map(|length| u32::from_ne_bytes(*length) as usize) {
        if length < HEADER_BYTES || length > datagram.len() {
            return Err(io::Error::other("a torn answer of the kernel"));
        }
        match NetlinkMessage::deserialize(&datagram[..length]).map(|message| message.payload) {
            Ok(NetlinkPayload::Done(_)) => return Ok(true),
            Ok(NetlinkPayload::Error(error)) if error.code.is_some() => return Err(error.to_io()),
            Ok(NetlinkPayload::InnerMessage(message)) => answers.push(message),
            _ => {}
        }
        datagram = datagram.get(length.next_multiple_of(4)..).unwrap_or_default();
    }
    Ok(false)
}

#[cfg(test)]
mod tests {
    use netlink_packet_route::RouteNetlinkMessage;

    use super::*;

    #[test]
    fn what_the_kernel_refuses_is_its_error() {
        // A header of type NLMSG_ERROR, ENETUNREACH, and the header of the request.
        let mut refused = vec![0; 36];
        refused[..4].copy_from_slice(&36_u32.to_ne_bytes());
        refused[4..6].copy_from_slice(&2_u16.to_ne_bytes());
        refused[16..20].copy_from_slice(&(-101_i32).to_ne_bytes());
        refused[20..24].copy_from_slice(&16_u32.to_ne_bytes());
        let error = take_answers(&refused, &mut Vec::<RouteNetlinkMessage>::new()).unwrap_err();
        assert_eq!(error.raw_os_error(), Some(101));
    }

    #[test]
    fn torn_answers_are_errors_and_nonsense_is_left_out() {
        let mut answers: Vec<RouteNetlinkMessage> = Vec::new();
        assert!(take_answers(&[255, 255, 0, 0, 1, 2], &mut answers).is_err());
        assert!(take_answers(&[0; 16], &mut answers).is_err());
        let mut nonsense = vec![0; 20];
        nonsense[..4].copy_from_slice(&20_u32.to_ne_bytes());
        nonsense[4..6].copy_from_slice(&999_u16.to_ne_bytes());
        assert!(!take_answers(&nonsense, &mut answers).unwrap());
        assert!(answers.is_empty());
    }
}
