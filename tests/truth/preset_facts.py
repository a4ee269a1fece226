"""What the presets' campaigns left behind: trials, losses, ports."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import nan
from pathlib import Path
from statistics import fmean

from preset_campaigns import (
    AUTOTUNED_1G,
    FIBRE,
    JANET,
    LAMBDA,
    LAMBDA_1G,
    SEED_001,
    SWITCH,
    Preset,
    Trial,
    trials_of,
)
from scipy.stats import binom

from flowsweep.analysis import bins
from flowsweep.archive import Tables, read_archive

LOSS = 0.01
MATHIS_BPS = 1448 * 8 / JANET.rtt_s * (3 / 2 / LOSS) ** 0.5
LARGE_BUFFER_BYTES = 64 * 1024
"""Twice what UCL to Bristol and its queue can hold is usable of it: from here on, loss alone limits."""
PIECE_BYTES = 65_536
"""What Linux hands to a device at once, at most."""
FULL_FROM_BYTES = 1.5 * (FIBRE.rate_bps * FIBRE.rtt_s / 8 + PIECE_BYTES)
"""Back to back: a writer sleeps until a third of its buffer is free; two thirds must fill path and piece."""


@dataclass(frozen=True, slots=True)
class Losses:
    """What an emulator counted of one direction in a whole campaign, and what loss as set allows."""

    preset: str
    src: str
    packets: int
    lost: int
    lowest: int
    highest: int


@dataclass(frozen=True, slots=True)
class Port:
    """Mean goodput of a sink's port in the expected intervals of a trial."""

    trial_id: str
    sink: str
    goodput_bps: int


@dataclass(frozen=True, slots=True)
class Found:
    """All of it."""

    trials: dict[str, list[Trial]]
    losses: list[Losses]
    ports: list[Port]

    def sound(self, preset: Preset) -> list[Trial]:
        """Trials that are ok and not marked."""
        return [trial for trial in self.trials[preset.title] if trial.sound]

    def below(self, preset: Preset) -> list[Trial]:
        """Trials whose windows, chosen by the plan, are too small to fill the link."""
        asked = (trial for trial in self.sound(preset) if trial.asked_bytes is not None)
        if preset is FIBRE:
            return [trial for trial in asked if trial.usable() < FULL_FROM_BYTES]
        return [trial for trial in asked if trial.promised_bps(preset) < preset.payload_bps]

    def above(self, preset: Preset) -> list[Trial]:
        """Trials that should fill the link: of large windows, and of those that the kernel chose."""
        below = self.below(preset)
        return [trial for trial in self.sound(preset) if trial not in below]

    def large_reno_bps(self) -> float:
        """UCL to Bristol: mean over the trials of one flow of Reno with more buffer than it can use."""
        single = (each for each in self.sound(JANET) if each.flows == 1 and each.congestion == "reno")
        large = [
            each.arrived_bps()
            for each in single
            if each.asked_bytes is None or each.asked_bytes >= LARGE_BUFFER_BYTES
        ]
        return fmean(large) if large else nan

    def plateaus_of_seed_001(self) -> dict[int, float]:
        """Highest goodput of each number of pairs, as a share of what that many ports carry."""
        shares: dict[int, float] = {}
        for trial in self.sound(SEED_001):
            share = trial.arrived_bps() / trial.pairs / SEED_001.payload_bps
            shares[trial.pairs] = max(share, shares.get(trial.pairs, 0.0))
        return dict(sorted(shares.items()))


def facts_of(archives: Mapping[str, Path]) -> Found:
    """Read the archives of all campaigns, by their titles."""
    emulated = (LAMBDA, LAMBDA_1G, AUTOTUNED_1G, JANET, FIBRE)
    return Found(
        trials={title: trials_of(archive) for title, archive in archives.items()},
        losses=[
            losses
            for preset in emulated
            for losses in losses_of(read_archive(archives[preset.title]).tables(), preset)
        ],
        ports=ports_of(read_archive(archives[SWITCH.title]).tables()),
    )


def losses_of(tables: Tables, preset: Preset) -> list[Losses]:
    """Count what each direction of a campaign's link lost at random, against the binomial 99 % interval."""
    links = tables.links
    counted = ("packets_out", "dropped_loss_packets")
    ways = links.group_by("src").aggregate(
        **{name: (links[name].max() - links[name].min()).cast("int64") for name in counted}
    )
    result = []
    for row in ways.order_by("src").to_pyarrow().to_pylist():
        packets = row["packets_out"] + row["dropped_loss_packets"]
        loss = LOSS if (preset, row["src"]) == (JANET, "ucl") else 0.0
        lowest, highest = (int(bound) for bound in binom.interval(0.99, packets, loss)) if loss else (0, 0)
        result.append(Losses(preset.title, row["src"], packets, row["dropped_loss_packets"], lowest, highest))
    return result


def ports_of(tables: Tables) -> list[Port]:
    trials, flows = tables.trials, tables.flows
    sinks = flows.filter(flows.role == "sink").select("trial_id", "flow", sink="host")
    placed = bins(tables.samples, trials, flows).inner_join(sinks, ["trial_id", "flow"])
    placed = placed.inner_join(trials.select("trial_id", "expected_bins", "interval_ns"), "trial_id")
    counted = placed.filter((placed.bin >= 0) & (placed.bin < placed.expected_bins))
    ports = counted.group_by("trial_id", "sink", "expected_bins", "interval_ns").aggregate(
        sum_bytes=counted.bytes.sum().cast("int64")
    )
    return [
        Port(
            row["trial_id"],
            row["sink"],
            round(row["sum_bytes"] * 8e9 / (row["expected_bins"] * row["interval_ns"])),
        )
        for row in ports.order_by("trial_id", "sink").to_pyarrow().to_pylist()
    ]
