//! The datagrams that the two ends of a measurement of round-trip times exchange after their rendezvous. A request and its
//! response have the same length, so that nobody gets more than was sent.

use std::net::IpAddr;

use crate::Token;

/// Bytes in front of the padding of a request or response: the shortest there can be.
pub const ECHO_HEADER_BYTES: usize = 4 + 4 + 8;

/// Bytes of a datagram that asks about an address, or answers that.
pub const ECHO_ADDRESS_BYTES: usize = ECHO_HEADER_BYTES + 16;

const REQUEST: [u8; 4] = *b"FSQ1";
const RESPONSE: [u8; 4] = *b"FSA1";
const END: [u8; 4] = *b"FSE1";
const END_SEEN: [u8; 4] = *b"FSF1";
const WHOSE: [u8; 4] = *b"FSW1";
const OWN: [u8; 4] = *b"FSO1";

/// What a datagram of this protocol is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EchoMessage {
    /// The source requests a response with this number.
    Request(u64),
    /// The sink, or its kernel, sends the number back.
    Response(u64),
    /// The source sends no more requests.
    End,
    /// The sink knows.
    EndSeen,
    /// The source asks whether the address that follows, at which it reaches the sink, is the sink's own.
    Whose,
    /// The sink answers that: not where somebody between the two translates addresses.
    Own(bool),
}

/// What follows on [`EchoMessage::Whose`].
#[must_use]
pub fn address_asked(address: IpAddr) -> [u8; 16] {
    match address {
        IpAddr::V4(address) => address.to_ipv6_mapped().octets(),
        IpAddr::V6(address) => address.octets(),
    }
}

impl EchoMessage {
    /// Writes the message over the beginning of a datagram, which has at least [`ECHO_HEADER_BYTES`]. `secret` is what
    /// its sender showed at the rendezvous; a part of it tells datagrams of others apart.
    pub fn write(self, secret: Token, datagram: &mut [u8]) {
        let (kind, number) = match self {
            Self::Request(number) => (REQUEST, number),
            Self::Response(number) => (RESPONSE, number),
            Self::End => (END, 0),
            Self::EndSeen => (END_SEEN, 0),
            Self::Whose => (WHOSE, 0),
            Self::Own(own) => (OWN, own.into()),
        };
        let header = kind.into_iter().chain(tag(secret)).chain(number.to_be_bytes());
        datagram.iter_mut().zip(header).for_each(|(to, from)| *to = from);
    }

    /// The message of a datagram, if it is one by who has this secret.
    #[must_use]
    pub fn read(secret: Token, datagram: &[u8]) -> Option<Self> {
        let (kind, rest) = datagram.split_first_chunk::<4>()?;
        let (whose, rest) = rest.split_first_chunk::<4>()?;
        let number = u64::from_be_bytes(*rest.first_chunk()?);
        if *whose != tag(secret) {
            return None;
        }
        match *kind {
            REQUEST => Some(Self::Request(number)),
            RESPONSE => Some(Self::Response(number)),
            END => Some(Self::End),
            END_SEEN => Some(Self::EndSeen),
            WHOSE => Some(Self::Whose),
            OWN => Some(Self::Own(number != 0)),
            _ => None,
        }
    }
}

fn tag(secret: Token) -> [u8; 4] {
    let [.., a, b, c, d] = secret.0;
    [a, b, c, d]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_message_survives_the_wire(number: u64, secret: [u8; 16], more in 0_usize..100) {
            let own = EchoMessage::Own(number % 2 == 0);
            for message in [EchoMessage::Request(number), EchoMessage::Response(number), EchoMessage::End, own] {
                let mut datagram = vec![0; ECHO_HEADER_BYTES + more];
                message.write(Token(secret), &mut datagram);
                prop_assert_eq!(EchoMessage::read(Token(secret), &datagram), Some(message));
                prop_assert_eq!(EchoMessage::read(Token(secret), &datagram[..ECHO_HEADER_BYTES - 1]), None);
            }
        }

        #[test]
        fn whatever_is_read_says_the_same_again(mut datagram: Vec<u8>) {
            let before = datagram.clone();
            let secret = Token([0; 16]);
            if let Some(message @ (EchoMessage::Request(_) | EchoMessage::Response(_))) = EchoMessage::read(secret, &datagram) {
                message.write(secret, &mut datagram);
            }
            prop_assert_eq!(datagram, before);
        }
    }

    #[test]
    fn what_has_another_secret_is_nothing() {
        let mut datagram = [0; ECHO_HEADER_BYTES];
        EchoMessage::EndSeen.write(Token([1; 16]), &mut datagram);
        assert_eq!(EchoMessage::read(Token([2; 16]), &datagram), None);
    }
}
