use std::{
    io,
    mem::MaybeUninit,
    os::fd::{FromRawFd, OwnedFd},
    ptr,
};

/// Has Ctrl-C and a termination (`SIGINT`, `SIGTERM`) make a file readable in place of ending the process
/// (`signalfd(2)`). To be called before there are threads: they inherit it.
///
/// # Errors
/// What `pthread_sigmask` or `signalfd` say.
pub fn termination_signals() -> io::Result<OwnedFd> {
    let mut signals = MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: the set is initialised by `sigemptyset` before anything else looks at it; all pointers are to it or null.
    let file = unsafe {
        libc::sigemptyset(signals.as_mut_ptr());
        libc::sigaddset(signals.as_mut_ptr(), libc::SIGINT);
        libc::sigaddset(signals.as_mut_ptr(), libc::SIGTERM);
        let error = libc::pthread_sigmask(libc::SIG_BLOCK, signals.as_ptr(), ptr::null_mut());
        if error != 0 {
            return Err(io::Error::from_raw_os_error(error));
        }
        libc::signalfd(-1, signals.as_ptr(), libc::SFD_CLOEXEC | libc::SFD_NONBLOCK)
    };
    if file < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the call has just made the file, and nobody else knows it.
    Ok(unsafe { OwnedFd::from_raw_fd(file) })
}
