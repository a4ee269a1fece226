"""The page of an answer: intervals on one axis, and nothing of a host that is not text."""

from collections.abc import Sequence
from dataclasses import replace

from flowsweep.report.tuning import WIDTH, intervals, tuning_page
from flowsweep.tuning.answer import answer
from flowsweep.tuning.rounds import Tried
from flowsweep.tuning.settings import TODAY, Setting, Way
from tuned_paths import ENDS, PATHS, tried

EIGHT, TWO = Setting(8), Setting(2)
HOSTILE = '<script>alert("owned")</script>'


def finals(**ratios: Sequence[float]) -> list[Tried]:
    made = []
    for way in Way:
        for block in range(3):
            made.append(tried(way, TODAY, 1e8, PATHS[1], block=block))
            for setting, values in ((EIGHT, ratios["eight"]), (TWO, ratios["two"])):
                made.append(tried(way, setting, 1e8 * values[block], PATHS[1], block=block))
    return [replace(one, row={**one.row, "congestion": HOSTILE}) for one in made]  # type: ignore[arg-type]


def found(**ratios: Sequence[float]):  # type: ignore[no-untyped-def]
    hosts = {
        name: {"congestion_default": HOSTILE, "sysctls": {"net.ipv4.tcp_rmem": "1 2 30000"}} for name in "ab"
    }
    return answer(
        finals(**ratios),
        rtt_ms=20.0,
        hosts=hosts,
        ends=ENDS,
        hosts_text="[hosts.a]\n[hosts.b]",
        spent=(100.0, 10**9),
    )


def test_intervals_share_an_axis_with_no_change_on_it() -> None:
    one = found(eight=[2.0, 2.1, 2.2], two=[0.8, 0.81, 0.8]).directions[0]
    best, worse = intervals(one)
    assert (best.setting, best.chosen, worse.chosen) == ("8 flows", True, False)
    assert (
        0 <= worse.low < worse.centre < worse.high < best.zero < best.low < best.centre < best.high <= WIDTH
    )
    assert best.zero == worse.zero


def test_a_page_says_what_to_set_and_takes_no_markup() -> None:
    page = tuning_page(found(eight=[2.0, 2.1, 2.2], two=[0.8, 0.81, 0.8])).replace("\u00a0", " ")
    assert "Set 8 flows" in page
    assert "/etc/sysctl.d/90-flowsweep.conf on b" in page
    assert "<script" not in page
    assert "&lt;script&gt;" in page


def test_a_page_without_a_gain_has_nothing_to_set() -> None:
    page = tuning_page(found(eight=[1.0, 1.001, 0.999], two=[1.0, 1.0, 1.001])).replace("\u00a0", " ")
    assert "Nothing to set: nothing is to be gained" in page
    assert "What to set" not in page
    assert "What to type" not in page
