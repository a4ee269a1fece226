//! Places for tests: who has one, who waits for one, and whose turn it is.

use std::{
    collections::{HashMap, VecDeque},
    thread::JoinHandle,
};

use serving::Origin;

use crate::{
    admission::{Admission, Crowd, Decision},
    conversation::Client,
    fairness::{counted, crowd, next},
};

/// Tests that run and clients that wait.
pub struct Places {
    /// Clients that wait, in the order of their arrival.
    pub waiting: VecDeque<Client>,
    running: HashMap<u64, (Origin, JoinHandle<()>)>,
    admission: Admission,
}

impl Places {
    /// All of them free.
    #[must_use]
    pub fn new(admission: Admission) -> Self {
        Self { waiting: VecDeque::new(), running: HashMap::new(), admission }
    }

    /// What becomes of a client from there.
    #[must_use]
    pub fn decide(&self, origin: Origin) -> Decision {
        let own = |origins: &mut dyn Iterator<Item = Origin>| origins.filter(|other| *other == origin).count();
        self.admission.decide(Crowd {
            running: self.running.len(),
            running_own: own(&mut self.running.values().map(|(origin, _)| *origin)),
            waiting: self.waiting.len(),
            waiting_own: own(&mut self.waiting.iter().map(Client::origin)),
            waiting_most: crowd(self.waiting.iter().map(Client::origin)).map_or(0, |(_, most)| most),
        })
    }

    /// Removes the last to arrive from the origin with the most that wait.
    pub fn make_room(&mut self) -> Option<Client> {
        let (most, _) = crowd(self.waiting.iter().map(Client::origin))?;
        let last = self.waiting.iter().rposition(|client| client.origin() == most)?;
        self.waiting.remove(last)
    }

    /// The client that has the next place, if one is free.
    pub fn next(&mut self) -> Option<Client> {
        if self.running.len() >= self.admission.tests_max {
            return None;
        }
        self.waiting.remove(self.next_at()?)
    }

    /// Whether somebody waits whom only others' tests keep out.
    #[must_use]
    pub fn are_crowded(&self) -> bool {
        self.running.len() >= self.admission.tests_max && self.next_at().is_some()
    }

    /// A test has begun.
    pub fn take(&mut self, number: u64, origin: Origin, thread: JoinHandle<()>) {
        self.running.insert(number, (origin, thread));
    }

    /// A test has ended.
    pub fn free(&mut self, number: u64) {
        if let Some((_, thread)) = self.running.remove(&number) {
            // A test whose thread failed has ended, too.
            let _ = thread.join();
        }
    }

    /// Waits until no test runs any more.
    pub fn join(&mut self) {
        for (_, (_, thread)) in self.running.drain() {
            let _ = thread.join();
        }
    }

    fn next_at(&self) -> Option<usize> {
        if self.waiting.is_empty() {
            return None;
        }
        let running = counted(self.running.values().map(|(origin, _)| *origin));
        next(self.waiting.iter().map(Client::origin), &running, self.admission.per_address_max)
    }
}
