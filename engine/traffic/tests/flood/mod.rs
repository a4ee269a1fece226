//! Somebody who sends faster than anybody can receive.

use std::{
    net::UdpSocket,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use crate::ends::End;

/// Several threads, each as fast as it can: whoever receives and does something about it never sees an empty socket.
const THREADS: usize = 3;
/// How long whoever is flooded may take to look at its deadlines.
const SOON: Duration = Duration::from_secs(3);

pub struct Flood {
    enough: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Flood {
    /// The same datagram again and again, over a socket that is connected.
    pub fn of(socket: &UdpSocket, datagram: &[u8]) -> Self {
        let enough = Arc::new(AtomicBool::new(false));
        let threads = (0..THREADS).map(|_| {
            let (enough, socket, datagram) = (enough.clone(), socket.try_clone().unwrap(), datagram.to_vec());
            thread::spawn(move || {
                while !enough.load(Ordering::Relaxed) {
                    let _ = socket.send(&datagram);
                }
            })
        });
        let threads = threads.collect();
        Self { enough, threads }
    }

    /// An end that is stopped while all this comes says so soon.
    pub fn does_not_keep(self, end: End, last_word: impl FnOnce(End)) {
        thread::sleep(Duration::from_millis(300));
        let stopped = Instant::now();
        end.control.stop();
        last_word(end);
        let took = stopped.elapsed();
        drop(self);
        assert!(took < SOON, "it took {took:?}");
    }
}

impl Drop for Flood {
    fn drop(&mut self) {
        self.enough.store(true, Ordering::Relaxed);
        self.threads.drain(..).for_each(|thread| thread.join().unwrap());
    }
}
