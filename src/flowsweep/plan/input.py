"""A plan file as a person writes it. The descriptions and examples here are what an editor shows."""

from typing import Annotated, Literal

from pydantic import Field

from flowsweep import defaults
from flowsweep.plan import fields
from flowsweep.plan.alarms.keys import AlarmsTable
from flowsweep.plan.fields import Table, key
from flowsweep.plan.links.table import LinkTable
from flowsweep.plan.monitors.keys import MonitorTable
from flowsweep.plan.readers import one_of
from flowsweep.plan.retain.keys import RetainTable
from flowsweep.plan.sweeps.table import SweepTable
from flowsweep.plan.times.keys import Span, TimesKeys
from flowsweep.plan.times.readers import Moment, ZoneName


class CampaignTable(TimesKeys):
    """The campaign: all sweeps and repeats of this plan. Its schedule is for all sweeps without their own."""

    name: fields.Title | None = key(
        "Name of the campaign; the file's name if absent.", None, examples=["slac-in2p3"]
    )
    repeats: fields.Repeats = key("How often every point of every sweep is measured.", defaults.REPEATS)
    order: Annotated[Literal["blocks", "listed"], one_of("blocks", "listed")] = key(
        "blocks: every point once per repeat, shuffled inside the repeat. listed: as written.", "blocks"
    )
    seed: fields.Seed | None = key(
        "Seed of the shuffle; drawn and recorded when the campaign starts if absent.", None, examples=[1]
    )
    concurrent: fields.Concurrent = key(
        "How many trials run at the same time, at most: such as share neither a host nor a named link. Two "
        "directions at once (`simultaneous`) count as one.",
        1,
    )
    lasts: Span | None = Field(
        default=None,
        alias="for",
        description="How long scheduled sweeps go on from the start of the campaign; until it is stopped, "
        "if absent.",
        examples=["14h"],
    )
    until: Moment | None = key(
        "When scheduled sweeps end, in place of `for`.", None, examples=["2027-01-31T18:00:00Z"]
    )
    timezone: ZoneName = key("Time zone of `at` and `between`.", "UTC", examples=["Europe/Vienna"])


class LabTable(Table):
    """Emulated links. A plan with a lab measures between the hosts of its links and no others."""

    links: dict[str, LinkTable] = key("Emulated links, by name.", {})


class HostTable(Table):
    """How to start an engine on a host, and how peers reach it."""

    address: fields.Address | None = key(
        "Name or IP address where peers reach it.", None, examples=["192.0.2.7", "nas.example.org"]
    )
    launch: fields.Launch = key(
        "Arguments put in front of the engine's command; this machine if absent.",
        [],
        examples=[["ssh", "nas.example.org"], ["ip", "netns", "exec", "left"]],
    )
    data_address: fields.Address | None = key(
        "Name or IP address for the traffic, where it is not `address`.", None, examples=["10.0.0.7"]
    )
    further_addresses: Annotated[list[fields.BindAddress], Field(max_length=defaults.SUBFLOWS_MAX - 1)] = key(
        "IP addresses of its other devices, in the order in which they belong together with those of the "
        "peer: MPTCP makes a subflow for each.",
        [],
        examples=[["192.0.2.71", "198.51.100.7"]],
    )
    folder: fields.Folder | None = key(
        'Folder of that host in which files are made, without names, and nowhere else: of test = "file".',
        None,
        examples=["/data/flowsweep"],
    )
    bind: fields.BindAddress | None = key(
        "IP address of that host to listen on and send from.", None, examples=["10.0.0.7"]
    )
    ports: fields.Ports | None = key(
        "Ports the listening side chooses from; any free one if absent.", None, examples=["5300-5400"]
    )
    engine: str | None = key(
        "Path of the engine on that host; the one that comes with Flowsweep if absent.",
        None,
        examples=["/usr/local/bin/flowsweep-engine"],
    )
    peer: Annotated[Literal["engine", "iperf3", "quic-perf"], one_of("engine", "iperf3", "quic-perf")] = key(
        "Kind of peer. engine: a Flowsweep engine, started by the run. iperf3: an iperf3 server that is "
        "already running. quic-perf: a server of QUIC's perf protocol that is already running.",
        "engine",
    )
    port: fields.Port | None = key(
        f"Port of the server; {defaults.IPERF3_PORT} of iperf3, {defaults.QUIC_PERF_PORT} of quic-perf if "
        "absent.",
        None,
        examples=[defaults.IPERF3_PORT],
    )
    user: fields.UserName | None = key(
        "User name for an iperf3 server that asks for one.", None, examples=["anna"]
    )
    password_env: fields.VariableName | None = key(
        "Name of the environment variable that holds this user's password.",
        None,
        examples=["IPERF3_PASSWORD"],
    )
    public_key: str | None = key(
        "File with the iperf3 server's RSA public key, as PEM.", None, examples=["iperf3-public.pem"]
    )
    padding: Annotated[Literal["oaep", "pkcs1"], one_of("oaep", "pkcs1")] = key(
        "How user name and password are encrypted. pkcs1: for iperf3 servers before 3.17.", "oaep"
    )
    listens: bool = key(
        "Whether peers can connect to it; false behind NAT: then it connects, in either role.", default=True
    )


class NamedLinkTable(Table):
    """A link that real paths between two sides have in common: how many trials may use it at a time."""

    between: fields.TwoSides = Field(
        description="Two hosts or groups: paths from one to the other, either way, use the link.",
        examples=[["geneva", "paris"]],
    )
    concurrent: fields.Concurrent = key("How many trials use it at the same time, at most.", 1)


class PlanFile(Table):
    """A plan of Flowsweep: what to measure, between which hosts. Quantities carry their unit."""

    campaign: CampaignTable = key("The campaign.", CampaignTable())
    lab: LabTable | None = key("Emulated links, for a plan without real hosts.", None)
    hosts: dict[str, HostTable] = key("Real hosts, by name.", {})
    groups: dict[str, fields.Members] = key(
        "Groups of hosts, by name: a path between groups has each source send to each sink.",
        {},
        examples=[{"sources": ["s1", "s2"], "sinks": ["t1", "t2"]}],
    )
    links: dict[str, NamedLinkTable] = key(
        "Links of real paths, by name, for trials that run at the same time.", {}
    )
    alarms: AlarmsTable | None = key("Alarms of scheduled sweeps.", None)
    retain: RetainTable | None = key("How long a service keeps samples of scheduled sweeps.", None)
    monitors: dict[str, MonitorTable] = key(
        "Routers and hosts whose counters are polled while the campaign lasts, by name.", {}
    )
    sweep: Annotated[list[SweepTable], Field(min_length=1)] = key("The grids of trials.", [])
