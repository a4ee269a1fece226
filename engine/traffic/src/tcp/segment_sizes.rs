//! Segment sizes of a trial's flows: the same for all, unless the kernel had no room for all that came at once. Those beyond
//! it answers with SYN cookies, which know few sizes.

use std::{fs, net::TcpStream};

use socket2::SockRef;

const ROOM: &str = "/proc/sys/net/core/somaxconn";

/// What is to be said of flows whose segments differ in size.
///
/// # Arguments
/// `backlog`: how many connections the kernel was asked to have room for; absent where the other end was.
pub fn remark(streams: &[TcpStream], backlog: Option<u32>) -> Option<String> {
    let sizes: Vec<u32> = streams.iter().filter_map(|stream| SockRef::from(stream).tcp_mss().ok()).collect();
    let room = || fs::read_to_string(ROOM).ok().and_then(|text| text.trim().parse().ok());
    let short = backlog.and_then(|backlog| room().filter(|&room| room < backlog).map(|room| (room, backlog)));
    remark_on(&sizes, short)
}

/// # Arguments
/// `short`: the room that there is for connections, and what was asked for, if that is more.
fn remark_on(sizes: &[u32], short: Option<(u32, u32)>) -> Option<String> {
    let (least, most) = (sizes.iter().min()?, sizes.iter().max()?);
    if least == most {
        return None;
    }
    let why = short.map_or_else(String::new, |(room, backlog)| {
        format!(
            ": net.core.somaxconn is {room}, and {backlog} connections may come at once; those that find no room are \
             answered with SYN cookies"
        )
    });
    Some(format!(
        "the segment sizes of flows differ, from {least} to {most} B; mss_bytes is that of the first flow{why}"
    ))
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use socket2::{Domain, Socket, Type};

    use super::*;

    #[test]
    fn all_flows_are_looked_at() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let connected = |mss_bytes| {
            let socket = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
            socket.set_tcp_mss(mss_bytes).unwrap();
            socket.connect(&listener.local_addr().unwrap().into()).unwrap();
            TcpStream::from(socket)
        };
        let mut streams = vec![connected(1400), connected(1400)];
        assert_eq!(remark(&streams, Some(u32::MAX)), None);
        streams.push(connected(1000));
        let told = remark(&streams, Some(u32::MAX)).unwrap();
        assert!(told.contains(&format!("and {} connections may come at once", u32::MAX)), "{told}");
        assert!(!remark(&streams, Some(1)).unwrap().contains("somaxconn"), "there is room for 1");
    }

    #[test]
    fn flows_with_unlike_segments_are_told() {
        assert_eq!(remark_on(&[], None), None);
        assert_eq!(remark_on(&[8948, 8948], Some((128, 264))), None);
        let told = remark_on(&[8948, 1448, 8948], None).unwrap();
        assert!(told.contains("differ, from 1448 to 8948 B"), "{told}");
        assert!(!told.contains("somaxconn"), "{told}");
        let told = remark_on(&[8948, 1448], Some((128, 264))).unwrap();
        assert!(told.contains("net.core.somaxconn is 128, and 264 connections"), "{told}");
    }
}
