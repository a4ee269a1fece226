"""What a trial asks for, as columns of a table: those of a plan's axes among them."""

from typing import Any

from flowsweep.schedule.trial import Trial

_WITHOUT: dict[str, Any] = {"omit_ns": 0, "affinity": (), "congestion": None}
"""Of a test that has no such settings."""


def asked_columns(trial: Trial) -> dict[str, Any]:
    """Its parameters by name, and what follows from them and from its hosts."""
    asked = _WITHOUT | dict(trial.parameters)
    return asked | {
        "flows": trial.total_flows,
        "flows_per_pair": trial.parameters.flows,
        "sources": len(trial.sources),
        "sinks": len(trial.sinks),
        "length_bytes": getattr(trial.parameters, "length_bytes", None),
        "mode": getattr(trial.parameters, "mode", None),
        "congestion_asked": asked["congestion"],
        "window_bytes": trial.parameters.window_bytes,
        "window_sum_bytes": trial.window_sum_bytes,
        "expected_bins": trial.parameters.expected_bins,
    }
