"""From a host's access to a session that has said hello."""

from flowsweep.defaults import ENGINE_CUT_OFF_TIMEOUT_S
from flowsweep.errors import LaunchError, SessionError
from flowsweep.hosts.access import HostAccess
from flowsweep.hosts.engine import engine_path
from flowsweep.hosts.engine_copy import command_of_copy, copy_engine, platform_without_engine
from flowsweep.hosts.process import PipedProcess, allow_many_files, why_not
from flowsweep.hosts.session import Session
from flowsweep.hosts.ssh import SSH_FAILED, how_to_try, launched, ssh_call


async def open_session(access: HostAccess) -> Session:
    """Start the engine of a host and greet it; copies the engine there first if the host has no whole one.

    Raises:
        LaunchError: the engine cannot be started or copied there.
        SessionError: something was started, but it does not speak as an engine of this version does; where
            ssh failed, with what to try.
    """
    allow_many_files()
    session = await _started(access)
    try:
        await session.greet()
    except SessionError as error:
        if session.exit_status == SSH_FAILED and ssh_call(access.launch) is not None:
            raise SessionError(error.host, error.reason, how_to_try(access.launch)) from error
        platform = platform_without_engine(session.complaint)
        if platform is None or access.shares_files or access.engine is not None:
            raise
    else:
        return session
    await copy_engine(access, platform)
    session = await _started(access)
    await session.greet()
    return session


async def _started(access: HostAccess) -> Session:
    process = await PipedProcess.start(access.name, engine_command(access))
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
