"""Ten thousand paths over thirty days, with and without a shift: what alarms say of them."""

import math
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import astuple, replace
from functools import partial
from typing import Any

from truth_support import NOTES, fill_table, table, write_result

from alarm_series import DAY_S, Kind, Told, false_alarms, known_noise_found, shifts_told

PROCESSES, CHUNK = 2, 50
STEPS = {"5 min": 300.0, "1 h": 3600.0}
RHOS = (0.0, 0.3, 0.6, 0.9)
RATIOS = (2.0, 2.5, 3.0, 4.0)
PATHS = 1250
"""Of each correlation and cadence: 10 000."""
SHIFTED, ODD = 300, 200
RATE, SHARE = 1.0, 0.9
LEARNING = 0.07
"""What is lost at most of shifts of all sizes since the noise has to be learned (docs/truth/alarms.md)."""
SIGMAS = (0.01, 0.05)
"""Of which a shift of 10 % is more than two standard deviations."""


def test_alarms_of_synthetic_paths() -> None:
    with ProcessPoolExecutor(PROCESSES) as pool:
        false = {name: _false(pool, step_s) for name, step_s in STEPS.items()}
        found = {name: _found(pool, step_s) for name, step_s in STEPS.items()}
        odd = _odd(pool)
    _write(false, found, odd)
    judge(false, found, odd)


def judge(
    false: dict[str, list[dict[str, Any]]],
    found: dict[str, list[dict[str, Any]]],
    odd: list[dict[str, Any]],
) -> None:
    """What is wanted of these figures."""
    for name, rows in false.items():
        # Of falls alone: nobody is told of a rise. Of each correlation, and so of all of them.
        for row in rows:
            assert row["down"] * 100 <= RATE * row["days"], (name, row)
    for row in odd:
        # Theory is of normal noise: with longer tails there are more.
        assert row["down"] * 100 <= RATE * row["days"] or not row["normal"], row
    for name, rows in found.items():
        for row in rows:
            # Where what knows the noise finds nine of ten and some, this finds nine of ten.
            if row["known"] >= SHARE + 0.05:
                assert row["soon"] >= SHARE, (name, row)
            if row["sizes"] == "all":
                assert row["soon"] >= row["known"] - LEARNING, (name, row)


def _false(pool: ProcessPoolExecutor, step_s: float) -> list[dict[str, Any]]:
    return [_false_of(pool, str(rho), Kind(step_s, rho), PATHS) for rho in RHOS]


def _false_of(
    pool: ProcessPoolExecutor, name: str, kind: Kind, paths: int, days: float = 30.0
) -> dict[str, Any]:
    down, up, watched = map(
        sum, zip(*_each(pool, partial(false_alarms, kind, days=days), paths), strict=True)
    )
    return {
        "name": name, "paths": paths, "days": watched, "down": down, "up": up, "normal": kind.tails is None,
    }  # fmt: skip


def _found(pool: ProcessPoolExecutor, step_s: float) -> list[dict[str, Any]]:
    kinds = [(rho, ratio, Kind(step_s, rho, sigma=0.1 / ratio)) for rho in RHOS for ratio in RATIOS]
    per_alarm = 100 * DAY_S / step_s
    known = pool.map(partial(_known, per_alarm), kinds)
    rows = [
        _found_of(pool, f"{rho} · {ratio:g}", partial(shifts_told, kind), SHIFTED)
        | {"known": share, "sizes": "one"}
        for (rho, ratio, kind), share in zip(kinds, known, strict=True)
    ]
    of_all = pool.map(partial(_known_of_all, per_alarm, step_s), RHOS)
    for rho, share in zip(RHOS, of_all, strict=True):
        tell = partial(shifts_told, Kind(step_s, rho), sigmas=SIGMAS)
        rows.append(_found_of(pool, f"{rho} · all", tell, SHIFTED) | {"known": share, "sizes": "all"})
    return rows


def _known(per_alarm: float, case: tuple[float, float, Kind]) -> float:
    _, ratio, kind = case
    return known_noise_found(kind, ratio, per_alarm, 1)


def _known_of_all(per_alarm: float, step_s: float, rho: float) -> float:
    return known_noise_found(Kind(step_s, rho), math.nan, per_alarm, 1, sigmas=SIGMAS)


def _found_of(
    pool: ProcessPoolExecutor, name: str, tell: Callable[[Sequence[int]], Told], paths: int
) -> dict[str, Any]:
    told = Told(*map(sum, zip(*(astuple(one) for one in _each(pool, tell, paths)), strict=True)))
    return {
        "name": name,
        "shifts": told.shifts,
        "soon": told.soon / told.shifts,
        "ever": told.ever / told.shifts,
        "covered": told.covered / max(1, told.ever),
    }


def _odd(pool: ProcessPoolExecutor) -> list[dict[str, Any]]:
    rows = []
    for name, step_s in STEPS.items():
        usual = Kind(step_s, 0.6)
        for what, kind in (
            ("every fifth value missing", replace(usual, missing=0.2)),
            ("Student's t, 4 degrees of freedom", replace(usual, tails=4.0)),
            ("the same, neighbours alike at 0.9", replace(usual, tails=4.0, rho=0.9)),
        ):
            found = _found_of(pool, "", partial(shifts_told, replace(kind, sigma=0.1 / 3)), ODD)
            rows.append(_false_of(pool, f"{name}: {what}", kind, ODD) | {"soon": found["soon"]})
    daily = Kind(DAY_S, 0.3, cycle=0.0)
    found = _found_of(pool, "", partial(shifts_told, replace(daily, sigma=0.1 / 3), days=120.0), ODD)
    rows.append(_false_of(pool, "1 day", daily, ODD, 400.0) | {"soon": found["soon"]})
    return rows


def _each(pool: ProcessPoolExecutor, call: Callable[[Sequence[int]], Any], paths: int) -> list[Any]:
    return list(pool.map(call, [range(start, start + CHUNK) for start in range(0, paths, CHUNK)]))


def _write(
    false: dict[str, list[dict[str, Any]]],
    found: dict[str, list[dict[str, Any]]],
    odd: list[dict[str, Any]],
) -> None:
    write_result(
        "alarms",
        "false alarms and shifts of 10 % that are found, of synthetic series",
        {"false": false, "found": found, "odd": odd},
    )
    page = NOTES / "alarms.md"
    rows = [_false_cells(name, row) for name, ofs in false.items() for row in ofs]
    for name, ofs in false.items():
        total = {key: sum(row[key] for row in ofs) for key in ("paths", "days", "down", "up")}
        rows.append(_false_cells(name, total | {"name": "all"}))
    columns = [
        "every",
        "neighbours",
        "paths",
        "path-days",
        "false alarms (falls)",
        "per 100 days",
        "notes (rises) per 100 days",
    ]
    fill_table(page, "false", table(columns, rows))
    columns = [
        "every",
        "neighbours · shift / sigma",
        "shifts",
        "within 5",
        "known noise",
        "within 20",
        "covered",
    ]
    cells = [
        [name, row["name"], row["shifts"], _share(row["soon"]), _share(row["known"]), _share(row["ever"]),
         _share(row["covered"])]
        for name, ofs in found.items()
        for row in ofs
    ]  # fmt: skip
    fill_table(page, "found", table(columns, cells))
    columns = ["what", "paths", "path-days", "false alarms (falls) per 100 days", "shift of 3 sigma within 5"]
    cells = [
        [row["name"], row["paths"], f"{row['days']:.0f}", f"{100 * row['down'] / row['days']:.2f}",
         _share(row["soon"])]
        for row in odd
    ]  # fmt: skip
    fill_table(page, "odd", table(columns, cells))


def _false_cells(every: str, row: dict[str, Any]) -> list[object]:
    per = 100 / row["days"]
    return [
        every, row["name"], row["paths"], f"{row['days']:.0f}", row["down"], f"{row['down'] * per:.2f}",
        f"{row['up'] * per:.2f}",
    ]  # fmt: skip


def _share(share: float) -> str:
    return f"{100 * share:.1f} %"
