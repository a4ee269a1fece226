use wire::{Prepare, RendezvousRole, Role, Token};

/// One end of a trial: what every test must know, and the settings of this one.
pub struct Task<'a, S> {
    /// Name of the trial, unique in its session.
    pub trial: &'a str,
    /// Which end this is.
    pub role: Role,
    /// The connecting side shows this.
    pub token: Token,
    /// The listening side answers with this.
    pub answer: Token,
    /// How the two ends meet.
    pub rendezvous: &'a RendezvousRole,
    /// What is measured, and how.
    pub settings: &'a S,
}

impl<'a, S> Task<'a, S> {
    /// The task of a prepared trial.
    pub fn new(prepare: &'a Prepare, settings: &'a S) -> Self {
        let Prepare { trial, role, token, answer, rendezvous, .. } = prepare;
        Self { trial, role: *role, token: *token, answer: *answer, rendezvous, settings }
    }
}
