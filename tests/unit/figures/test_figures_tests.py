"""Trials of several tests in one sweep, as imports have them: no figure is of two, and each says which."""

import pytest

from figures_support import figures, intervals_of, known, of_kind, truncated_of
from report_support import MIB, make_rows

ONE_WAY = (("starlight", "sara"),)


def of_tests(udp_mode: str | None, **udp) -> list:
    tcp = make_rows(
        flows=(1, 2),
        window_sums=(MIB, 2 * MIB),
        directions=ONE_WAY,
        repeats=5,
        sweep="imported",
        change=known,
    )
    again = {"test": "udp", "mode": udp_mode, **udp}
    return [
        *tcp,
        *(row | again | {"trial_id": f"{row['trial_id']}u", "order_index": row["order_index"] + 100}
          for row in tcp),
    ]  # fmt: skip


@pytest.mark.parametrize("mode", [None, "copy"])
def test_figures_of_two_tests_are_told_apart(mode):
    rows = of_tests(mode)
    found = figures(rows, intervals=intervals_of(rows), truncated=truncated_of(rows))
    kinds = ("ecdf", "time_series", "cpu", "duration", "limits")
    for kind in kinds:
        titles = [one.title for one in of_kind(found, kind)]
        assert len(titles) == len(set(titles)), kind
        assert {"test TCP" in title for title in titles} == {True, False}, kind
        assert all(("test TCP" in title) != ("test UDP" in title) for title in titles), kind
    names = [one.file_name for one in found if one.key.kind in kinds]
    assert len(names) == len(set(names))


def test_windows_of_tcp_have_the_trials_of_tcp():
    """Both have a mode of the same name here, and goodput of unlike size."""
    rows = of_tests("copy", window_usable_bytes=1)
    (one,) = of_kind(figures(rows), "product")
    (diamonds,) = [trace for trace in one.figure.data if trace.name == "usable"]
    assert min(diamonds.y) > 1e-3


def test_a_sweep_of_one_test_does_not_name_it():
    rows = make_rows(flows=(1,), directions=ONE_WAY, repeats=5, change=known)
    udp = [row | {"sweep": "other", "test": "udp", "mode": None} for row in rows]
    assert not [one.title for one in figures([*rows, *udp]) if "test " in one.title]
