"""What must agree in `[monitors.NAME]`, and what becomes of it."""

import re
from collections.abc import Iterator, Mapping

from flowsweep import defaults
from flowsweep.plan.fields import NAME_EXPECTED, NAME_PATTERN
from flowsweep.plan.hosts.checks import known_hosts, unknown_host
from flowsweep.plan.hosts.expansion import members
from flowsweep.plan.hosts.taking_part import hosts_taking_part
from flowsweep.plan.input import PlanFile
from flowsweep.plan.monitors.keys import MonitorTable
from flowsweep.plan.monitors.model import Community, Monitor, SnmpAgent, User
from flowsweep.plan.problems import KeyPath, Problem
from flowsweep.plan.readers import did_you_mean, shown

_GOES_WITH = {"auth_protocol": "auth", "privacy_protocol": "privacy"}
_OF_VERSION_3 = ("user", "auth", "privacy", *_GOES_WITH)
_OF_AGENTS = ("interfaces", "beyond", "src", "version", "community", *_OF_VERSION_3)


def monitor_problems(file: PlanFile) -> Iterator[Problem]:
    """Find what contradicts itself in monitors."""
    if len(file.monitors) > defaults.MONITORS_MAX:
        message = f"found {len(file.monitors)} monitors, expected at most {defaults.MONITORS_MAX}"
        yield Problem(("monitors",), message)
    for name, monitor in file.monitors.items():
        at: KeyPath = ("monitors", name)
        if not re.fullmatch(NAME_PATTERN, name):
            yield Problem(at, f"found {shown(name)}, expected {NAME_EXPECTED}")
        if (monitor.snmp is None) == (monitor.host is None):
            found = "neither" if monitor.snmp is None else "both"
            message = f"found {found} of `snmp` and `host`, expected one: a router, or a host of the plan"
            yield Problem(at, message, ((*at, "snmp"), (*at, "host")))
        elif monitor.snmp is None:
            yield from _without_effect(at, monitor, _OF_AGENTS, "is of SNMP agents, and this is a host")
            yield from _host_problems(file, (*at, "host"), monitor.host)
        else:
            yield from _agent_problems(file, at, monitor)


def monitors_of(file: PlanFile) -> tuple[Monitor, ...]:
    """Make the frozen form of tables without problems."""
    return tuple(
        Monitor(
            name=name,
            every_ns=table.every,
            agent=None if table.snmp is None else _agent(table, file.groups),
            host=table.host,
        )
        for name, table in file.monitors.items()
    )


def _agent(table: MonitorTable, groups: Mapping[str, list[str]]) -> SnmpAgent:
    address, port = table.snmp or ("", 0)
    return SnmpAgent(
        address=address,
        port=port,
        login=_login(table),
        interfaces=tuple(table.interfaces),
        beyond={
            interface: tuple(host for name in names for host in members(groups, name))
            for interface, names in table.beyond.items()
        },
        src=table.src,
    )


def _login(table: MonitorTable) -> Community | User:
    if table.community is not None:
        return Community(community=table.community)
    return User(
        name=table.user or "",
        auth=table.auth,
        auth_protocol=table.auth_protocol,
        privacy=table.privacy,
        privacy_protocol=table.privacy_protocol,
    )


def _agent_problems(file: PlanFile, at: KeyPath, monitor: MonitorTable) -> Iterator[Problem]:
    if not monitor.interfaces:
        message = 'missing: name the interfaces by their ifName, as in ["ge-0/0/1"]'
        yield Problem((*at, "interfaces"), message)
    for interface, names in monitor.beyond.items():
        if interface not in monitor.interfaces:
            hint = did_you_mean(interface, monitor.interfaces)
            message = f"is none of `interfaces`, {', '.join(map(shown, monitor.interfaces))}{hint}"
            yield Problem((*at, "beyond", interface), message, ((*at, "interfaces"),))
        for name in names:
            known = known_hosts(file) | file.groups.keys()
            if name not in known:
                yield unknown_host(file, (*at, "beyond", interface), name, known)
    yield from _host_problems(file, (*at, "from"), monitor.src)
    if monitor.version == "2c":
        yield from _without_effect(at, monitor, _OF_VERSION_3, 'is of version = "3"')
        if monitor.community is None:
            message = 'missing: say where it is found, as in { env = "SNMP_COMMUNITY" }'
            yield Problem((*at, "community"), message, ((*at, "version"),))
    else:
        yield from _user_problems(at, monitor)


def _user_problems(at: KeyPath, monitor: MonitorTable) -> Iterator[Problem]:
    yield from _without_effect(at, monitor, ("community",), 'is of version = "2c"')
    if monitor.user is None:
        yield Problem((*at, "user"), 'missing: version = "3" has users', ((*at, "version"),))
    if monitor.privacy is not None and monitor.auth is None:
        message = "found without `auth`: what is encrypted is authenticated, too (RFC 3414); add that"
        yield Problem((*at, "privacy"), message, ((*at, "auth"),))
    for key, other in _GOES_WITH.items():
        if key in monitor.model_fields_set and getattr(monitor, other) is None:
            message = f"has no effect: it goes with `{other}`, which is missing; add that, or leave this out"
            yield Problem((*at, key), message, ((*at, "version"), (*at, other)))


def _without_effect(at: KeyPath, monitor: MonitorTable, keys: tuple[str, ...], why: str) -> Iterator[Problem]:
    for key in keys:
        if key in monitor.model_fields_set:
            written = "from" if key == "src" else key
            about = tuple((*at, other) for other in ("snmp", "host", "version"))
            yield Problem((*at, written), f"has no effect: it {why}; leave it out", about)


def _host_problems(file: PlanFile, at: KeyPath, name: str | None) -> Iterator[Problem]:
    if name is None:
        return
    known = known_hosts(file)
    if name not in known:
        yield unknown_host(file, at, name, known)
    elif name not in hosts_taking_part(file):
        message = f"found {shown(name)}, which is in no path, expected one of " + ", ".join(
            map(shown, hosts_taking_part(file))
        )
        yield Problem(at, message, (("sweep",),))
    elif file.hosts and name in file.hosts and file.hosts[name].peer != "engine":
        message = f"found {shown(name)}, where a server of others runs, expected a host with an engine"
        yield Problem(at, message, (("hosts", name, "peer"),))
