"""The presets' campaigns: what is changed of each plan, which run together, and what each trial said."""

import subprocess
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from truth_support import ROOT

from campaign_support import COMMAND, summary
from flowsweep.cli.exit_codes import EXIT_TRIALS_FAILED

PAYLOAD_SHARE = 1448 / 1500
TIMEOUT_S = 900
SWEEP = "[[sweep]]\n"
Row = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Preset:
    """A plan, what is changed of it (`--set`), and what its comments say of the path."""

    name: str
    rate_bps: float
    """Of IP packets; of a port, where the link is a switch."""
    rtt_s: float = 0.0
    changes: tuple[str, ...] = ()
    sweep: str = ""
    """The only sweep of the plan that runs; all if empty."""

    @property
    def title(self) -> str:
        return f"{self.name}, {self.sweep}" if self.sweep else self.name

    @property
    def payload_bps(self) -> float:
        return self.rate_bps * PAYLOAD_SHARE


LAMBDA = Preset(
    "amsterdam-starlight", 5e9, 0.1, ("sweep.duration=7500ms", "sweep.omit=4500ms", "sweep.interval=500ms")
)
LAMBDA_1G = Preset(
    "amsterdam-starlight-1g",
    1e9,
    0.1,
    ("sweep.duration=6s", "sweep.omit=3500ms", "sweep.interval=500ms"),
    sweep="windows",
)
AUTOTUNED_1G = replace(LAMBDA_1G, changes=("sweep.duration=10s", "sweep.omit=5s"), sweep="autotuning")
"""By itself: a flow of CUBIC needs 5 s to fill this path, and after 10 s bbr empties it to probe."""
JANET = Preset("ucl-bristol", 10e6, 0.0248, ("sweep.duration=6500ms",))
FIBRE = Preset("back-to-back", 1e9, 0.0008)
SWITCH = Preset("force10", 1e9)
SEED_001 = Preset(
    "seed-001-tcp",
    1e9,
    changes=(
        "sweep.pairs=[1, 4, 12]",
        'sweep.window_sum=["32KB", "96KB", "160KB", "256KB"]',
        "sweep.duration=4s",
        "sweep.interval=500ms",
    ),
)
PRESETS = (LAMBDA, LAMBDA_1G, AUTOTUNED_1G, JANET, FIBRE, SWITCH, SEED_001)

STAGES = (((LAMBDA,),), ((AUTOTUNED_1G, FIBRE), (JANET,), (LAMBDA_1G,)), ((SWITCH, SEED_001),))
"""One stage after the other; within it sequences side by side, each of them one campaign after the other."""


@dataclass(frozen=True, slots=True)
class Trial:
    """What the summary says of a trial; None where it says nothing."""

    name: str
    sweep: str
    flows: int
    pairs: int
    congestion: str
    asked_bytes: int | None
    """Of all flows together."""
    usable_bytes: int | None
    """Of one flow."""
    goodput_bps: int | None
    retransmits: int | None
    rtt_min_ms: float | None
    rtt_median_ms: float | None
    status: str
    error: str
    path_emulation: str

    @property
    def marked(self) -> bool:
        """Whether the machine did not keep up with the path."""
        return self.path_emulation in {"late", "overloaded"}

    @property
    def sound(self) -> bool:
        return self.status == "ok" and not self.marked

    def promised_bps(self, preset: Preset) -> float:
        """Usable window × flows / round trip."""
        return self.usable() * self.flows * 8 / preset.rtt_s

    def in_one_piece_bps(self, preset: Preset) -> float:
        """What a flow gets whose whole window goes out at once, and again when all of it is acknowledged."""
        return self.usable() * 8 / (preset.rtt_s + self.usable() * 8 / preset.rate_bps)

    def usable(self) -> int:
        assert self.usable_bytes is not None, self
        return self.usable_bytes

    def arrived_bps(self) -> float:
        assert self.goodput_bps is not None, self
        return self.goodput_bps


def run_presets(folder: Path) -> dict[str, Path]:
    """Run all campaigns; their archives by preset."""
    archives = {preset.title: folder / preset.title.replace(", ", "-") for preset in PRESETS}

    def run_one_after_the_other(presets: Sequence[Preset]) -> None:
        for preset in presets:
            run(preset, archives[preset.title])

    for stage in STAGES:
        with ThreadPoolExecutor(len(stage)) as pool:
            list(pool.map(run_one_after_the_other, stage))
    return archives


def run(preset: Preset, archive: Path) -> None:
    """Run one campaign once. Trials that failed are in its archive, for the notes to name."""
    plan = archive.with_suffix(".toml")
    plan.write_text(plan_text(preset), encoding="utf-8")
    words = [word for change in ("campaign.repeats=1", *preset.changes) for word in ("--set", change)]
    command = [*COMMAND, "run", str(plan), "--archive", str(archive), *words]
    result = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
    assert result.returncode in {0, EXIT_TRIALS_FAILED}, f"{preset.title}:\n{result.stdout}\n{result.stderr}"


def plan_text(preset: Preset) -> str:
    """The plan as it is written, without the sweeps that do not run."""
    text = (ROOT / "plans" / f"{preset.name}.toml").read_text(encoding="utf-8")
    campaign, *sweeps = text.split(SWEEP)
    wanted = [sweep for sweep in sweeps if not preset.sweep or f'name = "{preset.sweep}"\n' in sweep]
    assert wanted, preset
    return campaign + "".join(SWEEP + sweep for sweep in wanted)


def trials_of(archive: Path) -> list[Trial]:
    """The trials of a campaign, in the order in which they ran."""
    return [trial_of(row) for row in summary(archive)]


def trial_of(row: Row) -> Trial:
    asked = row["window_sum_bytes"] or row["window_send_bytes"]
    return Trial(
        name=name_of(row, asked),
        sweep=row["sweep"],
        flows=int(row["flows"]),
        pairs=int(row["sources"]),
        congestion=row["congestion"],
        asked_bytes=whole(asked),
        usable_bytes=whole(row["window_usable_bytes"]),
        goodput_bps=whole(row["goodput_bps"]),
        retransmits=whole(row["retransmits"]),
        rtt_min_ms=milliseconds(row["rtt_min_ms"]),
        rtt_median_ms=milliseconds(row["rtt_median_ms"]),
        status=row["status"],
        error=row["error"],
        path_emulation=row["path_emulation"],
    )


def name_of(row: Row, asked: str) -> str:
    window = f"{int(asked) / 1024:.0f} KiB" if asked else "autotuning"
    flows = f"{row['flows']} flows" if row["flows"] != "1" else "1 flow"
    return f"{row['sweep']}, {row['src']} to {row['dst']}, {flows}, {window}, {row['congestion']}"


def whole(text: str) -> int | None:
    return round(float(text)) if text else None


def milliseconds(text: str) -> float | None:
    return round(float(text), 3) if text else None
