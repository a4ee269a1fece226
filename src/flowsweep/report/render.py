"""From a report's data to the text of the page."""

from flowsweep.analysis.comparing.words import settings_line
from flowsweep.analysis.findings.late_trials import trusted
from flowsweep.analysis.findings.methods import COMMON
from flowsweep.csv_text import csv_link
from flowsweep.figures.collection import drawn_figures
from flowsweep.figures.drawing import FigureData
from flowsweep.figures.grid.panel import modes_named
from flowsweep.report.answers import answers
from flowsweep.report.failures import reasons
from flowsweep.report.findings_list import findings_list
from flowsweep.report.gallery import card_anchor, cards_of, galleries
from flowsweep.report.goodput_words import goodput_compared, has_intervals
from flowsweep.report.headline import (
    emulation_marks,
    finished,
    goodput_meant,
    highest_goodputs,
    status_counts,
    when_measured,
)
from flowsweep.report.host_table import host_lines
from flowsweep.report.opening import opening
from flowsweep.report.path_table import hop_lines
from flowsweep.report.report_data import ReportData
from flowsweep.report.shell import page_text
from flowsweep.report.trial_page import trial_pages
from flowsweep.report.trial_table import trial_lines
from flowsweep.schedule import planned_links
from flowsweep.wording import link_words, retired_words


def render(data: ReportData) -> str:
    """Make the page: one HTML document with style, scripts, figures and data inside."""
    columns, lines = trial_lines(data.trials)
    counted = trusted(data.trials) or data.trials
    drawn_ids = {row["trial_id"] for row in counted}
    drawn = drawn_figures(
        FigureData(
            counted,
            data.cells,
            data.intervals,
            data.truncated,
            data.spacings,
            hops=data.hops,
            trains=data.trains,
            path_rates=data.path_rates,
            shares=data.shares,
            share_series=data.share_series,
            echoes=data.echoes,
            monitors=data.monitors,
            findings=data.findings,
            late=[row for row in data.trials if row["trial_id"] not in drawn_ids],
        )
    )
    cards = cards_of(drawn)
    return page_text(
        "page.html.jinja",
        data=data,
        version=data.flowsweep_version,
        finished=finished(len(data.trials), data.trials_planned),
        status_counts=status_counts(data.trials),
        opening=opening(
            data.trials, data.findings, settings_line(data.plan, data.trials), data.missed, data.courses
        ),
        highest=highest_goodputs(data.trials, data.findings),
        answers=answers(data.trials),
        goodput_meant=goodput_meant(data.trials),
        goodput_compared=goodput_compared(data.trials),
        intervals_known=any(has_intervals(row) for row in data.trials if row["goodput_bps"] is not None),
        common=COMMON,
        when_measured=when_measured(data.trials, data.created_at),
        emulation_marks=emulation_marks(data.trials),
        retired=retired_words(data.retired_at),
        modes_named=modes_named(data.trials),
        reasons=reasons(data.trials),
        findings=findings_list(data.findings, lambda key: card_anchor(key, cards), data.trials),
        galleries=galleries(cards),
        hop_lines=hop_lines(data.trials, data.hops),
        host_lines=host_lines(data.host_facts),
        links=_links(data),
        columns=columns,
        lines=lines,
        trial_pages=trial_pages(
            data.trials, data.details, data.series, hosts=data.host_facts, retired_at=data.retired_at
        ),
        trials_csv=csv_link(data.trials, data.summary_columns),
    )


def _links(data: ReportData) -> list[str]:
    """Emulated paths, in words."""
    return [link_words(link.model_dump()) for link in planned_links(data.plan)]
