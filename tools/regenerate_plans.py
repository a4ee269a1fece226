"""Write schema/plan.json and the messages for wrong plans again, from what Flowsweep says now.

Run it as `python tools/regenerate_plans.py` after a change of the plan or of a message, and read the
difference before committing it.
"""

import os
import sys
from pathlib import Path

from flowsweep.errors import PlanError
from flowsweep.plan import load_plan
from flowsweep.plan.schema import plan_schema

ROOT = Path(__file__).parents[1]
WRONG_PLANS = ROOT / "tests" / "contract" / "plans" / "wrong"


def main() -> None:
    """Write the schema of plans, and the message of each wrong plan."""
    (ROOT / "schema" / "plan.json").write_text(plan_schema())
    os.chdir(WRONG_PLANS)
    for plan in sorted(Path().glob("*.toml")):
        plan.with_suffix(".txt").write_text(message(plan))


def message(plan: Path) -> str:
    """What the command line prints for a wrong plan."""
    try:
        load_plan(plan)
    except PlanError as error:
        return f"error: {error}\n"
    sys.exit(f"{plan} is not wrong")


if __name__ == "__main__":
    main()
