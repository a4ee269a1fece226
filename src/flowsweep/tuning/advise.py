"""Which settings of a host's kernel to raise, from what was measured and from what the host recorded."""

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

from flowsweep.analysis.findings.host_settings import HostFacts
from flowsweep.analysis.verdicts import WINDOWS
from flowsweep.hosts.ssh import launched, put_in
from flowsweep.tuning.allowed import allow, for_everybody
from flowsweep.tuning.decide import Decision, Gain, goodput_bps, log_ratios
from flowsweep.tuning.places import Means, Place
from flowsweep.tuning.plans import Ends
from flowsweep.tuning.rounds import Tried, of_way
from flowsweep.tuning.settings import TODAY, Setting, Way
from flowsweep.tuning.windows import window_settings
from flowsweep.wording import counted, direction, format_rate

SYSCTL_FILE = "/etc/sysctl.d/99-zz-flowsweep.conf"
"""Files of that folder are read in the order of their names, and by `sysctl --system` /etc/sysctl.conf after
them (sysctl(8)), which systemd reads only where a name in that folder leads to it."""
_IN_FILE = (
    f"add to {SYSCTL_FILE} as root, in place of lines of the same names; then `sysctl -p {SYSCTL_FILE}`. "
    "What /etc/sysctl.conf says of the same names may count after it (`sysctl --system`): take it out there"
)
_BY_COMMAND = "reached by `{}`: run this here; it has to be root there. It is lost at the next restart"
_READ_ONLY = (
    "it shows these settings read-only, also to root, unless it is privileged: set them when it is started "
    "(`docker run --sysctl`, a pod's securityContext.sysctls), or from its machine "
    "(`nsenter -t PID -n sysctl -w`)"
)
_IN_CONTAINER = (
    f"reached by `{{}}`, a container: {_READ_ONLY}. If it is privileged, run this here; it is lost with the "
    "container"
)
_STARTED = "reached by `{}`, which starts a new container each time, so that no command lasts. "
_BY_OPTION = f"{_STARTED}Add this to its options"
_IN_POD = (
    f"{_STARTED}Start it with this in its settings of the kernel: `sysctls` of a compose file, or a pod's "
    "securityContext.sysctls, as far as its node allows that (`kubelet --allowed-unsafe-sysctls`)"
)
_JOINED = (
    "reached by `{}`, which starts a container with the network of {}: these settings are those of that, and "
    "no option sets them. Run this there as root; it is lost at the next restart. If that is a container: "
    f"{_READ_ONLY}"
)
_OF_MACHINE = (
    "reached by `{}`, a container that shares its machine's network: these settings are the machine's, and "
    f"count for all of it. On that machine, {_IN_FILE}"
)
_IN_PLACE = "run this as root. It is lost at the next restart"
_OF_NAMESPACE = ": a network namespace has settings of its own, which no file of its machine keeps"
_CONGESTION = "net.ipv4.tcp_congestion_control"
_HEAD = "# Advised by flowsweep tune. Each line says whether it was measured."


@dataclass(frozen=True, slots=True)
class SystemSetting:
    """A setting of a host's kernel."""

    host: str
    name: str
    """As sysctl has it."""
    value: str
    now: str
    """What was recorded."""
    reason: str
    """Sentences: whether it was measured, what it is for, and what it gains."""
    ends: tuple[str, str] | None = None
    """Source and sink of the direction that it is for, as plans call them; of two, that which needs more."""


def system_settings(
    decisions: Mapping[Way, Decision],
    tried: Sequence[Tried],
    hosts: HostFacts,
    ends: Ends,
    asked: Mapping[Way, Mapping[Setting, int]] | None = None,
    verified: Mapping[Way, Gain | None] | None = None,
    names: Mapping[str, str] | None = None,
) -> tuple[SystemSetting, ...]:
    """Say which settings to raise, and to what. No number that it names is below the one in force.

    Args:
        decisions: Of each direction.
        tried: All trials of the search, but for a verification.
        hosts: What was recorded of the hosts.
        ends: Source and sink of each direction.
        asked: How many trials of each setting there were to be; absent, none is known to have failed.
        verified: What was chosen, measured once more, where it was.
        names: What sentences call hosts, where that is not as plans do.

    Returns:
        Nothing for a direction in which no gain was shown, and nothing whose value in force was not recorded.
        Where a window held today's flow back in most of its trials, and more flows or windows gained: the
        bounds of autotuning at both ends, so that one flow could carry the most that the finals saw
        (`window_settings`). Where another congestion control is part of what was chosen: the sender's
        default, which counts for all of its connections, since most tools cannot ask for one; but not where
        it alone failed or lost. Of several needs for one setting the largest. Reasons begin with their
        direction where there are two.
    """
    found: dict[tuple[str, str], SystemSetting] = {}
    for way, decision in decisions.items():
        wanted, again = (asked or {}).get(way, {}), (verified or {}).get(way)
        own = of_way(tried, way)
        title = direction(*((names or {}).get(host, host) for host in ends[way]))
        for one in _of_direction(decision, own, wanted, hosts, ends[way], again, names or {}):
            reason = f"{title}: {one.reason}" if len(decisions) > 1 else one.reason
            setting = replace(one, reason=reason, ends=ends[way])
            key = setting.host, setting.name
            if key not in found or _last(setting) > _last(found[key]):
                found[key] = setting
    return tuple(found.values())


@dataclass(frozen=True, slots=True)
class HowToSet:
    """What to do on a host that has something to set."""

    host: str
    """As plans call it."""
    place: Place
    how: str
    """In words, before the lines."""
    text: str
    """Lines of SYSCTL_FILE, commands, or what a container is to be started with."""


def how_to_set(
    settings: Sequence[SystemSetting],
    places: Mapping[str, Place] | None = None,
    hosts: HostFacts | None = None,
) -> tuple[HowToSet, ...]:
    """Write the lines for SYSCTL_FILE of each host that has something to set, or what is in place of them.

    Args:
        settings: What to set.
        places: Where hosts are; on a machine of their name, if absent.
        hosts: What was recorded of them.
    """
    lines: dict[str, list[str]] = {}
    found = {host: (places or {}).get(host, Place(host)) for host in (one.host for one in settings)}
    for setting in settings:
        place = found[setting.host]
        own = lines.setdefault(setting.host, [_HEAD])
        own.append(f"# {setting.reason} Before: {setting.now}.")
        own.append(_line(setting, place))
    defaults = {one.host: one.value for one in settings if one.name == _CONGESTION}
    return tuple(
        HowToSet(
            host,
            place,
            _how(place) + _allowed_first(place, defaults.get(host), for_everybody(hosts or {}, host)),
            "\n".join(lines[host]) + "\n",
        )
        for host, place in found.items()
    )


def _how(place: Place) -> str:
    launch = shlex.join(place.launch)
    match place.means:
        case Means.own_file:
            return _IN_FILE
        case Means.machines_file:
            return _OF_MACHINE.format(launch)
        case Means.run_options:
            return _BY_OPTION.format(launch)
        case Means.start_settings:
            return _IN_POD.format(launch)
        case Means.commands_elsewhere:
            return _JOINED.format(launch, place.network_of)
        case Means.commands:
            return _by_commands(place, launch)


def _by_commands(place: Place, launch: str) -> str:
    if place.enters_container:
        return _IN_CONTAINER.format(launch)
    how = _BY_COMMAND.format(launch) if launch else _IN_PLACE
    if not place.is_namespace:
        return how
    return (
        f"{how}{_OF_NAMESPACE}{'' if place.enters_namespace else f'. If this is a container: {_READ_ONLY}'}"
    )


def _allowed_first(place: Place, default: str | None, allowed: Sequence[str] | None) -> str:
    """What else a default congestion control needs: none but a machine itself may take a restricted one."""
    is_restricted = place.is_namespace or (place.enters_container and not place.has_file)
    if default is None or not is_restricted or default in (allowed or ()):
        return ""
    who = default if allowed is not None else f"{default}, unless everybody may ask for it,"
    return f". There {who} has to be allowed on its machine first: `{allow(default, allowed)}`"


def _line(setting: SystemSetting, place: Place) -> str:
    """Of a file; where there is none, a command; where that would be lost, what its launcher takes."""
    match place.means:
        case Means.own_file | Means.machines_file:
            return f"{setting.name} = {setting.value}"
        case Means.run_options:
            return put_in(place.launch, ("--sysctl", f"{setting.name}={setting.value}"))
        case Means.start_settings:
            return f"{setting.name}={setting.value}"
        case Means.commands:
            return shlex.join(launched(place.launch, ("sysctl", "-w", f"{setting.name}={setting.value}")))
        case Means.commands_elsewhere:
            return shlex.join(("sysctl", "-w", f"{setting.name}={setting.value}"))


def _of_direction(
    decision: Decision,
    tried: Sequence[Tried],
    asked: Mapping[Setting, int],
    hosts: HostFacts,
    ends: tuple[str, str],
    verified: Gain | None,
    names: Mapping[str, str],
) -> Iterator[SystemSetting]:
    if decision.chosen is None:
        return
    rows = [one.row for one in tried if one.setting == TODAY]
    held = [row for row in rows if row["verdict"] in WINDOWS and row["goodput_bps"] is not None]
    chosen = decision.chosen.setting
    if len(held) > len(rows) / 2 and (chosen.flows > 1 or chosen.window_bytes is not None):
        finals = (one for one in tried if one.stage == "finals")
        most_bps = max(goodput_bps(finals).values())
        for one, reason in window_settings(held, most_bps, hosts, chosen, names):
            now = " ".join(str(hosts[one.host]["sysctls"][one.name]).split())
            yield SystemSetting(one.host, one.name, " ".join(map(str, one.numbers)), now, reason)
    default = _congestion(decision, ends[0], hosts)
    gained = None if default is None else _gained_alone(decision, default.value, tried, asked, verified)
    if default is not None and gained is not None:
        yield replace(default, reason=f"{gained} It is the default of all connections.")


def _congestion(decision: Decision, src: str, hosts: HostFacts) -> SystemSetting | None:
    """The sender's default, where a congestion control is part of what is to be set; without a reason."""
    name = None if decision.chosen is None else decision.chosen.setting.congestion
    now = hosts.get(src, {}).get("congestion_default")
    return None if name is None or now in (None, name) else SystemSetting(src, _CONGESTION, name, now, "")


def _gained_alone(
    decision: Decision,
    name: str,
    tried: Sequence[Tried],
    asked: Mapping[Setting, int],
    verified: Gain | None,
) -> str | None:
    """Say what a congestion control by itself gains, as far as that was measured.

    Returns:
        None where it failed too often, or lost in the mean, however sure that is: it would be the default of
        all connections.
    """
    chosen = TODAY if decision.chosen is None else decision.chosen.setting
    alone = Setting(congestion=name)
    gain = next((one for one in decision.gains if one.setting == alone), None)
    if gain is None:
        words = _before_the_finals(alone, tried, asked)
        return None if words is None else f"{_needed(chosen)} {words}"
    if not gain.blocks or gain.fails or gain.percent < 0:
        return None
    if alone == chosen:
        return f"Measured: {alone.words} had {(verified or gain).words}."
    return f"{_needed(chosen)} Measured: {alone.words} had {gain.words}."


def _before_the_finals(alone: Setting, tried: Sequence[Tried], asked: Mapping[Setting, int]) -> str | None:
    """Say what a setting carried that did not come into the finals; None where it lost or always failed."""
    own = [one for one in tried if one.setting == alone]
    if not any(one.goodput_bps > 0 for one in own):
        return None if own or asked.get(alone) else "What that gains alone was not measured."
    ratios = log_ratios(tried).get(alone, [])
    if ratios and fmean(ratios) < 0:
        return None
    today = [one for one in tried if one.setting == TODAY and one.stage in {each.stage for each in own}]
    beside = f", today's setting {_carried(today)}" if today else ""
    return f"Alone it carried {_carried(own)} before the finals{beside}."


def _carried(own: Sequence[Tried]) -> str:
    """The mean of some trials."""
    mean_bps = fmean(one.goodput_bps for one in own)
    return f"{format_rate(mean_bps)} in {counted(len(own), 'trial')}"


def _needed(chosen: Setting) -> str:
    return f"Needed for {chosen.words} with tools that cannot ask for {chosen.congestion}."


def _last(setting: SystemSetting) -> int:
    number = setting.value.split()[-1]
    return int(number) if number.isdecimal() else 0
