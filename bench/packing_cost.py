"""What it costs to pack a full mesh, and how near its time comes to the shortest there is.

Usage: python bench/packing_cost.py     # on a machine left alone

For full meshes of 16, 64 and 256 hosts, one trial of 5 s in each direction, it puts the trials in order
(`in_packed_order`) and runs them in virtual time (`packed`), round by round in drawn order. Writes the
figures with facts of the machine to bench/results/packing-cost.json, and a part of
docs/explanation/benchmarks.md.
"""

import random
import time
from statistics import median

from pydantic import BaseModel, ConfigDict

from against.command import options_with_rounds, told
from against.machine import Machine
from against.spread import seconds_spread
from flowsweep.plan import Plan, parse_plan
from flowsweep.schedule import expand
from flowsweep.schedule.packing import in_packed_order, jobs_of, packed, sharing_of
from flowsweep.schedule.trial import Slot

HOSTS = (16, 64, 256)
MOST_S = 1.0
"""For 64 hosts."""
MOST_RATIO = 1.05
SEED = 20261126


class Mesh(BaseModel):
    """One size."""

    model_config = ConfigDict(frozen=True)

    hosts: int
    trials: int
    ratio: float
    """Of the time that all of it takes in virtual time, by the lower bound."""
    took_s: tuple[float, ...]
    """To put the trials in order and run them in virtual time, in every round."""


class PackingResult(BaseModel):
    """All that was measured."""

    model_config = ConfigDict(frozen=True)

    machine: Machine
    meshes: tuple[Mesh, ...]
    met: bool


def main() -> int:
    """Measure, print and write the figures; 1 if a limit was missed."""
    arguments = options_with_rounds(__doc__, rounds=5).parse_args()
    machine = Machine.now()
    plans = {hosts: _mesh(hosts) for hosts in HOSTS}
    slots = {hosts: _slots(plan) for hosts, plan in plans.items()}
    took_s: dict[int, list[float]] = {hosts: [] for hosts in HOSTS}
    ratios: dict[int, float] = {}
    generator = random.Random(SEED)
    for number in range(arguments.rounds):
        for hosts in generator.sample(HOSTS, len(HOSTS)):
            ratio, seconds = _packed(plans[hosts], slots[hosts], number)
            ratios[hosts] = max(ratio, ratios.get(hosts, 0.0))
            took_s[hosts].append(seconds)
    meshes = tuple(
        Mesh(hosts=hosts, trials=len(slots[hosts]), ratio=ratios[hosts], took_s=tuple(took_s[hosts]))
        for hosts in HOSTS
    )
    quick = all(median(mesh.took_s) <= MOST_S for mesh in meshes if mesh.hosts == 64)
    result = PackingResult(
        machine=machine, meshes=meshes, met=quick and all(mesh.ratio <= MOST_RATIO for mesh in meshes)
    )
    return told("packing_cost", result, part(result), dry=arguments.dry)


def _mesh(hosts: int) -> Plan:
    names = [f"h{number}" for number in range(hosts)]
    tables = "".join(f'[hosts.{name}]\naddress = "192.0.2.1"\n' for name in names)
    sweep = '[[sweep]]\npaths = [{ from = "all", to = "all", mesh = "full" }]\nduration = "5s"\n'
    text = f"[campaign]\nconcurrent = 1000\n{tables}[groups]\nall = {names}\n{sweep}"
    return parse_plan(text, "mesh.toml")


def _slots(plan: Plan) -> list[Slot]:
    return [Slot(trials=(trial,)) for point in expand(plan) for trial in point.trials(1)]


def _packed(plan: Plan, slots: list[Slot], seed: int) -> tuple[float, float]:
    """How near it comes to the lower bound, and how many seconds it took."""
    began = time.monotonic()
    sharing = sharing_of(plan)
    found = packed(jobs_of(in_packed_order(slots, sharing, seed), sharing), sharing)
    took_s = time.monotonic() - began
    # Of an even number of hosts, each of which has a trial with every other one in both directions.
    (lasts_ns,) = {job.lasts_ns for job in found.begins_ns}
    return found.lasts_ns / (2 * (len(plan.hosts) - 1) * lasts_ns), took_s


def part(result: PackingResult) -> str:
    """The part of docs/explanation/benchmarks.md."""
    rows = [
        f"| {mesh.hosts} | {mesh.trials} | {mesh.ratio:.3f} | {seconds_spread(mesh.took_s)} |"
        for mesh in result.meshes
    ]
    measured = (
        f"{result.machine.circumstances()}; {len(result.meshes[0].took_s)} rounds. The ratio "
        f"is the largest of all rounds. Targets: ≤ {MOST_RATIO} of the bound, ≤ {MOST_S:g} s for 64 hosts; "
        f"{'met' if result.met else 'missed'}."
    )
    head = "| hosts | trials | time of all trials ÷ lower bound | computing, median (quartiles) |\n"
    return "\n".join([measured, "", head + "| ---: | ---: | ---: | --- |", *rows])


if __name__ == "__main__":
    raise SystemExit(main())
