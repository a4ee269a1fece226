"""Whether an engine is of this version: both ends of a session speak the same messages."""

from flowsweep.hosts.messages import Hello, HostFacts
from flowsweep.version import __version__

PROTOCOL = 9
"""Version of the messages; `PROTOCOL` of the engine's `wire`."""

_SHOWN_CHARACTERS = 40


def why_no_session(answer: Hello | HostFacts) -> str | None:
    """Why an engine that said this first cannot be talked with; None if it can."""
    if not isinstance(answer, Hello):
        return "what answered began without a hello: it is no engine of Flowsweep"
    if answer.protocol != PROTOCOL:
        release = answer.engine_version[:_SHOWN_CHARACTERS]
        return (
            f"an engine of another version answered: release {release!r} with protocol {answer.protocol}; "
            f"expected protocol {PROTOCOL}, that of Flowsweep {__version__} here: update the older of the two"
        )
    return None
