"""What points of a path are called, and their order."""

from collections.abc import Mapping
from typing import Any

from flowsweep.serve.points import point_names, point_of, point_ranks


def asked(**levels: Any) -> Mapping[str, Any]:
    return {"flows": 1, "window_bytes": None, "congestion": "cubic"} | levels


def test_points_are_in_order_of_their_levels_whichever_was_measured_first() -> None:
    points = [
        point_of(asked(flows=flows, window_bytes=window, congestion=congestion))
        for flows, window, congestion in (
            (4, 65_536, "cubic"),
            (1, 1_048_576, "cubic"),
            (1, 65_536, "cubic"),
            (1, None, "cubic"),
            (1, 65_536, "bbr"),
        )
    ]
    ranks = point_ranks(points)
    assert sorted(ranks) == list(range(5))
    in_order = [name for _, name in sorted(zip(ranks, point_names(points), strict=True))]
    assert in_order[-1].startswith("flows 4"), "flows come first"
    assert ranks[3] < ranks[1], "a window that nobody asked for comes before those that somebody did"
    assert ranks[2] < ranks[1]
    assert point_ranks([]) == []


def test_any_cpu_comes_before_some() -> None:
    points = [point_of(asked(affinity=cpus)) for cpus in ([2, 3], [], [0], None)]
    assert point_ranks(points) == [3, 1, 2, 0]
