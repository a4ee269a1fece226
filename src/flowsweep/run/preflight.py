"""What hosts must be for a plan's trials, from what engines see of their hosts. No session, no waiting."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from flowsweep.errors import PreflightError
from flowsweep.hosts.access import HostAccess
from flowsweep.hosts.messages import HostFacts, Route
from flowsweep.hosts.namespaces import where_written
from flowsweep.hosts.of_plan import data_address
from flowsweep.run.outcome import EndRole
from flowsweep.run.requests import address_for
from flowsweep.run.tests.bulk import window_of
from flowsweep.schedule.parameters import Bulk, Parameters
from flowsweep.schedule.trial import Slot, Trial
from flowsweep.tests import facts_of
from flowsweep.version import __version__
from flowsweep.wording import format_size

CheckStatus = Literal["ok", "warning", "problem", "not known"]
"""problem: trials of the plan would fail. warning: they would run, and not as one may think."""

_ROLES: tuple[EndRole, EndRole] = ("source", "sink")
_BOUNDS: Mapping[EndRole, tuple[str, str, str]] = {
    "source": ("send", "net.core.wmem_max", "net.ipv4.tcp_wmem"),
    "sink": ("receive", "net.core.rmem_max", "net.ipv4.tcp_rmem"),
}
"""What a window is called at each end, what bounds one that is asked for, and one that is autotuned."""
_TUNES_RECEIVE = "net.ipv4.tcp_moderate_rcvbuf"
_SCALING = "net.ipv4.tcp_window_scaling"
_UNSCALED_BYTES = 65_535
"""The largest window of a connection of which an end does not scale (RFC 7323)."""


@dataclass(frozen=True, slots=True)
class HostCheck:
    """One thing that was looked at on one host."""

    host: str
    what: str
    status: CheckStatus
    found: str
    expected: str
    advice: str = ""
    """What to do about it; empty where nothing has to be done."""


@dataclass(frozen=True, slots=True)
class Use:
    """What a plan asks of two hosts."""

    src: str
    dst: str
    parameters: Parameters

    @property
    def ends(self) -> tuple[tuple[EndRole, str], ...]:
        """Role and host of both."""
        return tuple(zip(_ROLES, (self.src, self.dst), strict=True))


def uses_of(trials: Iterable[Trial]) -> tuple[Use, ...]:
    """List what trials ask of each pair of hosts, with what runs beside them; nothing twice."""
    found: dict[Use, None] = {}
    for trial in trials:
        found |= dict.fromkeys(Use(src, dst, trial.parameters) for src, dst in trial.pairs)
        found |= dict.fromkeys(Use(one.src, one.dst, one.parameters) for one in trial.background)
    return tuple(found)


def checks_of_facts(
    uses: Sequence[Use], accesses: Mapping[str, HostAccess], facts: Mapping[str, HostFacts]
) -> list[HostCheck]:
    """Check versions, windows and packet sizes, host by host.

    Args:
        uses: What the plan asks for.
        accesses: All hosts of the plan.
        facts: Of the hosts that answered; others are left out.
    """
    found = [_version(host, seen, accesses[host]) for host, seen in facts.items()]
    found += window_checks(uses, facts)
    return [*found, *_packet_sizes(uses, accesses, facts)]


def window_checks(uses: Sequence[Use], facts: Mapping[str, HostFacts]) -> Iterator[HostCheck]:
    """Check the windows that hosts are asked for against what their kernels grant: at most the bound."""
    for host, seen in facts.items():
        for role in _ROLES:
            own = [
                use.parameters
                for use in uses
                if (role, host) in use.ends and isinstance(use.parameters, Bulk)
            ]
            if any(window_of(asked, role) for asked in own):
                yield _asked_windows(host, role, own, seen)
            if any(facts_of(asked.test).windows_tuned and window_of(asked, role) is None for asked in own):
                yield _autotuned(host, role, seen)
        scaled = any(host in (use.src, use.dst) and _needs_scaling(use.parameters) for use in uses)
        if scaled and _numbers(seen, _SCALING) == (0,):
            found = f"{_SCALING} = 0: whatever is asked for, no window exceeds {_UNSCALED_BYTES} B"
            advice = f"`sysctl -w {_SCALING}=1` as root there"
            yield HostCheck(host, "window scaling", "warning", found, "windows that are scaled", advice)


def refuse_impossible(slots: Sequence[Slot], facts: Mapping[str, HostFacts]) -> tuple[str, ...]:
    """Say which of a plan's windows its hosts do not grant.

    Args:
        slots: What is to run.
        facts: Of the hosts.

    Returns:
        A sentence for each end whose trials with such a window will fail; the others can run.

    Raises:
        PreflightError: No trial can run.
    """
    trials = [trial for slot in slots for trial in slot.planned]
    checks = window_checks(uses_of(trials), facts)
    sentences = tuple(sentence_of(check) for check in checks if check.status == "problem")
    if trials and all(_impossible(trial, facts) for trial in trials):
        raise PreflightError(sentences)
    return sentences


def sentence_of(check: HostCheck) -> str:
    """Say in one sentence what is wrong with a host."""
    advice = f"; {check.advice}" if check.advice else ""
    return f"{check.host}: {check.what}: found {check.found}, expected {check.expected}{advice}"


def with_this_engine(access: HostAccess) -> str:
    """Advise to have a host run an engine of this version."""
    advice = f"install an engine of version {__version__} there"
    if access.engine is None:
        return advice
    return f"{advice}, or leave `engine` of [hosts.{access.name}] out, so that this installation's is used"


def _impossible(trial: Trial, facts: Mapping[str, HostFacts]) -> bool:
    return any(check.status == "problem" for check in window_checks(uses_of([trial]), facts))


def _version(host: str, seen: HostFacts, access: HostAccess) -> HostCheck:
    alike = seen.engine_version == __version__
    return HostCheck(
        host,
        "engine",
        "ok" if alike else "warning",
        f"version {seen.engine_version}",
        f"version {__version__}",
        "" if alike else with_this_engine(access),
    )


def _asked_windows(host: str, role: EndRole, own: Sequence[Bulk], seen: HostFacts) -> HostCheck:
    """Linux grants what is asked for up to the bound, and no more, whoever asks (socket(7))."""
    side, setting, _ = _BOUNDS[role]
    asked: dict[int, bool] = {}
    """By size: whether all that ask for it take less."""
    for parameters in own:
        if (size := window_of(parameters, role)) is not None:
            asked[size] = asked.get(size, True) and parameters.clip_allowed
    largest = max(asked)
    what, expected = f"{side} window", f"{setting} of at least {largest} ({format_size(largest)})"
    bound = _numbers(seen, setting)
    if not bound:
        return HostCheck(host, what, "not known", f"its kernel does not tell {setting}", expected)
    over = sorted(size for size in asked if size > bound[-1])
    if not over:
        return HostCheck(host, what, "ok", f"{setting} = {bound[-1]}", expected)
    refused = not all(asked[size] for size in over)
    share = f"{len(over)} of {len(asked)} windows that are asked for are larger"
    advice = f"`sysctl -w {setting}={largest}` as root {where_written(setting, host, seen.sysctls)}"
    advice += ', or say clip = "allow" in the plan' if refused else ""
    return HostCheck(
        host, what, "problem" if refused else "warning", f"{setting} = {bound[-1]}: {share}", expected, advice
    )


def _needs_scaling(parameters: Parameters) -> bool:
    """Whether a flow may have a window that only scaling allows: none of both ends asks for less."""
    if not isinstance(parameters, Bulk) or parameters.protocol != "TCP":
        return False
    asked = (window_of(parameters, role) for role in _ROLES)
    return all(size is None or size > _UNSCALED_BYTES for size in asked)


def _autotuned(host: str, role: EndRole, seen: HostFacts) -> HostCheck:
    side, _, setting = _BOUNDS[role]
    what, expected = f"{side} window, autotuned", "no window is asked for: the kernel chooses, up to that"
    bound = _numbers(seen, setting)
    if role == "sink" and _numbers(seen, _TUNES_RECEIVE) == (0,):
        still = f"{_TUNES_RECEIVE} = 0: it stays at {bound[1] if len(bound) > 1 else 'its first size'}"
        advice = f"`sysctl -w {_TUNES_RECEIVE}=1` as root there"
        return HostCheck(host, what, "warning", still, "autotuning", advice)
    if not bound:
        return HostCheck(host, what, "not known", f"its kernel does not tell {setting}", expected)
    return HostCheck(host, what, "ok", f"{setting} up to {bound[-1]} ({format_size(bound[-1])})", expected)


def _numbers(seen: HostFacts, setting: str) -> tuple[int, ...]:
    """The numbers of a setting; empty if the kernel does not tell it."""
    words = seen.sysctls.get(setting, "").split()
    return tuple(map(int, words)) if all(word.isdecimal() and len(word) < 20 for word in words) else ()


def _packet_sizes(
    uses: Sequence[Use], accesses: Mapping[str, HostAccess], facts: Mapping[str, HostFacts]
) -> Iterator[HostCheck]:
    """Check the largest packets of both ways of each path, and datagrams that do not fit."""
    ways = (
        (*pair, use.parameters.family) for use in uses for pair in ((use.src, use.dst), (use.dst, use.src))
    )
    for src, dst, family in dict.fromkeys(ways):
        what = f"MTU towards {dst}{over_version(family)}"
        if _other_version(src, dst, family, accesses, facts):
            found = f"the way to the name that {dst} has is that of the other IP version"
            yield HostCheck(src, what, "not known", found, "the same at both ends")
            continue
        way = _mtu(src, dst, family, accesses, facts)
        if way is None:
            continue
        mtu, device = way
        back = _mtu(dst, src, family, accesses, facts)
        found, expected = f"{mtu} B by {device}", "the same at both ends"
        status: CheckStatus = "ok"
        advice = ""
        ours = [use.parameters for use in uses if (use.src, use.dst) == (src, dst)]
        longest = max((asked.packet_bytes for asked in ours if asked.family == family), default=0)
        if back is not None and back[0] != mtu:
            status, found = "warning", f"{found}, and {back[0]} B by {back[1]} of {dst}"
            advice = "set the same MTU at both ends, or see that path MTU discovery works between them"
        if longest > mtu:
            status, found = "warning", f"{found}; datagrams make packets of {longest} B"
            expected = "room for whole datagrams"
            advice = "ask for a smaller `length`: the kernel sends these in fragments"
        yield HostCheck(src, what, status, found, expected, advice)


def over_version(family: int | None) -> str:
    """Words for the IP version that a plan names."""
    return "" if family is None else f" over IPv{family}"


def _route(
    src: str,
    dst: str,
    family: int | None,
    accesses: Mapping[str, HostAccess],
    facts: Mapping[str, HostFacts],
) -> Route | None:
    """The way from one host to another, of whatever version a name was resolved to."""
    address = address_for(accesses[dst], src, family)
    return None if src not in facts or address is None else facts[src].routes.get(address)


def _other_version(
    src: str,
    dst: str,
    family: int | None,
    accesses: Mapping[str, HostAccess],
    facts: Mapping[str, HostFacts],
) -> bool:
    """Whether the way that is known has another IP version than is asked for."""
    route = _route(src, dst, family, accesses, facts)
    return (
        route is not None and family is not None and data_address(route.address).family not in (None, family)
    )


def _mtu(
    src: str,
    dst: str,
    family: int | None,
    accesses: Mapping[str, HostAccess],
    facts: Mapping[str, HostFacts],
) -> tuple[int, str] | None:
    """The largest packet from one host to another, and the device; None where that is not known."""
    route = _route(src, dst, family, accesses, facts)
    if route is None or _other_version(src, dst, family, accesses, facts):
        return None
    device = next((nic for nic in facts[src].nics if nic.name == route.device), None)
    mtu = route.mtu_bytes or (None if device is None else device.mtu_bytes)
    return None if mtu is None else (mtu, route.device)
