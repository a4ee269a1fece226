"""schema/plan.json is what the models say, and judges plans as Flowsweep does."""

import json
import tomllib

import jsonschema
import pytest

from flowsweep.plan import parse_plan
from flowsweep.plan.schema import plan_schema
from flowsweep.schedule import expand, schedule
from plan_support import EXAMPLE_PLANS, ROOT, WRONG_PLANS

COMMITTED = ROOT / "schema" / "plan.json"

WRONG_IN_SHAPE = [
    "axis_empty",
    "impossible_numbers",
    "lab_link_shape",
    "link_values",
    "later_test",
    "path_half",
    "sweep_not_a_list",
    "unit_missing",
    "unit_unknown",
    "unknown_key",
    "words",
]
"""Plans that an editor can mark: nothing has to be compared with anything else."""


def test_the_committed_schema_is_current():
    assert COMMITTED.read_text() == plan_schema(), "run: python tools/regenerate_plans.py"


def test_the_schema_is_one():
    jsonschema.Draft202012Validator.check_schema(json.loads(plan_schema()))


@pytest.mark.parametrize("plan", EXAMPLE_PLANS, ids=lambda plan: plan.stem)
def test_every_example_names_the_schema_and_fits_it(plan):
    text = plan.read_text()
    assert text.startswith("#:schema ../schema/plan.json\n")
    jsonschema.validate(tomllib.loads(text), json.loads(COMMITTED.read_text()))


@pytest.mark.parametrize("name", WRONG_IN_SHAPE)
def test_the_schema_refuses_what_is_wrong_in_shape(name):
    document = tomllib.loads((WRONG_PLANS / f"{name}.toml").read_text())
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(document, json.loads(COMMITTED.read_text()))


def test_every_key_is_described():
    schema = json.loads(plan_schema())
    tables = [schema, *schema["$defs"].values()]
    silent = [
        key for table in tables for key, value in table["properties"].items() if not value.get("description")
    ]
    assert silent == []


def test_the_reference_names_every_key():
    schema = json.loads(plan_schema())
    reference = (ROOT / "docs" / "reference" / "plan-keys.md").read_text()
    tables = [schema["$defs"][name] for name in ("CampaignTable", "SweepTable", "HostTable", "LinkTable")]
    assert [key for table in tables for key in table["properties"] if f"`{key}`" not in reference] == []


def test_the_example_of_the_reference_runs_as_it_says():
    reference = (ROOT / "docs" / "guide" / "plan.md").read_text()
    text = reference.partition("```toml\n")[2].partition("```")[0]
    plan = parse_plan(text, "docs/guide/plan.md")
    assert (len(expand(plan)), len(schedule(plan, seed=1))) == (9, 54)
