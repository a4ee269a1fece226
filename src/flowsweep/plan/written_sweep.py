"""A frozen sweep under the keys of a plan file, for those who are told what differs."""

from collections.abc import Iterable
from typing import Any

from flowsweep.plan.campaign import Timing
from flowsweep.plan.model import Sweep
from flowsweep.plan.probing import Probe, RttProbing
from flowsweep.plan.searching.model import FlowsSearch, SearchInRounds, WindowSearch

_APART = {
    "name", "setting", "rtt_probing", "probing", "probe", "background", "timing", "until", "plateau_search",
    "best_search",
}  # fmt: skip


def written_sweep(sweep: Sweep) -> dict[str, Any]:
    """What a sweep asks for, but for its times and its background traffic; units end the names of keys."""
    fields = sweep.model_dump(exclude=_APART)
    if sweep.until is not None:
        fields["duration_ns"] = {
            "until": sweep.until.share,
            "at_least": sweep.until.at_least_ns,
            "at_most": max(sweep.duration_ns),
        }
    probing = {} if sweep.probing is None else sweep.probing.model_dump()
    return {
        **fields,
        **_found(sweep.plateau_search or sweep.best_search),
        **_spread(sweep.rtt_probing),
        **probing,
        **_probe(sweep.probe),
    }


def written_times(timing: Timing | None) -> dict[str, Any]:
    """When a sweep runs."""
    if timing is None:
        return {}
    between = timing.between_minutes
    apart = timing.model_dump(exclude={"between_minutes", "at_minutes"})
    times = {"between": None if between is None else _clock(between), "at": _clock(timing.at_minutes) or None}
    return {**apart, **times}


def _found(search: SearchInRounds | None) -> dict[str, Any]:
    """What a search looks for, how precisely, and what that may take."""
    if search is None:
        return {}
    found: dict[str, Any] = {
        "find": "best",
        "precision": search.precision,
        "confidence": search.confidence,
        "at_most": {
            "trials": search.trials_max,
            "duration_ns": search.duration_max_ns,
            "bytes_bytes": search.bytes_max,
        },
    }
    windows = search.then if isinstance(search, FlowsSearch) else search
    if isinstance(search, FlowsSearch):
        found |= {"find": "plateau", "flows": {"from": search.low, "to": search.high}}
    if isinstance(windows, WindowSearch):
        found |= {"find": "plateau", windows.of: {"from": windows.low, "to": windows.high}}
    return found


def _spread(probing: RttProbing | Probe | None) -> dict[str, Any]:
    if probing is None:
        return {}
    fields = probing.model_dump(exclude={"poisson"})
    return {**fields, "spread": "poisson" if probing.poisson else "periodic"}


def _probe(probe: Probe | None) -> dict[str, Any]:
    if probe is None:
        return {}
    return {"probe": "rtt", **{f"probe_{key}": value for key, value in _spread(probe).items()}}


def _clock(minutes: Iterable[int]) -> tuple[str, ...]:
    return tuple(f"{one // 60:02}:{one % 60:02}" for one in minutes)
