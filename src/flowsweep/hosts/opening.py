"""From a host's access to a session that has said hello."""

from flowsweep.errors import SessionError
from flowsweep.hosts.access import HostAccess
from flowsweep.hosts.launch import copy_engine, platform_without_engine, start_engine
from flowsweep.hosts.session import Session


async def open_session(access: HostAccess) -> Session:
    """Start the engine of a host and greet it; copies the engine there first if the host has no whole one.

    Raises:
        LaunchError: the engine cannot be started or copied there.
        SessionError: something was started, but it does not speak as an engine of this version does.
    """
    session = Session(access.name, await start_engine(access))
    try:
        await session.greet()
    except SessionError:
        platform = platform_without_engine(session.complaint)
        if platform is None or access.shares_files or access.engine is not None:
            raise
    else:
        return session
    await copy_engine(access, platform)
    session = Session(access.name, await start_engine(access))
    await session.greet()
    return session
