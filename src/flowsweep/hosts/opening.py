"""From a host's access to a session that has said hello."""

from flowsweep.defaults import ENGINE_CUT_OFF_TIMEOUT_S
from flowsweep.errors import LaunchError, SessionError
from flowsweep.hosts.access import HostAccess
from flowsweep.hosts.engine import engine_path
from flowsweep.hosts.engine_copy import command_of_copy, copy_engine, not_run, platform_without_engine
from flowsweep.hosts.process import PipedProcess, allow_many_files, why_not
from flowsweep.hosts.session import Session
from flowsweep.hosts.ssh import SSH_FAILED, how_to_try, launched, ssh_call

_ENDED = (
    "what was started there may have been ended by a signal, or the connection broke: see that host's "
    "kernel log"
)
"""Where ssh failed without a word."""


async def open_session(access: HostAccess) -> Session:
    """Start the engine of a host and greet it; copies the engine there first if the host has no whole one.

    Raises:
        LaunchError: the engine cannot be started or copied there, or its copy cannot be run.
        SessionError: something was started, but it does not speak as an engine of this version does; where
            the launcher got nowhere, with what to try.
    """
    allow_many_files()
    session = await _started(access)
    try:
        await session.greet()
    except SessionError as error:
        platform = _platform_to_copy_to(access, session)
        if platform is None:
            raise _advised(error, access, session) from error
    else:
        return session
    await copy_engine(access, platform)
    session = await _started(access)
    try:
        await session.greet()
    except SessionError as error:
        if _platform_to_copy_to(access, session) is not None:
            raise LaunchError(access.name, not_run(access.name)) from error
        raise _advised(error, access, session) from error
    return session


def _platform_to_copy_to(access: HostAccess, session: Session) -> str | None:
    """The host's kind of machine, if its shell found no copy of the engine that it may run."""
    copied = not access.shares_files and access.engine is None
    return platform_without_engine(session.complaint) if copied else None


def _advised(error: SessionError, access: HostAccess, session: Session) -> SessionError:
    """The error with what to do, where the launcher may be why no engine spoke.

    ssh says why it cannot connect, and nothing where what it started was ended by a signal. Whether another
    launcher got there, its exit status does not tell.
    """
    failed = session.exit_status == SSH_FAILED and ssh_call(access.launch) is not None
    advice = ""
    if access.launch and (session.timed_out or (failed and session.complaint)):
        advice = how_to_try(access.launch)
    elif failed:
        advice = _ENDED
    return SessionError(error.host, error.reason, advice)


async def _started(access: HostAccess) -> Session:
    command = engine_command(access)
    try:
        process = await PipedProcess.start(access.name, command)
    except LaunchError as error:
        advice = how_to_try(access.launch) if access.launch else ""
        raise LaunchError(access.name, error.reason, advice) from error
    try:
        return Session(access.name, process)
    except OSError as error:
        await process.end(ENGINE_CUT_OFF_TIMEOUT_S)
        reason = f"no session with the engine that was started: {why_not(error)}"
        raise LaunchError(access.name, reason) from error


def engine_command(access: HostAccess) -> tuple[str, ...]:
    """The command that starts the engine of a host: directly, or by a shell there that looks for a copy.

    Raises:
        LaunchError: this installation has no engine, and the host is not said to have one of its own.
    """
    if access.engine is not None:
        return launched(access.launch, (access.engine, "agent"))
    if access.shares_files:
        return launched(access.launch, (str(engine_path()), "agent"))
    return launched(access.launch, command_of_copy())
