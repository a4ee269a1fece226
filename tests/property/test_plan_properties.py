"""Whatever a file holds: a plan comes out, or an error that says where it is wrong."""

import json

from hypothesis import given, settings
from hypothesis import strategies as st

from flowsweep.errors import PlanError
from flowsweep.plan import parse_plan
from flowsweep.plan.input import CampaignTable, HostTable, LinkTable, PlanFile
from flowsweep.plan.sweeps.table import SweepTable
from flowsweep.schedule import expand


def tables(keys, inner):
    return st.dictionaries(st.sampled_from(sorted(keys)), inner, max_size=5)


words = st.sampled_from(
    ["left", "right", "both", "tcp", "5s", "64KiB", "1MiB", "10Mbit/s", "0ms", "0-1", "30", ""]
)
scalars = words | st.integers(-1, 70) | st.booleans() | st.floats(0, 2) | st.text("ab[]{}.\u00e9", max_size=3)
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | tables(("from", "to", "x"), inner), max_leaves=6
)


def table_of(model):
    return tables([*model.model_fields, "x"], values)


def named(model):
    return st.dictionaries(st.sampled_from(["left", "right", "a b"]), table_of(model) | values, max_size=2)


documents = st.fixed_dictionaries(
    {},
    optional={
        "campaign": table_of(CampaignTable) | values,
        "lab": st.fixed_dictionaries({"links": named(LinkTable)}) | values,
        "hosts": named(HostTable) | values,
        "sweep": st.lists(table_of(SweepTable), max_size=2) | values,
        "x": values,
    },
)


@given(documents)
@settings(max_examples=300, deadline=None)
def test_any_document_is_a_plan_or_an_error_of_its_keys(document):
    text = "\n".join(f"{key} = {written(value)}" for key, value in document.items())
    try:
        plan = parse_plan(text, "any.toml")
    except PlanError as error:
        problems = error.problems
    else:
        assert expand(plan)
        return
    named_keys = [problem.removeprefix("line ").lstrip("0123456789, ") for problem in problems]
    assert all(key.startswith((*PlanFile.model_fields, "x")) for key in named_keys)


def written(value):
    """The value as TOML, tables inline."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)} = {written(inner)}" for key, inner in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(written, value)) + "]"
    return json.dumps(value)
