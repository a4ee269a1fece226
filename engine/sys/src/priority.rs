use std::io;

/// Lets the calling thread run whenever it wants to, before all ordinary threads of the machine (`SCHED_RR`, lowest
/// real-time priority, see `sched(7)`). Meant for threads that mostly sleep.
///
/// # Errors
/// Mostly `EPERM`: it takes root, or a limit on real-time priority above 0.
pub fn take_realtime_priority() -> io::Result<()> {
    let parameter = libc::c_int::from(1_u8);
    let policy = libc::SCHED_RR | libc::SCHED_RESET_ON_FORK;
    // By its number, since musl's function of that name does nothing but fail.
    // SAFETY: `struct sched_param` is one int, which the call only reads; thread 0 is the calling one.
    let result = unsafe { libc::syscall(libc::SYS_sched_setscheduler, 0, policy, &raw const parameter) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
