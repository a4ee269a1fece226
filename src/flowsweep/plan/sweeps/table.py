"""`[[sweep]]` as a person writes it. The descriptions and examples here are what an editor shows."""

import math
from collections.abc import Collection
from typing import Annotated, Literal

from pydantic import ConfigDict, Field

from flowsweep import defaults, units
from flowsweep.plan import fields
from flowsweep.plan.background.keys import BackgroundKeys
from flowsweep.plan.fields import Table, key
from flowsweep.plan.hosts.expansion import Mesh
from flowsweep.plan.readers import one_of
from flowsweep.plan.searching.keys import FindKeys
from flowsweep.plan.sweeps.shared_keys import BulkKeys
from flowsweep.plan.tests.file.keys import FileKeys
from flowsweep.plan.tests.mptcp.keys import MptcpKeys
from flowsweep.plan.tests.path.keys import PathKeys
from flowsweep.plan.tests.quic.keys import QuicKeys
from flowsweep.plan.tests.rtt.keys import RttKeys
from flowsweep.plan.tests.tcp.keys import TcpKeys
from flowsweep.plan.tests.udp.keys import UdpKeys
from flowsweep.plan.times.keys import TimesKeys
from flowsweep.plan.until.keys import Durations
from flowsweep.tests import TESTS


def sweep_name(sweep: "SweepTable", number: int) -> str:
    """Return what a sweep is called, by its name or by its number, from 1, in the plan."""
    return sweep.name or f"sweep-{number}"


class PathTable(Table):
    """An ordered pair of hosts, or of groups: traffic goes from the first to the second."""

    src: fields.Name = Field(alias="from", description="Host or group that sends.", examples=["left"])
    dst: fields.Name = Field(alias="to", description="Host or group that receives.", examples=["right"])
    mesh: Annotated[Mesh, one_of("full", "pairs")] | None = key(
        "Between groups: trials between two hosts each, in place of one between all hosts. full: from each "
        "host to each. pairs: from the first to the first, from the second to the second, and so on.",
        None,
        examples=["full"],
    )


class SweepTable(
    RttKeys, BackgroundKeys, PathKeys, FileKeys, MptcpKeys, QuicKeys, UdpKeys, TcpKeys, FindKeys, BulkKeys,
    TimesKeys,
):  # fmt: skip
    """A grid of trials. Every axis is a value or a list of values; lists of different axes multiply.

    Which keys belong to which test: `flowsweep.plan.tests.registry`.
    """

    model_config = ConfigDict(json_schema_extra={"required": ["paths"]})

    name: fields.Name | None = key(
        "Name of the sweep; sweep-1, sweep-2, … if absent.", None, examples=["windows-vs-streams"]
    )
    test: Annotated[str, one_of(*TESTS)] = key("What is measured.", "tcp")
    paths: Annotated[list[PathTable], Field(min_length=1)] = key(
        "Where to measure.", [], examples=[[{"from": "left", "to": "right"}]]
    )
    exclusive: bool = key(
        "Whether no other trial runs on the same hosts and links meanwhile. false: trials of this sweep run "
        "along with any other, if the campaign runs several at the same time.",
        default=True,
    )
    directions: Annotated[Literal["one", "both", "simultaneous"], one_of("one", "both", "simultaneous")] = (
        key(
            "one: as the path says. both: there, then back. simultaneous: both at the same time, as two "
            "trials.",
            "one",
        )
    )
    pairs: fields.Axis[fields.Flows] | None = key(
        "How many hosts of each group take part, the first ones; all of them if absent.",
        None,
        examples=[[1, 2, 4]],
    )
    duration: Durations = key(
        "How long a trial sends, `omit` included; how long a path may take (180s if absent), and how long "
        "files may be sent (60s if absent). A table: until the mean goodput of TCP is known.",
        [defaults.DURATION_NS],
        written=units.write_duration(defaults.DURATION_NS),
        examples=["30s", {"until": "2%", "at_least": "3s", "at_most": "30s"}],
    )
    family: fields.Axis[Annotated[Literal[4, 6], one_of(4, 6)]] | None = key(
        "IP version; either if absent.", None, examples=[4]
    )


_NO_AXES = BackgroundKeys.model_fields | TimesKeys.model_fields | {"paths": None}


def points_of_axes(sweep: SweepTable, without: Collection[str] = ()) -> int:
    """Multiply the numbers of levels of all axes but those: points on one path, in one direction."""
    axes = (
        values
        for name, values in sweep
        if name not in _NO_AXES and name not in without and isinstance(values, list) and values
    )
    return math.prod(map(len, axes))
