"""All figures of a campaign, sweep by sweep, kind by kind."""

from flowsweep.figures.background import drawn_shares
from flowsweep.figures.campaign.cpu import drawn_cpu
from flowsweep.figures.campaign.durations import drawn_durations
from flowsweep.figures.campaign.ecdf import drawn_distributions
from flowsweep.figures.campaign.effects import drawn_effects
from flowsweep.figures.campaign.monitors import drawn_monitors
from flowsweep.figures.campaign.time_series import drawn_time_series
from flowsweep.figures.drawing import KIND_TITLES, Drawn, FigureData
from flowsweep.figures.grid.best import drawn_best_searches
from flowsweep.figures.grid.goodput import (
    drawn_lines,
    drawn_per_flow,
    drawn_planes,
    drawn_predictions,
    drawn_repeats,
)
from flowsweep.figures.grid.ratio import drawn_ratios
from flowsweep.figures.grid.response import drawn_responses
from flowsweep.figures.grid.search import drawn_searches
from flowsweep.figures.tests.file.stages import drawn_stages
from flowsweep.figures.tests.mptcp.path_rates import drawn_path_rates
from flowsweep.figures.tests.path.hops import drawn_hops
from flowsweep.figures.tests.path.trains import drawn_trains
from flowsweep.figures.tests.rtt.message_size import drawn_sizes
from flowsweep.figures.tests.rtt.round_trips import drawn_round_trips
from flowsweep.figures.tests.tcp.limits import drawn_limits
from flowsweep.figures.tests.tcp.product import drawn_products
from flowsweep.figures.tests.udp.offered import drawn_offered
from flowsweep.figures.tests.udp.rate_search import drawn_rate_searches
from flowsweep.figures.tests.udp.spacing import drawn_spacings

_DRAWERS = (
    drawn_effects,
    drawn_rate_searches,
    drawn_searches,
    drawn_responses,
    drawn_best_searches,
    drawn_offered,
    drawn_spacings,
    drawn_shares,
    drawn_planes,
    drawn_lines,
    drawn_repeats,
    drawn_predictions,
    drawn_ratios,
    drawn_products,
    drawn_per_flow,
    drawn_limits,
    drawn_stages,
    drawn_path_rates,
    drawn_cpu,
    drawn_distributions,
    drawn_time_series,
    drawn_monitors,
    drawn_durations,
    drawn_hops,
    drawn_trains,
    drawn_round_trips,
    drawn_sizes,
)


def drawn_figures(data: FigureData) -> list[Drawn]:
    """Draw everything that the data allow: what would be empty is left out.

    Sweeps in the order of the cells; within one, kinds in the order of `KIND_TITLES`. A surface is followed
    by the map of the same data, with the same key and title.
    """
    sweeps = list(dict.fromkeys(row["sweep"] for row in data.cells))
    kinds = list(KIND_TITLES)
    found = [drawn for draw in _DRAWERS for drawn in draw(data)]
    return sorted(found, key=lambda one: (sweeps.index(one.key.sweep), kinds.index(one.key.kind)))
