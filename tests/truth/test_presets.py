"""The presets, each against the truth that stands in its plan's comments."""

from collections.abc import Iterable
from dataclasses import asdict
from operator import attrgetter

import pytest
from preset_campaigns import (
    AUTOTUNED_1G,
    FIBRE,
    JANET,
    LAMBDA,
    LAMBDA_1G,
    PRESETS,
    SWITCH,
    Preset,
    run_presets,
)
from preset_facts import MATHIS_BPS, Found, facts_of
from truth_support import NOTES, fill_table, table, write_result

TITLE = attrgetter("title")
PLATEAUS = {LAMBDA: (0.90, 1), LAMBDA_1G: (0.95, 2), AUTOTUNED_1G: (0.95, 10), FIBRE: (0.95, 6)}
"""Least share of the payload rate, and how many trials there must be to say so."""
SEND_BUFFER_SHARE = 0.8
"""How much of a send buffer is in flight on average, at least (docs/explanation/windows.md)."""


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Found:
    result = facts_of(run_presets(tmp_path_factory.mktemp("presets")))
    write_notes(result)
    return result


def test_every_trial_is_ok(found: Found) -> None:
    assert found.trials.keys() == {preset.title for preset in PRESETS}
    assert all(found.trials.values())
    assert [trial for trials in found.trials.values() for trial in trials if trial.status != "ok"] == []


@pytest.mark.parametrize("preset", [each for each in PRESETS if each is not LAMBDA], ids=TITLE)
def test_the_machine_keeps_up_with_all_but_5_gbits(found: Found, preset: Preset) -> None:
    assert len(found.sound(preset)) >= 0.9 * len(found.trials[preset.title])


@pytest.mark.parametrize("preset", [LAMBDA, LAMBDA_1G], ids=TITLE)
def test_goodput_follows_the_windows_below_the_knee(found: Found, preset: Preset) -> None:
    below = found.below(preset)
    assert len(below) >= 4
    for trial in below:
        assert trial.arrived_bps() == pytest.approx(trial.promised_bps(preset), rel=0.05), trial


def test_back_to_back_lies_between_a_window_in_one_piece_and_one_that_is_spread(found: Found) -> None:
    below = found.below(FIBRE)
    assert len(below) >= 3
    for trial in below:
        assert trial.arrived_bps() >= SEND_BUFFER_SHARE * trial.in_one_piece_bps(FIBRE), trial
        assert trial.arrived_bps() <= min(1.05 * trial.promised_bps(FIBRE), FIBRE.payload_bps), trial


@pytest.mark.parametrize("preset", PLATEAUS, ids=TITLE)
def test_the_plateau_is_the_link(found: Found, preset: Preset) -> None:
    above = found.above(preset)
    share, trials = PLATEAUS[preset]
    assert len(above) >= trials
    for trial in above:
        assert trial.arrived_bps() >= share * preset.payload_bps, trial


def test_losses_are_those_that_were_set(found: Found) -> None:
    emulated = [preset.title for preset in (LAMBDA, LAMBDA_1G, AUTOTUNED_1G, JANET, FIBRE) for _ in range(2)]
    assert sorted(losses.preset for losses in found.losses) == sorted(emulated), "each in both directions"
    for losses in found.losses:
        assert losses.packets > 0
        assert losses.lowest <= losses.lost <= losses.highest, losses


def test_losses_hold_ucl_to_bristol_below_its_rate(found: Found) -> None:
    for trial in found.sound(JANET):
        assert trial.arrived_bps() < JANET.payload_bps, trial
        assert trial.arrived_bps() <= 1.05 * trial.promised_bps(JANET), trial
    assert 0.6 <= found.large_reno_bps() / MATHIS_BPS <= 1.1


def test_every_port_of_force10_carries_its_rate(found: Found) -> None:
    for trial in found.sound(SWITCH):
        assert trial.arrived_bps() == pytest.approx(trial.pairs * SWITCH.payload_bps, rel=0.02), trial
    assert len(found.ports) == sum(trial.pairs for trial in found.trials[SWITCH.title])
    for port in found.ports:
        assert port.goodput_bps >= 0.95 * SWITCH.payload_bps, port


def test_the_plateau_of_seed_001_is_the_port(found: Found) -> None:
    assert 0.95 <= found.plateaus_of_seed_001()[1] <= 1.01


def write_notes(found: Found) -> None:
    page = NOTES / "presets.md"
    columns = ("plan", "trials", "ok", "marked", "goodput / predicted, below", "goodput / payload rate")
    fill_table(page, "presets", table(columns, (row_of(found, preset) for preset in PRESETS)))
    fill_table(page, "further", listed(further(found)))
    fill_table(page, "bad", listed(bad(found)))
    result = {
        "changes": {preset.title: preset.changes for preset in PRESETS},
        "losses": [asdict(losses) for losses in found.losses],
        "ports": [asdict(port) for port in found.ports],
        "trials": {title: [asdict(trial) for trial in trials] for title, trials in found.trials.items()},
    }
    write_result("presets", "plans/ of these names, once, with these changes", result)


def row_of(found: Found, preset: Preset) -> tuple[object, ...]:
    trials = found.trials[preset.title]
    counts = (len(trials), sum(each.status == "ok" for each in trials), sum(each.marked for each in trials))
    below = found.below(preset) if preset in PLATEAUS else []
    above = found.above(preset) if preset in PLATEAUS else found.sound(preset)
    return (
        preset.title,
        *counts,
        spread(each.arrived_bps() / each.promised_bps(preset) for each in below),
        spread(each.arrived_bps() / preset.payload_bps / each.pairs for each in above),
    )


def spread(values: Iterable[float]) -> str:
    """Lowest, highest, and how many there are."""
    ordered = sorted(values)
    return f"{ordered[0]:.3f} … {ordered[-1]:.3f} ({len(ordered)})" if ordered else ""


def further(found: Found) -> Iterable[str]:
    (losses,) = [each for each in found.losses if each.src == "ucl"]
    reno_bps = found.large_reno_bps()
    ports = spread(port.goodput_bps / SWITCH.payload_bps for port in found.ports)
    pieces = spread(each.arrived_bps() / each.in_one_piece_bps(FIBRE) for each in found.below(FIBRE))
    plateaus = ", ".join(f"{pairs}: {share:.3f}" for pairs, share in found.plateaus_of_seed_001().items())
    yield f"ucl-bristol: {losses.lost} of {losses.packets} packets were lost at random"
    yield f"ucl-bristol: the binomial 99 % interval of that is {losses.lowest} to {losses.highest}"
    yield f"ucl-bristol: Reno, 1 flow, buffers from 64 KiB: {reno_bps / 1e6:.2f} Mbit/s on average"
    yield f"ucl-bristol: that is {reno_bps / MATHIS_BPS:.2f} of what Mathis et al. say"
    yield f"back-to-back: below, of what a window gets that goes out in one piece: {pieces}"
    yield f"force10: each sink's port by itself, of its payload rate: {ports}"
    yield f"seed-001-tcp: highest goodput by number of pairs, of what that many ports carry: {plateaus}"


def bad(found: Found) -> Iterable[str]:
    """Name every trial that is not ok, or over a path that was not what it should have been."""
    for title, trials in found.trials.items():
        for trial in trials:
            if not trial.sound:
                verdict = " ".join(word for word in (trial.status, trial.error, trial.path_emulation) if word)
                yield f"{title}: {trial.name}: {verdict}, {(trial.goodput_bps or 0) / 1e6:.0f} Mbit/s"


def listed(lines: Iterable[str]) -> str:
    return "".join(f"- {line}\n" for line in lines) or "None.\n"
