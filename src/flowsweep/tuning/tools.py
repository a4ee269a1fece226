"""What to type for a setting in tools that people transfer files with.

Only options that these tools have (iperf3(1), rsync(1), globus-url-copy's and xrdcp's manuals, curl(1),
nginx's ngx_http_core_module); what a tool cannot set is said.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from flowsweep.analysis.theory import window_bps
from flowsweep.analysis.verdicts import RECEIVER_CPU, SENDER_CPU, WINDOWS
from flowsweep.tuning.allowed import Limit, Restricted
from flowsweep.tuning.settings import TODAY, Setting, Way
from flowsweep.wording import format_rate

_IPERF3, _SSH = "iperf3", "rsync, scp over ssh"
_SSH_BYTES = 2 << 20
"""OpenSSH's window of a session, whatever TCP's is: CHAN_SES_WINDOW_DEFAULT, 64 packets of 32 KiB."""
_GRIDFTP, _CURL = "GridFTP", "curl"
_OF_CPU = (SENDER_CPU, RECEIVER_CPU)
_ONE_THREAD = {
    _IPERF3: "a CPU limits, and all flows have one thread before iperf3 3.16: take that or later, or several "
    "iperf3, each with a port of its own",
    _GRIDFTP: "a CPU limits, and one process carries all flows of -p: take -cc beside it, for several files "
    "at a time, or several globus-url-copy",
    _CURL: "a CPU limits, and one curl is one thread: take several, each with a part of the URLs",
}
"""Of tools whose flows share a thread: the iperf3 3.16's release notes, curl(1), globus-url-copy's manual."""
_THINGS = {
    "flows": "parallel flows",
    "window": "windows",
    "congestion": "congestion control",
    "pacing": "pacing",
}
"""What a setting may hold, in words."""
_FIELDS = {"flows": "flows", "window": "window_bytes", "congestion": "congestion", "pacing": "pacing_bps"}


@dataclass(frozen=True, slots=True)
class ToolAdvice:
    """Of one tool."""

    tool: str
    write: str | None
    """What to type; absent if the tool can set none of it."""
    cannot: tuple[str, ...]
    """What of the setting it cannot set."""
    notes: tuple[str, ...] = ()
    """What else to know, in words."""


@dataclass(frozen=True, slots=True)
class Known:
    """Of the direction that a setting is for."""

    carried_bps: Mapping[Setting, float] = field(default_factory=dict)
    """Mean goodput of all settings that were tried."""
    congestion: str | None = None
    """That a transfer has which asks for none."""
    rtt_ms: float = 0.0
    """Of the idle path."""
    receiver: str = ""
    receiver_congestions: tuple[str, ...] = ()
    """That it has loaded; empty: not recorded."""
    receiver_loads: str = "there"
    """Where root may load others."""
    limits: tuple[Limit, ...] = ()
    """Of both buffers at both ends, as far as they were recorded."""
    restricted: tuple[Restricted, ...] = ()
    """Ends at which not everybody may ask for the congestion control, the sender first."""
    verdict: str | None = None
    """What limits today's transfer."""


@dataclass(frozen=True, slots=True)
class _Tool:
    name: str
    form: str
    """With a place for the options."""
    options: Mapping[str, str]
    """For each thing that it can set."""
    back: str = ""
    """A further option where the far host sends."""
    way: Way | None = None
    """The only direction in which what it does goes."""


_NOTHING_KNOWN = Known()
_TOOLS = (
    _Tool(
        _IPERF3,
        "iperf3 -c SERVER {options}",
        {
            "flows": "-P {flows}",
            "window": "-w {window}",
            "congestion": "-C {congestion}",
            "pacing": "--fq-rate {pacing}",
        },
        back="-R",
    ),
    _Tool(_SSH, "{options}", {"flows": "{flows} at a time, each with a part of the files"}),
    _Tool(
        "rsync to a daemon",
        "{options}",
        {
            "flows": "{flows} at a time, each with a part of the files",
            "window": "rsync --sockopts=SO_SNDBUF={window},SO_RCVBUF={window} …, and in rsyncd.conf socket "
            "options = SO_SNDBUF={window},SO_RCVBUF={window}",
        },
    ),
    _Tool(
        _GRIDFTP,
        "globus-url-copy {options} SOURCE DESTINATION",
        {"flows": "-p {flows}", "window": "-tcp-bs {window}"},
    ),
    _Tool(
        "Globus",
        "{options}",
        {
            "flows": "at least {flows} flows in all (concurrency × parallelism) in the endpoint's network "
            "use, which its administrator sets: leave it where it is more"
        },
    ),
    # Data streams are beside the control stream, and carry what is read only (XrdClXRootDTransport.cc). Files
    # of one xrdcp share the connections to a server, whatever --parallel says (XrdClPostMaster.cc).
    _Tool("XRootD", "xrdcp {options} SOURCE DESTINATION", {"flows": "--streams {flows}"}, way=Way.back),
    _Tool(
        "XRootD",
        "{options}",
        {"flows": "{flows} xrdcp at a time, each with a part of the files"},
        way=Way.out,
    ),
    # With HTTP/2 curl would put all transfers on one connection.
    _Tool(
        _CURL,
        "curl {options} URL URL …",
        {"flows": "--remote-name-all --http1.1 --parallel --parallel-max {flows}"},
        way=Way.back,
    ),
    _Tool(
        "nginx",
        "{options}",
        {
            "window": "sndbuf={window} rcvbuf={window} added to its listen line: for all its clients, which "
            "then have no autotuning; the other end needs it, too"
        },
    ),
)


def tools(setting: Setting, way: Way, known: Known = _NOTHING_KNOWN) -> tuple[ToolAdvice, ...]:
    """Say what to type for a setting.

    Args:
        setting: Not today's.
        way: Who sends: in `back` a client that asks the far host to.
        known: Of that direction.
    """
    values = {
        "flows": setting.flows,
        "window": setting.window_bytes,
        "congestion": setting.congestion,
        "pacing": setting.pacing_bps,
    }
    asked = [name for name in _THINGS if values[name] and (name, values[name]) != ("flows", 1)]
    found = (_of_tool(tool, asked, values, way) for tool in _TOOLS if tool.way in (None, way))
    return tuple(replace(one, notes=tuple(_notes(one, setting, way, known))) for one in found)


def _notes(one: ToolAdvice, setting: Setting, way: Way, known: Known) -> Iterator[str]:
    part = _part(setting, one.cannot)
    if one.write is not None and one.cannot and part in known.carried_bps:
        words = (part if part.congestion else replace(part, congestion=known.congestion)).words
        yield f"{words} carried {format_rate(known.carried_bps[part])}"
    if known.verdict in _OF_CPU and setting.flows > 1 and one.tool in _ONE_THREAD:
        yield _ONE_THREAD[one.tool]
    if one.tool == _SSH:
        yield from _of_ssh(setting, known)
    if one.tool == _IPERF3:
        yield from _low_limits(setting, known)
        yield from _restricted(setting, way, known)
        yield from _not_loaded(setting, way, known)


def _of_ssh(setting: Setting, known: Known) -> Iterator[str]:
    """What the window of each ssh keeps from a transfer, whatever TCP's windows are."""
    ssh_bps = window_bps(_SSH_BYTES, known.rtt_ms / 1_000) if known.rtt_ms else math.inf
    carried_bps = known.carried_bps.get(setting, 0.0)
    if ssh_bps < carried_bps / setting.flows:
        yield f"each ssh carries at most 2 MiB per round trip: {format_rate(ssh_bps)} here"
    elif setting.flows > 1 and known.verdict in WINDOWS and ssh_bps < carried_bps:
        yield (
            f"one ssh carries at most 2 MiB per round trip, {format_rate(ssh_bps)} here, whatever tcp_rmem "
            f"and tcp_wmem are: keep {setting.flows} at a time"
        )


def _restricted(setting: Setting, way: Way, known: Known) -> Iterator[str]:
    """Who refuses -C to all but root: the sender, and the client, which asks for it wherever it sends."""
    refusing = (one for one in known.restricted if one.is_loaded)
    ends = [one for one in refusing if way == Way.back or one.host != known.receiver]
    if setting.congestion is not None and ends:
        commands = " and ".join(f"`{one.command}` {one.where}" for one in ends)
        yield f"only root may ask for {setting.congestion}: allow it to everybody by {commands}"


def _not_loaded(setting: Setting, way: Way, known: Known) -> Iterator[str]:
    """What a client needs that asks for -C; a server that lacks it only warns (iperf_server_api.c)."""
    available = known.receiver_congestions
    if way == Way.back and available and setting.congestion not in (None, *available):
        unloaded = (one for one in known.restricted if one.host == known.receiver and not one.is_loaded)
        allows = "".join(f", then `{one.command}`" for one in unloaded)
        yield (
            f"-C needs {setting.congestion} at the client, too, and it is not loaded on {known.receiver} "
            f"(`modprobe tcp_{setting.congestion}`{allows} as root {known.receiver_loads})"
        )


def _low_limits(setting: Setting, known: Known) -> Iterator[str]:
    """What does not grant iperf3 the window: it sets SO_SNDBUF and SO_RCVBUF at both ends (iperf_tcp.c)."""
    low = [one for one in known.limits if one.most_bytes < (setting.window_bytes or 0)]
    if low:
        names = " and ".join(f"{one.name} of {one.host}" for one in low)
        yield f"-w sets both buffers at both ends: {names} {'is' if len(low) == 1 else 'are'} too low for it"


def _part(setting: Setting, cannot: Sequence[str]) -> Setting:
    """What is left of a setting without what a tool cannot set."""
    left_out = {_FIELDS[name]: getattr(TODAY, _FIELDS[name]) for name in _THINGS if _THINGS[name] in cannot}
    return replace(setting, **left_out)


def _of_tool(tool: _Tool, asked: list[str], values: Mapping[str, object], way: Way) -> ToolAdvice:
    can = [tool.options[name].format(**values) for name in asked if name in tool.options]
    cannot = tuple(_THINGS[name] for name in asked if name not in tool.options)
    if not can:
        return ToolAdvice(tool.name, None, cannot)
    joined = ", ".join(can) if tool.form == "{options}" else " ".join(can)
    written = tool.form.format(options=joined)
    return ToolAdvice(tool.name, f"{written} {tool.back}".rstrip() if way == Way.back else written, cannot)
