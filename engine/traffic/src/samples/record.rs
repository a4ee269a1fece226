//! How rows are kept while a trial runs: each in a record of one size, field after field in the order in which [`record!`]
//! names them. Records leave no process.

use std::{
    array,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
};

use sys::{BbrInfo, TCP_INFO_BYTES, TcpInfo};

/// Something that is kept in records of one size while a trial runs.
pub trait Record: Field {
    /// What a log of them may hold at all, in bytes; what comes after is counted as lost.
    const LOG_MAX_BYTES: u64;
}

/// A part of a record, or a whole one.
pub trait Field: Sized {
    /// What it takes.
    const BYTES: usize;
    /// Appends exactly [`Field::BYTES`].
    fn put(&self, record: &mut Vec<u8>);
    /// The other way: takes [`Field::BYTES`] off the rest of a record.
    fn take(rest: &mut &[u8]) -> Self;
}

/// Keeps a struct by its fields, in the order in which they are named here: each with its type, and none left out.
macro_rules! record {
    ($row:ty { $($field:ident: $kind:ty),+ $(,)? }) => {
        impl $crate::samples::Field for $row {
            const BYTES: usize = 0 $(+ <$kind as $crate::samples::Field>::BYTES)+;

            fn put(&self, record: &mut Vec<u8>) {
                $(<$kind as $crate::samples::Field>::put(&self.$field, record);)+
            }

            fn take(rest: &mut &[u8]) -> Self {
                Self { $($field: <$kind as $crate::samples::Field>::take(rest)),+ }
            }
        }
    };
}

/// Keeps an enum without values, all of whose variants are named here, in a byte.
macro_rules! code {
    ($kind:ty { $first:ident $(, $other:ident)* $(,)? }) => {
        impl $crate::samples::Field for $kind {
            const BYTES: usize = 1;

            fn put(&self, record: &mut Vec<u8>) {
                record.push(match self {
                    Self::$first => Self::$first as u8,
                    $(Self::$other => Self::$other as u8,)*
                });
            }

            fn take(rest: &mut &[u8]) -> Self {
                let code = <u8 as $crate::samples::Field>::take(rest);
                $(if code == Self::$other as u8 {
                    return Self::$other;
                })*
                Self::$first
            }
        }
    };
}

pub(crate) use {code, record};

macro_rules! integers {
    ($($kind:ty)+) => {
        $(impl Field for $kind {
            const BYTES: usize = size_of::<Self>();

            fn put(&self, record: &mut Vec<u8>) {
                record.extend_from_slice(&self.to_le_bytes());
            }

            fn take(rest: &mut &[u8]) -> Self {
                Self::from_le_bytes(bytes(rest))
            }
        })+
    };
}

integers! { u8 u16 u32 u64 i32 i64 }

impl<T: Field, const N: usize> Field for [T; N] {
    const BYTES: usize = N * T::BYTES;

    fn put(&self, record: &mut Vec<u8>) {
        for value in self {
            value.put(record);
        }
    }

    fn take(rest: &mut &[u8]) -> Self {
        array::from_fn(|_| T::take(rest))
    }
}

impl<A: Field, B: Field> Field for (A, B) {
    const BYTES: usize = A::BYTES + B::BYTES;

    fn put(&self, record: &mut Vec<u8>) {
        self.0.put(record);
        self.1.put(record);
    }

    fn take(rest: &mut &[u8]) -> Self {
        (A::take(rest), B::take(rest))
    }
}

/// A byte says whether it is there; what is not takes as much.
impl<T: Field> Field for Option<T> {
    const BYTES: usize = 1 + T::BYTES;

    fn put(&self, record: &mut Vec<u8>) {
        u8::from(self.is_some()).put(record);
        match self {
            Some(value) => value.put(record),
            None => record.resize(record.len() + T::BYTES, 0),
        }
    }

    fn take(rest: &mut &[u8]) -> Self {
        let (there, value) = (u8::take(rest), T::take(rest));
        (there != 0).then_some(value)
    }
}

/// A byte says whether it is of IPv6.
impl Field for IpAddr {
    const BYTES: usize = 1 + 16;

    fn put(&self, record: &mut Vec<u8>) {
        let address = match self {
            Self::V4(address) => address.to_ipv6_mapped(),
            Self::V6(address) => *address,
        };
        u8::from(self.is_ipv6()).put(record);
        record.extend_from_slice(&address.octets());
    }

    fn take(rest: &mut &[u8]) -> Self {
        let (ipv6, address) = (u8::take(rest), Ipv6Addr::from(bytes(rest)));
        if ipv6 != 0 { address.into() } else { address.to_ipv4_mapped().unwrap_or(Ipv4Addr::UNSPECIFIED).into() }
    }
}

/// Address and port; one of IPv4 as such, wherever it comes from.
impl Field for SocketAddr {
    const BYTES: usize = IpAddr::BYTES + u16::BYTES;

    fn put(&self, record: &mut Vec<u8>) {
        self.ip().to_canonical().put(record);
        self.port().put(record);
    }

    fn take(rest: &mut &[u8]) -> Self {
        Self::new(IpAddr::take(rest), u16::take(rest))
    }
}

/// Its length, and room for all that is known.
impl Field for TcpInfo {
    const BYTES: usize = u32::BYTES + TCP_INFO_BYTES;

    fn put(&self, record: &mut Vec<u8>) {
        let info = self.as_bytes();
        u32::try_from(info.len()).unwrap_or(0).put(record);
        record.extend_from_slice(info);
        record.resize(record.len() + TCP_INFO_BYTES - info.len(), 0);
    }

    fn take(rest: &mut &[u8]) -> Self {
        let length = u32::take(rest) as usize;
        let (info, after) = rest.split_at(TCP_INFO_BYTES.min(rest.len()));
        *rest = after;
        Self::from_bytes(&info[..length.min(info.len())])
    }
}

record!(BbrInfo { bandwidth_bytes_per_s: u64, min_rtt_us: u32, pacing_gain: u32, cwnd_gain: u32 });

/// Takes the next `N` bytes off a record.
fn bytes<const N: usize>(rest: &mut &[u8]) -> [u8; N] {
    let (taken, after) = rest.split_first_chunk().map_or(([0; N], &[][..]), |(taken, after)| (*taken, after));
    *rest = after;
    taken
}

/// Asserts that rows come out of their records as they went in.
#[cfg(test)]
pub fn assert_kept<R: Field + std::fmt::Debug>(rows: &[R]) {
    for row in rows {
        let mut record = Vec::new();
        row.put(&mut record);
        assert_eq!(record.len(), R::BYTES, "{row:?}");
        let mut rest = &record[..];
        assert_eq!(format!("{:?}", R::take(&mut rest)), format!("{row:?}"));
        assert!(rest.is_empty(), "{row:?}");
    }
}

#[cfg(test)]
mod tests;
