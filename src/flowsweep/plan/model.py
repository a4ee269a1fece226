"""The checked plan: frozen types that cannot be wrong. Only plan/ makes them; nothing checks them again."""

from typing import Literal

from pydantic import BaseModel, ConfigDict

Order = Literal["blocks", "listed"]
Directions = Literal["one", "both", "simultaneous"]


class Frozen(BaseModel):
    """Base of all plan types."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Campaign(Frozen):
    """`[campaign]`."""

    name: str
    repeats: int
    order: Order
    seed: int | None
    """Absent: drawn when the campaign starts, and recorded."""


class Link(Frozen):
    """`[lab.links.NAME]`: an emulated path between two hosts."""

    name: str
    between: tuple[str, str]
    rate_bps: int | None
    """Rate of IP packets, without Ethernet framing; unlimited if absent."""
    queue_bytes: int | None
    """What may wait for the link; a default that suits the rate if absent."""


class Host(Frozen):
    """`[hosts.NAME]`: how to start an engine there and where its data connections go."""

    name: str
    launch: tuple[str, ...]
    """Argument list put in front of the engine's command; empty: this machine."""
    address: str | None
    data_address: str | None
    """Where peers reach it for traffic; `address` if absent."""
    bind: str | None
    ports: tuple[int, int] | None
    """Inclusive range the listening side chooses from."""
    engine: str | None
    """Path of the engine there; absent: the one that comes with Flowsweep, copied there where needed."""
    listens: bool
    """False: cannot be reached from outside (NAT), so that its peer listens in either role."""


class Path(Frozen):
    """`{ from = "…", to = "…" }`: an ordered pair of hosts."""

    src: str
    dst: str


class Sweep(Frozen):
    """`[[sweep]]`: an axis is a tuple, of one where the plan has a scalar; `None` in it means not set."""

    name: str
    test: Literal["tcp"]
    paths: tuple[Path, ...]
    directions: Directions
    flows: tuple[int, ...]
    window_bytes: tuple[int, ...] | None
    window_sum_bytes: tuple[int, ...] | None
    """At most one of `window_bytes` and `window_sum_bytes`."""
    window_send_bytes: tuple[int, ...] | None
    window_recv_bytes: tuple[int, ...] | None
    """Each overrides its side of `window`."""
    window_max_bytes: int | None
    """Cap of the window per flow."""
    length_bytes: tuple[int, ...]
    congestion: tuple[str | None, ...]
    duration_ns: tuple[int, ...]
    rate_bps: tuple[int | None, ...]
    pacing_rate_bps: tuple[int | None, ...]
    mss_bytes: tuple[int | None, ...]
    dscp: tuple[int | None, ...]
    no_delay: tuple[bool, ...]
    affinity: tuple[tuple[int, ...], ...]
    """Each element is a list of CPUs, empty for unbound."""
    family: tuple[Literal[4, 6] | None, ...]
    mode: tuple[Literal["copy", "zerocopy", "discard"], ...]
    omit_ns: int
    interval_ns: int
    sample_interval_ns: int
    clip_allowed: bool
    drain_timeout_ns: int


class Plan(Frozen):
    """A plan file, checked."""

    source: str
    """Where it came from, for messages."""
    text: str
    """The file as it was written."""
    overrides: tuple[str, ...] = ()
    """`TABLE.KEY=VALUE`, put over the file by `--set`; everything below already has them in it."""
    campaign: Campaign
    links: tuple[Link, ...]
    """Empty: real hosts."""
    hosts: tuple[Host, ...]
    """Every host that a path names, with a `[hosts]` entry or, in a lab, without."""
    sweeps: tuple[Sweep, ...]
