"""From a plan file to a Plan that cannot be wrong."""

from flowsweep.plan.difference import plan_changes, plan_difference
from flowsweep.plan.file import load_plan, parse_plan
from flowsweep.plan.model import Plan
from flowsweep.plan.overrides import parse_overrides

__all__ = ["Plan", "load_plan", "parse_overrides", "parse_plan", "plan_changes", "plan_difference"]
