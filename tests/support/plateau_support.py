"""Campaigns over windows on emulated paths, and where the analysis finds their plateau."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from campaign_support import write_plan
from flowsweep.analysis.findings.late_trials import trusted
from flowsweep.analysis.findings.plateau.estimate import Plateau, plateaus
from flowsweep.analysis.statistics.design import design
from flowsweep.analysis.statistics.means import window_levels
from flowsweep.analysis.statistics.observations import observations
from flowsweep.archive import read_archive
from flowsweep.defaults import EQUIVALENCE_MARGIN, SECOND_NS
from flowsweep.units import parse_duration, parse_rate, write_size
from summary_support import archive_rows

SHARES = (0.35, 0.5, 0.7, 1.2, 1.7, 2.4)
"""Windows that are tried, usable, in bandwidth × delay: three below, three above."""
USABLE_PER_REQUESTED = 1.33
"""What becomes of a request on such paths, docs/explanation/windows.md."""
COUNTED = "3s"

Setting = Mapping[str, Any]


def bandwidth_delay_bytes(setting: Setting) -> float:
    """Rate × round trip without queues, as the plan has them."""
    return parse_rate(setting["rate"]) * 2 * parse_duration(setting["delay"]) / SECOND_NS / 8


def write_windows_plan(
    folder: Path,
    setting: Setting,
    *,
    shares: tuple[float, ...] = SHARES,
    counted: str = COUNTED,
    repeats: int = 3,
) -> Path:
    """Write a plan that sweeps the window sum across bandwidth × delay."""
    product_bytes = bandwidth_delay_bytes(setting)
    windows = [write_size(round(share * product_bytes / USABLE_PER_REQUESTED)) for share in shares]
    duration_ns = parse_duration(setting["omit"]) + parse_duration(counted)
    sweep = f"""
        flows = {setting["flows"]}
        window_sum = {windows}
        length = "8KB"
        duration = "{duration_ns / SECOND_NS:g}s"
        omit = "{setting["omit"]}"
        interval = "500ms"
        """
    return write_link_plan(folder, setting, sweep, repeats=repeats)


def write_link_plan(folder: Path, setting: Setting, sweep: str, *, repeats: int = 1) -> Path:
    """Write a plan of one sweep over the link of a setting, with its congestion control."""
    folder.mkdir(parents=True, exist_ok=True)
    queue_bytes = max(round(setting["queue"] * bandwidth_delay_bytes(setting)), 3200)
    link = f"""
        rate = "{setting["rate"]}"
        delay = "{setting["delay"]}"
        queue = "{write_size(queue_bytes)}"
        loss = {setting.get("loss", 0.0):.6f}
        """
    plan = write_plan(folder, link=link, sweep=sweep, repeats=repeats)
    text = plan.read_text(encoding="utf-8")
    plan.write_text(text.replace('"cubic"', f'"{setting["congestion"]}"'), encoding="utf-8")
    return plan


def plateau_of(archive: Path) -> Plateau:
    """The plateau over windows of a campaign with one sweep and direction, all of whose trials went well.

    Those whose emulated path was late take no part, as in findings.
    """
    rows = archive_rows(read_archive(archive))
    assert {row["status"] for row in rows} == {"ok"}, {row["error"] for row in rows}
    [observed] = observations(trusted(rows))
    [plateau] = plateaus(window_levels(observed, design(observed)), (), margin=EQUIVALENCE_MARGIN)
    return plateau
