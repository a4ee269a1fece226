//! Threads that carry flows, and the guards that keep a trial from waiting for one that is gone.

use std::thread::{self, Scope, ScopedJoinHandle};

use wire::{CpuTime, FlowEnd};

use crate::{
    TrialError,
    defaults::FLOW_STACK_BYTES,
    flow::{Connection, Flow, Flows},
};

/// Starts the thread of a flow, which begins when all of them are there, bound to one of `cpus` if there are any.
pub fn spawn<'scope, C: Connection>(
    scope: &'scope Scope<'scope, '_>,
    flow: &'scope Flow<C>,
    flows: &'scope Flows<C>,
    cpus: &[u32],
    carry: impl FnOnce() + Send + 'scope,
) -> Result<(), TrialError> {
    let index = flow.index as usize;
    let cpu = (!cpus.is_empty()).then(|| cpus[index % cpus.len()]);
    let body = move || {
        let _guard = EndOnPanic(flow, flows);
        if let Some(cpu) = cpu
            && let Err(error) = sys::bind_to_cpu(cpu)
        {
            let error = format!("cannot bind to CPU {cpu}: {error}");
            flows.end(flow, FlowEnd::Broken, Some(error), CpuTime::default());
            return;
        }
        flows.wait_for_begin();
        flow.meter.report(flows.now_ns());
        carry();
    };
    let thread = thread::Builder::new().name(format!("flow-{index}")).stack_size(FLOW_STACK_BYTES);
    thread.spawn_scoped(scope, body).map(drop).map_err(TrialError::Thread)
}

/// Starts a thread that does one thing within a trial. A host that has no more threads is an error of the trial, no panic.
pub fn spawn_once<'scope, T: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    work: impl FnOnce() -> T + Send + 'scope,
) -> Result<ScopedJoinHandle<'scope, T>, TrialError> {
    thread::Builder::new().spawn_scoped(scope, work).map_err(TrialError::Thread)
}

/// Without a coordinator nobody would stop the flows' threads, and the scope would wait for them forever.
pub struct AbortOnPanic<'a, C: Connection>(pub &'a Flows<C>);

impl<C: Connection> Drop for AbortOnPanic<'_, C> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.abort(FlowEnd::Stopped);
        }
    }
}

/// A flow whose thread is gone must not be waited for.
struct EndOnPanic<'a, C: Connection>(&'a Flow<C>, &'a Flows<C>);

impl<C: Connection> Drop for EndOnPanic<'_, C> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.1.end(self.0, FlowEnd::Broken, Some("its thread failed".into()), CpuTime::default());
        }
    }
}
