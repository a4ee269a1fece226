"""The page of an answer: intervals on one axis, and nothing of a host that is not text."""

from flowsweep.report.tuning import WIDTH, intervals, tuning_page
from tuned_answers import found


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
    assert "On b, add to /etc/sysctl.d/99-zz-flowsweep.conf as root" in page
    assert "<script" not in page
    assert "&lt;script&gt;" in page


def test_a_page_without_a_gain_has_nothing_to_set() -> None:
    page = tuning_page(found(eight=[1.0, 1.001, 0.999], two=[1.0, 1.0, 1.001])).replace("\u00a0", " ")
    assert "Nothing to set: of what was tried, nothing gains more than 3 %" in page
    assert "What to set" not in page
    assert "What to type" not in page


def test_a_page_says_what_failed_and_why_a_congestion_control_was_left_out() -> None:
    made = found(eight=[2.0, 2.1, 2.2], two=[0.8, 0.81, 0.8])
    failed = "out-8-flows: ssh:far, connect: <refused>"
    page = tuning_page(made, [failed], ["on ssh:far, bbr is not allowed"]).replace("\u00a0", " ")
    assert "<li>Left out: on ssh:far, bbr is not allowed</li>" in page
    assert "<li>Failed: out-8-flows: ssh:far, connect: &lt;refused&gt;</li>" in page
    assert "What failed or was left out" not in tuning_page(made)
