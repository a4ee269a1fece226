"""JSON and TOML that are nested too deep are refused with one message, wherever they are read."""

import time
import tomllib
from pathlib import Path

import pytest
from typer.testing import CliRunner

from flowsweep.bounded_text import TooDeepError, parse_json, parse_toml
from flowsweep.cli import load
from flowsweep.cli.app import app
from flowsweep.defaults import NESTED_MAX, PLAN_MAX_BYTES
from flowsweep.errors import PlanError
from flowsweep.plan import load_plan, parse_overrides, parse_plan

load(["check"])
DEEP = 100_000
TOMLS = {
    "lists": f"x = {'[' * DEEP}{']' * DEEP}",
    "lists that do not end": "x = " + "[" * DEEP,
    "tables": "x = " + "{x = " * DEEP + "1" + "}" * DEEP,
    "a name": ".".join("x" * DEEP) + " = 1",
    "a name with blanks": " . ".join("x" * DEEP) + " = 1",
    "a name in quotes": ".".join(['"x"'] * DEEP) + " = 1",
    "a name of a table": f"[{'.'.join('x' * DEEP)}]",
    "a name of a list of tables": f"[[{'.'.join('x' * DEEP)}]]",
    "a name in a table": "y = {" + ".".join("x" * DEEP) + " = 1}",
    "a little too deep": f"x = {'[' * NESTED_MAX}{']' * NESTED_MAX}",
}
JSONS = {
    "lists": "[" * DEEP + "]" * DEEP,
    "lists that do not end": "[" * DEEP,
    "objects": '{"x":' * DEEP + "1" + "}" * DEEP,
}


@pytest.mark.parametrize("name", TOMLS)
def test_toml_that_is_too_deep(name: str) -> None:
    began = time.process_time()
    with pytest.raises(TooDeepError, match="nested deeper than 200 levels"):
        parse_toml(TOMLS[name])
    assert time.process_time() - began < 1


@pytest.mark.parametrize("name", JSONS)
def test_json_that_is_too_deep(name: str) -> None:
    with pytest.raises(TooDeepError, match="nested deeper than 200 levels"):
        parse_json(JSONS[name])
    with pytest.raises(TooDeepError):
        parse_json(JSONS[name].encode())


def test_what_is_not_too_deep_is_read() -> None:
    assert parse_toml("a.b.c = [1, [2]]") == {"a": {"b": {"c": [1, [2]]}}}
    assert parse_toml('x = [0.1, "1.2.3.4 = 5"]' + "\ny = [" + "0.5, " * NESTED_MAX + "]")["x"][0] == 0.1
    assert parse_json('{"a": [1, 2.5, null, "é"]}') == {"a": [1, 2.5, None, "é"]}
    with pytest.raises(ValueError, match="line 1 column 1"):
        parse_json("{")
    with pytest.raises(tomllib.TOMLDecodeError):
        parse_toml("x =")


@pytest.mark.parametrize("name", TOMLS)
def test_a_plan_that_is_too_deep_gets_one_message(tmp_path: Path, name: str) -> None:
    plan = tmp_path / "deep.toml"
    plan.write_text(TOMLS[name], encoding="utf-8")
    result = CliRunner().invoke(app, ["check", str(plan)])
    assert isinstance(result.exception, PlanError)
    assert str(result.exception) == f"{plan}: 1 problem\n  is nested deeper than 200 levels"


def test_an_override_that_is_too_deep_is_no_list() -> None:
    with pytest.raises(PlanError, match="no list as TOML has it"):
        parse_overrides([f"sweep.window={'[' * DEEP}{']' * DEEP}"])


def test_a_plan_may_have_a_mebibyte(tmp_path: Path) -> None:
    plan = tmp_path / "long.toml"
    short = "[hosts.a]\n[hosts.b]\n[[sweep]]\npaths = [{ from = 'a', to = 'b' }]\n"
    plan.write_text(short + "#" * (PLAN_MAX_BYTES - len(short)), encoding="utf-8")
    assert load_plan(plan).hosts == parse_plan(short, "short.toml").hosts
    with plan.open("a", encoding="utf-8") as file:
        file.write("#")
    with pytest.raises(PlanError, match="has over 1 MiB, which no plan needs"):
        load_plan(plan)
    with pytest.raises(PlanError, match="has over 1 MiB"):
        load_plan(Path("/dev/zero"))


def test_line_ends_of_a_plan_may_be_of_any_kind(tmp_path: Path) -> None:
    plan = tmp_path / "ends.toml"
    plan.write_bytes(b"\xef\xbb\xbf[hosts.a]\r\n[hosts.b]\r[[sweep]]\npaths = [{ from = 'a', to = 'b' }]\r\n")
    assert [host.name for host in load_plan(plan).hosts] == ["a", "b"]
