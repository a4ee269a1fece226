"""From a plan file to a Plan that cannot be wrong."""

from typing import TYPE_CHECKING

from flowsweep.on_demand import names_of

if TYPE_CHECKING:
    from flowsweep.plan.against import joined, setting_changes, setting_pairs
    from flowsweep.plan.difference import plan_changes, plan_difference
    from flowsweep.plan.file import load_plan, parse_plan
    from flowsweep.plan.model import Plan
    from flowsweep.plan.overrides import parse_overrides
else:
    __getattr__ = names_of(
        __name__,
        {
            "against": ("joined", "setting_changes", "setting_pairs"),
            "difference": ("plan_changes", "plan_difference"),
            "file": ("load_plan", "parse_plan"),
            "model": ("Plan",),
            "overrides": ("parse_overrides",),
        },
    )

__all__ = [
    "Plan",
    "joined",
    "load_plan",
    "parse_overrides",
    "parse_plan",
    "plan_changes",
    "plan_difference",
    "setting_changes",
    "setting_pairs",
]
