"""What programs are told: series, events, metrics; and pages that are made on demand."""

import json
import re
import time
from datetime import UTC, datetime, timedelta
from http.client import HTTPConnection

import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families

from flowsweep.archive.folder import Folder
from flowsweep.archive.notes import Note, add_note
from flowsweep.serve.rows import trial_number
from mesh_support import SWEEP, begin_mesh, mesh_plan, outcome_of, times_of, write_mesh
from serve_support import big_campaign, forget_answers, served

pytestmark = pytest.mark.whole

OPEN_METRICS = "application/openmetrics-text; version=1.0.0; charset=utf-8"
TRIES = 5
"""Of which the fastest counts: nothing here knows whether others had the processors meanwhile."""
PATH = f"sweep={SWEEP}&src=geneva&dst=vienna"


@pytest.fixture(scope="module")
def mesh(tmp_path_factory):
    folder = tmp_path_factory.mktemp("answers") / "archive"
    write_mesh(folder, times=72)
    add_note(Folder(folder), Note(at=datetime.now(UTC) - timedelta(hours=4), text="kernel <b>upgraded</b>"))
    with served(folder) as found:
        found.wait_for_summaries()
        yield found


def metrics_of(found):
    answer, text = found.ask("/metrics", accept=OPEN_METRICS)
    assert answer.headers["content-type"].startswith("application/openmetrics-text")
    families = {family.name: family for family in text_string_to_metric_families(text)}
    return {
        name: {tuple(sorted(one.labels.items())): one.value for one in family.samples}
        for name, family in families.items()
    }


def test_a_series_has_values_bands_failures_what_was_missed_and_notes(mesh):
    found = mesh.json(f"/api/series?{PATH}&show=goodput")
    (line,) = found["lines"]
    assert found["trials"] == len(line["began"]) + len(found["failures"]) == 71
    assert line["began"] == sorted(line["began"])
    assert all(
        low <= value <= high
        for low, value, high in zip(line["low"], line["value"], line["high"], strict=True)
    )
    assert all(count == 1 for count in line["count"])
    assert [one["status"] for one in found["failures"]] == ["failed"] * len(found["failures"])
    (missed,) = found["missed"]
    assert missed["reason"] == "the controller was not running"
    (note,) = found["notes"]
    assert note["text"] == "kernel <b>upgraded</b>"
    assert found["changes"] == []  # of half a day: tests/unit/serve/test_changes.py has longer ones
    assert found["offered"] == ["goodput", "rtt", "loss"]


def test_a_span_is_that_which_is_asked_for(mesh):
    whole = mesh.json(f"/api/series?{PATH}")
    begin, end = (whole["lines"][0]["began"][place] - 0.01 for place in (10, 20))
    part = mesh.json(f"/api/series?{PATH}&from={begin}&to={end}")
    assert part["lines"][0]["value"] == whole["lines"][0]["value"][10:20]
    assert mesh.json(f"/api/series?{PATH}&from=5&to=6")["lines"] == []


def test_a_length_alone_ends_now_by_the_clock_of_the_server(mesh):
    before = time.time()
    found = mesh.json(f"/api/series?{PATH}&last=3600")
    assert before <= found["to"] <= time.time()
    assert found["to"] - found["from"] == pytest.approx(3600)
    assert mesh.json(f"/api/series?{PATH}&last=60&to=100")["from"] == 40
    assert mesh.json(f"/api/series?{PATH}&last=60&to=30")["from"] == 0
    for wrong in ("0", "-1", "hour"):
        answer, text = mesh.ask(f"/api/series?{PATH}&last={wrong}")
        assert (answer.status, "last" in text) == (422, True)


def test_all_begins_with_the_first_trial_and_goes_on(mesh):
    begun = mesh.json(f"/api/series?{PATH}")["first"]
    before = time.time()
    found = mesh.json(f"/api/series?{PATH}&last=all")
    assert found["from"] <= begun < found["from"] + 100
    assert before <= found["to"] <= found["now"] + 0.001
    assert mesh.json(f"/api/series?{PATH}&last=all&to={begun + 5}")["trials"] == 1


def test_an_answer_says_in_plain_words_why_it_is_none(mesh):
    answer, text = mesh.ask(f"/api/series?{PATH}&last=hour")
    assert (answer.status, text) == (422, "last: found 'hour', expected seconds, or all\n")
    assert answer.headers["content-type"].startswith("text/plain")


def test_metrics_say_the_last_of_each_path(mesh):
    found = metrics_of(mesh)
    labels = (
        ("campaign", "alpine-mesh"),
        ("dst", "vienna"),
        ("point", ""),
        ("src", "geneva"),
        ("sweep", SWEEP),
    )
    series = mesh.json(f"/api/series?{PATH}")["lines"][0]
    assert found["flowsweep_goodput_bits_per_second"][labels] == pytest.approx(series["value"][-1], rel=1e-4)
    twice = found["flowsweep_goodput_highest_of_two_bits_per_second"][labels]
    assert twice == pytest.approx(max(series["value"][-2:]), rel=1e-4)
    assert found["flowsweep_round_trip_seconds"][labels] == pytest.approx(0.0181)
    path = tuple(pair for pair in labels if pair[0] != "point")
    age = found["flowsweep_path_age_seconds"][path]
    assert age == pytest.approx(time.time() - series["began"][-1], abs=5)
    assert found["flowsweep_path_overdue"][path] == 0
    assert found["flowsweep_slots_missed"][("campaign", "alpine-mesh"), ("sweep", SWEEP)] == 1
    assert found["flowsweep_trials"][("campaign", "alpine-mesh"), ("status", "failed")] == 2
    assert found["flowsweep_campaign_running"][("campaign", "alpine-mesh"),] == 0
    assert found["flowsweep_serve_healthy"][()] == 1
    assert len(found["flowsweep_path_age_seconds"]) == 6
    assert (
        "flowsweep_path_capacity_bits_per_second" not in found
        or not found["flowsweep_path_capacity_bits_per_second"]
    )


def test_older_scrapers_get_the_older_text(mesh):
    answer, text = mesh.ask("/metrics")
    assert answer.headers["content-type"].startswith("text/plain")
    assert "# TYPE flowsweep_goodput_bits_per_second gauge" in text


def test_a_trial_has_the_page_that_the_report_has_of_it(mesh):
    trial = mesh.json(f"/api/series?{PATH}")["lines"][0]["trial"][3]
    answer, page = mesh.ask(f"/trial/0/{trial}")
    assert answer.status == 200
    assert f'id="trial-{trial}"' in page
    assert trials_in(page) == [trial]
    back = f"/path?campaign={mesh.watched[0].model.address}&amp;sweep={SWEEP}&amp;src=geneva&amp;dst=vienna"
    assert f'<a href="{back}">← Path</a>' in page
    policy = answer.headers["content-security-policy"]
    assert re.search(r"script-src 'sha256-[^;]+;", policy)
    assert "frame-ancestors 'none'" in policy


def test_a_report_of_a_span_has_its_trials_and_no_others(mesh):
    line = mesh.json(f"/api/series?{PATH}")["lines"][0]
    answer, page = mesh.ask(f"/report?{PATH}&from={line['began'][4] - 0.01}&to={line['began'][9] - 0.01}")
    assert answer.status == 200
    assert trials_in(page) == line["trial"][4:9]


def trials_in(page):
    return re.findall(r'<script type="application/gzip" data-trial="(\w+)">', page)


def test_a_report_of_too_much_is_refused_in_words(mesh, tmp_path):
    answer, text = mesh.ask("/report?from=0&to=4000000000")
    assert answer.status == 422
    assert "more than 300 trials" in text
    assert mesh.ask("/report?from=5&to=6")[0].status == 404


def test_events_tell_at_once_and_end_with_the_server(tmp_path):
    begun = datetime.now(UTC) - timedelta(seconds=1)
    plan = mesh_plan()
    with begin_mesh(tmp_path / "archive", plan, begun) as writer:
        _, trials = next(times_of(plan, begun, 1))
        with served(tmp_path / "archive") as found:
            connection = HTTPConnection("127.0.0.1", found.port, timeout=30)
            connection.request("GET", "/events")
            stream = connection.getresponse()
            assert stream.headers["content-type"].startswith("text/event-stream")
            assert stream.readline() == b"retry: 2000\n"
            writer.started(trials[0].trial_id, 1, begun)
            assert event_of(stream)["what"] in ("began", "state")
            writer.finished(outcome_of(trials[0], begun, 1e7))
            at = time.monotonic()
            while event_of(stream)["what"] != "summed":
                pass
            assert time.monotonic() - at < 20
            began = time.monotonic()
        assert time.monotonic() - began < 10
        assert b"data" not in stream.read()
        stream.close()
        connection.close()


def event_of(stream):
    while not (line := stream.readline()).startswith(b"data:"):
        assert line, "the stream has ended"
    return json.loads(line[5:])


@pytest.mark.long
def test_a_million_trials_take_no_longer_than_a_picture_may(tmp_path, record_property):
    end = time.time()
    watched = big_campaign(tmp_path / "archive", paths=56, trials_each=18_000, end=end, every_s=300)
    with served(watched=[watched]) as found:
        assert sum(found.json("/api/overview")["campaigns"][0]["trials"].values()) == 1_008_000
        took = {}
        query = "sweep=mesh&src=host-03&dst=host-2{number}"
        for name, address in {
            "overview": "/api/overview",
            "day": f"/api/series?{query}&from={end - 86_400}&to={end}",
            "all": f"/api/series?{query}&from=0&to={end}",
            "metrics": "/metrics",
        }.items():
            tries = []
            for number in range(TRIES):
                forget_answers(watched)  # and each path is another one
                began = time.perf_counter()
                answer, text = found.ask(address.format(number=number))
                tries.append(time.perf_counter() - began)
                assert answer.status == 200
            took[name] = min(tries)
            if name in ("day", "all"):
                line = json.loads(text)["lines"][0]
                assert sum(line["count"]) == (288 if name == "day" else 18_000)
                assert len(line["began"]) <= 1_500
        record_property("took_s", took)
        assert took["overview"] < 1
        assert took["day"] < 0.3
        assert took["all"] < 1


def test_rows_are_small(tmp_path):
    watched = big_campaign(tmp_path / "archive", paths=1, trials_each=10, end=1e9, every_s=300)
    (state,) = watched.model.paths.values()
    assert state.rows.rows.nbytes / 10 < 100
    assert trial_number("00000000000a") == 10
    assert len(state.rows.rows) == 10
