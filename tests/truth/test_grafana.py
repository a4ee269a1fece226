"""The dashboard for Grafana, against the schema that Grafana publishes: types for TypeScript."""

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from flowsweep.serve.prometheus_files import FILES, write_rules

PACKAGES = Path(__file__).with_name("grafana")
INSTALL_S, CHECK_S = 300, 120
RAW = "./node_modules/@grafana/schema/dist/types/raw"
HEAD = f"""
import type {{ Dashboard, Panel, VariableModel }} from '{RAW}/dashboard/x/types.gen';
import type {{ Options as Stat }} from '{RAW}/composable/stat/panelcfg/x/types.gen';
import type {{ Options as Table }} from '{RAW}/composable/table/panelcfg/x/types.gen';
import type {{ FieldConfig, Options as TimeSeries }} from '{RAW}/composable/timeseries/panelcfg/x/types.gen';

// As JSON has it: an enumeration's member is its text or number.
type Json<T> = T extends string ? `${{T}}` : T extends number | boolean | null | undefined ? T
  : T extends readonly (infer One)[] ? Json<One>[]
  : T extends object ? {{ [Key in keyof T]: Json<T[Key]> }} : T;
type Part<T> = Partial<Json<T>>;
"""
OPTIONS = {"stat": "Stat", "table": "Table", "timeseries": "TimeSeries"}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the packages are installed."""
    if (npm := shutil.which("npm")) is None:
        reason = "npm is not there; install it with: apt-get install -y npm"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    folder = tmp_path_factory.mktemp("grafana")
    for name in ("package.json", "package-lock.json"):
        shutil.copy(PACKAGES / name, folder)
    subprocess.run([npm, "ci", "--silent"], cwd=folder, check=True, timeout=INSTALL_S)
    return folder


@pytest.fixture
def board(tmp_path: Path) -> dict[str, Any]:
    """The dashboard that is written."""
    write_rules(tmp_path)
    found: dict[str, Any] = json.loads((tmp_path / FILES[1]).read_text(encoding="utf-8"))
    return found


def test_the_dashboard_is_of_grafanas_schema(place: Path, board: dict[str, Any]) -> None:
    assert complaints(place, board) == ""


@pytest.mark.parametrize(
    ("spoil", "named"),
    [
        (lambda board: board.update(refreshes="30s"), "refreshes"),
        (lambda board: board.update(schemaVersion="38"), "number"),
        (lambda board: board["panels"][0].update(gridPos={"x": 0}), "h: number"),
        (lambda board: board["panels"][0]["options"].update(colorMode="values"), "values"),
        (lambda board: board["templating"]["list"][0].update(hide="no"), "VariableHide"),
    ],
)
def test_what_is_not_of_the_schema_is_found(
    place: Path, board: dict[str, Any], spoil: Any, named: str
) -> None:
    spoil(board)
    assert named in complaints(place, board)


def complaints(place: Path, board: dict[str, Any]) -> str:
    """What the TypeScript compiler says of a dashboard; its parts apart, since the whole takes any option."""
    parts = [HEAD, constant("board", "Json<Dashboard>", board)]
    variables = board["templating"]["list"]
    parts += [constant(f"variable_{one['name']}", "Json<VariableModel>", one) for one in variables]
    for panel in board["panels"]:
        number = panel["id"]
        parts.append(constant(f"panel_{number}", "Json<Panel>", panel))
        parts.append(
            constant(f"options_{number}", f"Part<{OPTIONS[panel['type']]}>", panel.get("options", {}))
        )
        drawn = panel["fieldConfig"]["defaults"].get("custom")
        if panel["type"] == "timeseries" and drawn is not None:
            parts.append(constant(f"drawn_{number}", "Part<FieldConfig>", drawn))
    (place / "board.ts").write_text("\n".join(parts), encoding="utf-8")
    words = "--noEmit --strict --skipLibCheck --moduleResolution bundler --module esnext --target es2022"
    compiler = place / "node_modules" / ".bin" / "tsc"
    done = subprocess.run(
        [compiler, *words.split(), "board.ts"],
        cwd=place,
        capture_output=True,
        text=True,
        timeout=CHECK_S,
        check=False,
    )
    assert done.returncode == 0 or done.stdout, done.stderr
    return done.stdout


def constant(name: str, kind: str, value: object) -> str:
    return f"export const {name}: {kind} = {json.dumps(value, indent=1)};"
