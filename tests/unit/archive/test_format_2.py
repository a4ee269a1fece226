"""Archives of format 2 are read as those of today, and campaigns that began under it go on."""

import json
import shutil
from pathlib import Path

import ibis
import pytest

from analysis_support import make_outcome, make_trial
from flowsweep.archive.format_2 import KEYS, with_keys_of_today, with_names_of_today
from flowsweep.archive.reader import read_archive
from flowsweep.archive.state import state_of
from flowsweep.archive.writer import open_archive_for_writing
from flowsweep.cli.summary_rows import rows_of_archive
from flowsweep.errors import ArchiveError
from flowsweep.plan.model import Plan
from flowsweep.schedule import schedule

RECORDED = Path(__file__).parents[2] / "contract" / "numbers" / "archives"
MIXED = RECORDED / "mixed"


def test_keys_of_records_of_attempts_have_their_names_of_today() -> None:
    former = {
        "kind": "finished",
        "record": {"companions": [{"source": {"strangers": 3}}], "trial": {"companions": [], "sweep": "s"}},
    }
    today = {
        "kind": "finished",
        "record": {
            "background": [{"source": {"rejected_connections": 3}}],
            "trial": {"background": [], "sweep": "s"},
        },
    }
    assert json.loads(with_keys_of_today(json.dumps(former, separators=(",", ":")).encode())) == today


@pytest.mark.parametrize("name", KEYS)
def test_what_people_wrote_is_left_as_it_is(name: str) -> None:
    hosts = json.dumps({"kind": "hosts", "facts": {name: {name: 1}}}, separators=(",", ":")).encode()
    assert with_keys_of_today(hosts) == hosts
    text = json.dumps({"kind": "finished", "record": {"error": f'"{name}":'}}, separators=(",", ":")).encode()
    assert with_keys_of_today(text) == text


@pytest.mark.parametrize(
    "payload", [b'{"strangers":', b'{"strangers":' + b"[" * 100_000, b'{"companions":"\xff"}']
)
def test_what_is_no_json_stays_for_its_reader_to_refuse(payload: bytes) -> None:
    assert with_keys_of_today(payload) == payload
    with pytest.raises(ArchiveError, match="record 1 is none that this Flowsweep knows"):
        state_of([payload], Path("journal"))


def test_files_may_have_either_name_of_a_column() -> None:
    both = ibis.memtable({"background": ["cross", None], "companion": [None, "probe"], "flow": [0, 1]})
    former = both.drop("background")
    assert with_names_of_today("flows", both).background.to_pyarrow().to_pylist() == ["cross", "probe"]
    assert with_names_of_today("flows", former).background.to_pyarrow().to_pylist() == [None, "probe"]
    assert with_names_of_today("samples", former).columns == former.columns


@pytest.mark.parametrize("name", ["cpu", "counters"])
def test_hosts_of_background_traffic_have_the_roles_of_today(name: str) -> None:
    roles = ["source", "companion_source", "background_sink"]
    read = with_names_of_today(name, ibis.memtable({"role": roles}))
    assert sorted(read.role.to_pyarrow().to_pylist()) == ["background_sink", "background_source", "source"]


def test_the_recorded_campaign_is_of_format_2_and_has_background_traffic() -> None:
    assert json.loads((MIXED / "campaign.json").read_text())["format"] == 2
    archive = read_archive(MIXED)
    assert any(row["background"] for row in rows_of_archive(archive))
    assert any(record.background for record in archive.records.values())
    assert "background" in archive.tables().background_flows.columns


def test_ids_of_trials_are_what_they_were() -> None:
    for folder in (one for one in RECORDED.iterdir() if one.name != "imported"):
        archive = read_archive(folder)
        plan = Plan.model_validate(archive.campaign.plan)
        slots = schedule(plan, archive.campaign.seed)
        planned = {trial.trial_id for slot in slots for trial in slot.trials if trial.search is None}
        recorded = {key for key, record in archive.records.items() if record.trial.search is None}
        assert recorded <= planned, folder


def test_a_campaign_goes_on_and_its_files_are_merged(tmp_path: Path) -> None:
    folder = tmp_path / "mixed"
    shutil.copytree(MIXED, folder)
    before = rows_of_archive(read_archive(folder))
    trial = make_trial(sweep="more")
    with open_archive_for_writing(folder) as writer:
        writer.make_ready()
        writer.started(trial.trial_id, 1, make_outcome(trial).record.started_at)
        writer.finished(make_outcome(trial))
        loose = rows_of_archive(read_archive(folder))
        writer.compact()
    merged = rows_of_archive(read_archive(folder))
    assert loose[:-1] == before == merged[:-1]
    assert (loose[-1]["sweep"], merged[-1]["sweep"]) == ("more", "more")
