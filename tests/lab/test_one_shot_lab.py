"""rtt, path and the look at hosts over emulated paths whose truth is known."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from lab_support import address_of, host, needs_lab

from campaign_support import flowsweep_here
from flowsweep.lab import Lab, build_lab
from flowsweep.plan.links.model import Hop, Link, LinkDirection

pytestmark = needs_lab

MILLISECOND_NS = 1_000_000
COMMAND = (sys.executable, "-m", "flowsweep")


@pytest.fixture
def lab() -> Iterator[Lab]:
    """Two hops of 1 ms each one way, the second of 10 Mbit/s."""
    wide, narrow = (
        LinkDirection(rate_bps=rate, delay_ns=MILLISECOND_NS, queue_bytes=200_000)
        for rate in (100_000_000, 10_000_000)
    )
    hops = tuple(Hop(forward=way, backward=way) for way in (wide, narrow))
    both = LinkDirection(rate_bps=10_000_000, delay_ns=2 * MILLISECOND_NS, queue_bytes=200_000)
    link = Link(
        name="wan", between=("left", "right"), forward=both, backward=both, hops=hops, icmp_interval_ns=0
    )
    with build_lab([link], [host("left"), host("right")], seed=1) as built:
        yield built


def one_shot(lab: Lab, test: str, *words: str) -> str:
    """A command of one trial from left to right; its standard output."""
    far = "exec:" + " ".join(lab.access["right"].launch)
    about = [test, far, "--address", address_of(lab, "right", "left"), *words]
    done = subprocess.run(
        [*lab.access["left"].launch, *COMMAND, *about],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("direction", [(), ("--reverse",)])
def test_rtt_finds_the_delay_of_the_path(lab: Lab, direction: tuple[str, ...]) -> None:
    row = json.loads(one_shot(lab, "rtt", "--duration", "1s", "--json", *direction))
    # 4 ms, and 64 B with their headers at 10 Mbit/s twice.
    assert 4.0 <= row["rtt_probe_min_ms"] < 4.6
    assert (row["src"], row["rtt_probe_loss"]) == ("there" if direction else "here", 0)


def test_path_names_the_narrow_hop_and_ends_with_it(lab: Lab) -> None:
    keys = ("every=4ms", "timeout=300ms", "probes=24", "trains=8", "streams=0")
    said = one_shot(lab, "path", *(word for key in keys for word in ("--set", f"sweep.{key}")))
    lines = said.splitlines()
    assert "narrow hop            2 of 2" in lines
    assert any(line.startswith("available             undecided: ") for line in lines)
    assert lines[-1].startswith("limited by            hop 2, the narrowest link: 10")


PLAN = """
[campaign]
seed = 1
[lab.links.wan]
between = ["left", "right"]
delay = "1ms"
[[sweep]]
paths = [{{ from = "left", to = "right" }}]
duration = "0.4s"
interval = "0.1s"
sample_interval = "50ms"
{more}
"""


@pytest.mark.parametrize(
    ("more", "expect", "expected"),
    [
        ('window = "64KiB"\ncongestion = "reno"', 0, "2 hosts, 12 checks: 12 ok"),
        ('window = ["64KiB", "512MiB"]', 1, "1 of 2 windows that are asked for are larger"),
    ],
)
def test_hosts_of_a_lab_are_looked_at_as_others(
    tmp_path: Path, more: str, expect: int, expected: str
) -> None:
    plan = tmp_path / "plan.toml"
    plan.write_text(PLAN.format(more=more), encoding="utf-8")
    assert expected in flowsweep_here("check", "--hosts", plan, expect=expect)
