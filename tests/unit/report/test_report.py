"""The report's text and tables, without a browser."""

import json
import re
import shutil
from html.parser import HTMLParser
from urllib.parse import unquote

import pytest
from typer.testing import CliRunner

from analysis_support import make_campaign, write_archive
from flowsweep.archive import read_archive
from flowsweep.cli import load
from flowsweep.cli.app import app
from flowsweep.report.failures import reasons
from flowsweep.report.headline import highest_goodputs, status_counts
from flowsweep.report.host_table import host_lines
from flowsweep.report.render import render
from flowsweep.report.report_data import report_data
from flowsweep.report.trial_table import trial_lines
from flowsweep.report.write import write_report
from flowsweep.schedule import schedule
from plan_support import command_line, plan_of
from report_support import MIB, PLAN_TEXT, failed, make_facts, make_report_data, make_row, make_rows, seed_000

pytestmark = pytest.mark.whole

HOSTILE = "</script><img src=x onerror=alert(1)>"

PLAN = {
    "campaign": {"name": "two-ways", "repeats": 1, "order": "blocks", "seed": 1},
    "text": PLAN_TEXT,
    "links": [],
    "sweeps": [{"name": "windows", "paths": [{"src": "a", "dst": "b"}]}],
}


class Elements(HTMLParser):
    """Collects the elements of a page, but not those of templates, and the text of its paragraphs."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.in_template = False
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.in_template = self.in_template or tag == "template"
        if not self.in_template:
            self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        self.in_template = self.in_template and tag != "template"

    def handle_data(self, data):
        if self.tags and self.tags[-1][0] not in {"script", "style"}:
            self.text += data

    def named(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for found, attributes in self.tags if found == tag]


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    folder = tmp_path_factory.mktemp("written") / "archive"
    return write_archive(folder, make_campaign(repeats=2), plan_json=json.dumps(PLAN))


@pytest.fixture
def archive(written, tmp_path):
    return shutil.copytree(written, tmp_path / "archive")


def test_headline_names_the_highest_goodput_of_each_direction_and_where_it_was():
    rows = make_rows(
        repeats=3, lengths=(2000, 8000), change=lambda row: row | {"goodput_bps": 1e9 + row["repeat"] * 1e7}
    )
    best = (8, 16 * MIB, 8000, "starlight")
    for row in rows:
        if (row["flows"], row["window_sum_bytes"], row["length_bytes"], row["src"]) == best:
            row["goodput_bps"] += 5e8
        row["goodput_mean_bps"] = row["goodput_bps"]
    there, back = highest_goodputs(rows)
    assert (there.direction, there.number, there.unit) == ("starlight → sara", "1.52", "Gbit/s")
    assert there.place == "8 flows, window sum 16 MiB, length 8 KB"
    assert there.spread == "median of 3 repeats, 1.51 to 1.53 Gbit/s"
    assert back.number == "1.02"


def test_headline_takes_the_median_and_not_the_luckiest_repeat():
    rows = [
        make_row(flows=flows, repeat=repeat, goodput_bps=rate)
        for flows, rates in ((1, (1e9, 1e9, 9e9)), (2, (2e9, 2e9, 2e9)))
        for repeat, rate in enumerate(rates, start=1)
    ]
    assert [one.number for one in highest_goodputs(rows)] == ["2.00"]


def test_headline_does_not_mix_points_that_differ_in_any_parameter():
    rows = [
        make_row(repeat=1, dscp=dscp, goodput_bps=rate, trial_id=str(dscp))
        for dscp, rate in ((0, 1e9), (46, 3e9))
    ]
    (found,) = highest_goodputs(rows)
    assert (found.number, found.spread, found.place) == (
        "3.00",
        "1 repeat",
        "1 flow, window sum 1 MiB, DSCP 46",
    )


def test_headline_tells_what_varies_in_the_winners_sweep_and_is_set():
    rows = [
        make_row(sweep="paced", pacing_rate_bps=10**7, congestion_asked="reno", goodput_bps=1e8),
        make_row(sweep="free", dscp=46, length_bytes=4096, goodput_bps=1e9),
        make_row(sweep="free", dscp=None, goodput_bps=2e9),
    ]
    (found,) = highest_goodputs(rows)
    assert found.place == "1 flow, window sum 1 MiB, length 8 KB, sweep free"


def test_headline_is_silent_about_a_direction_without_a_good_trial():
    rows = [make_row(), failed(make_row(src="sara", dst="starlight"))]
    assert [one.direction for one in highest_goodputs(rows)] == ["starlight → sara"]


def test_statuses_are_counted():
    rows = [make_row(), make_row(repeat=2), failed(make_row(repeat=3))]
    assert [(one.status, one.count) for one in status_counts(rows)] == [("ok", 2), ("failed", 1)]


def test_failures_that_differ_in_numbers_only_are_one_reason():
    ports = [failed(make_row(repeat=repeat)) | {"error": f"connect on sara: port {5300 + repeat}: refused",
             "failure_phase": "connect", "failure_host": "sara"} for repeat in (1, 2, 3)]  # fmt: skip
    one, other = reasons([make_row(repeat=9), failed(make_row(repeat=4)), *ports])
    assert (len(one.trial_ids), one.phase, one.host) == (3, "connect", "sara")
    assert (one.message, one.numbers_differ) == ("port 5301: refused", True)
    assert (len(other.trial_ids), other.phase, other.host) == (1, "prepare", "starlight")
    assert other.message.startswith("send window of 67108864 bytes asked")


def test_hosts_are_marked_where_they_differ_but_not_in_their_names():
    settings = make_facts()["sysctls"]
    lines = {
        line.name: line
        for line in host_lines(
            {
                "a": make_facts("one"),
                "b": make_facts("two", kernel="6.1.0", sysctls=settings | {"net.core.rmem_max": "67108864"}),
            }
        )
    }
    assert {name for name, line in lines.items() if line.differs} == {"Kernel", "net.core.rmem_max"}
    assert lines["Own name"].values == ("one", "two")
    assert lines["Memory"].values == ("23.5 GiB", "23.5 GiB")
    assert lines["net.ipv4.tcp_rmem"].values[0] == "4096 131072 6291456"
    assert [lines[name].folded for name in ("net.ipv4.tcp_rmem", "net.core.rmem_max")] == [True, False]


def test_devices_and_routes_are_those_that_lead_to_other_hosts():
    nic = {"driver": "mlx5_core", "speed_mbps": 25_000, "mtu_bytes": 9000, "tx_queues": 16}
    nic |= {
        "qdiscs": ["mq", "fq"],
        "offloads": {"tx-tcp-segmentation": True, "rx-gro": True, "rx-lro": False},
    }
    routes = {"192.0.2.9": {"device": "eth1", "gateway": "192.0.2.1"}}
    facts = make_facts(nics=[{"name": "lo", "tx_queues": 1}, {"name": "eth1"} | nic], routes=routes)
    lines = {line.name: line.values for line in host_lines({"a": facts, "b": make_facts()})}
    assert lines["Devices"] == ("mlx5_core, 25.0 Gbit/s, MTU 9000, 16 queues, mq fq", "")
    assert lines["Offloads"] == ("TSO, GRO", "")
    assert lines["Routes"] == ("192.0.2.9 by eth1 via 192.0.2.1", "")


def test_trials_stand_in_the_order_they_ran_with_units_and_marks():
    rows = [
        make_row(repeat=2, started_at="2026-03-01T12:02:00Z", window_recv_bytes=2 * MIB, window_raised=True),
        make_row(repeat=1, started_at="2026-03-01T12:01:00Z"),
    ]
    columns, lines = trial_lines(rows)
    titles = [column.title for column in columns]
    first, second = (dict(zip(titles, [cell.text for cell in line.cells], strict=True)) for line in lines)
    assert (first["Repeat"], second["Repeat"]) == ("1", "2")
    assert first["Started"] == "2026-03-01 12:01:00"
    assert (first["Mean goodput"], first["Median goodput"], first["RTT min"], first["CPU send"]) == (
        "990 Mbit/s",
        "1.00 Gbit/s",
        "8.02 ms",
        "31.0 %",
    )
    assert (first["Window asked"], second["Window asked"]) == ("1 MiB", "1 MiB / 2 MiB")
    assert (first["Granted"], first["Usable"]) == ("2 MiB", "1.29 MB")
    assert (first["Window was"], second["Window was"]) == ("", "raised")
    assert "Verdict" not in titles


def test_an_axis_that_is_set_is_a_column():
    asked = {"rate_bps": 10**6, "pacing_rate_bps": 10**7, "mss_bytes": 1200, "dscp": 0, "no_delay": True,
             "affinity": [0, 1], "family": 6, "omit_s": 1.0}  # fmt: skip
    titles = (
        "Rate per flow",
        "Pacing per flow",
        "MSS asked",
        "DSCP",
        "No delay",
        "CPUs",
        "IP version",
        "Omitted",
    )
    columns, (first, second) = trial_lines([make_row(interval_s=0.5), make_row(interval_s=1.0, **asked)])
    shown = {
        column.title: (one.text, other.text)
        for column, one, other in zip(columns, first.cells, second.cells, strict=True)
    }
    values = ("1.00 Mbit/s", "10.0 Mbit/s", "1200 B", "0", "on", "0+1", "6", "1 s")
    assert {title: shown[title][1] for title in titles} == dict(zip(titles, values, strict=True))
    assert {shown[title][0] for title in titles} == {""}
    assert shown["Interval"] == ("500 ms", "1 s")
    assert not set(titles) & {column.title for column in trial_lines([make_row()])[0]}


def test_what_limited_a_trial_stands_with_its_share_the_greatest_first():
    shares = {"limit_cwnd_share": 0.204, "limit_rwnd_share": 0.79, "limit_none_share": 0.006}
    columns, (limited, unknown) = trial_lines([make_row(**shares, clock_bound_ms=0.0384), make_row()])
    shown = {
        column.title: (one.text, other.text)
        for column, one, other in zip(columns, limited.cells, unknown.cells, strict=True)
    }
    assert shown["Flight filled"] == ("receive window 79 %, congestion window 20 %", "")
    assert shown["Clocks agree to"] == ("38.4 us", "")


def test_a_path_that_could_not_be_kept_up_with_is_said_on_top():
    marked = [make_row(path_emulation=mark) for mark in ("late", "kept up", "late", "overloaded")]
    text = Elements(render(make_report_data(marked))).text
    assert "1 of 4 trials: this machine could not keep up with the emulated path, packets were lost" in text
    assert "2 of 4 trials: this machine could not keep up with the emulated path, more than 1.00 %" in text
    kept_up = Elements(render(make_report_data([make_row(path_emulation="kept up")]))).text
    assert "could not keep up" not in kept_up


def test_modes_are_said_not_to_compare_where_there_are_several():
    several = [*make_rows(repeats=1), *make_rows(repeats=1, change=lambda row: row | {"mode": "zerocopy"})]
    assert "compare within a mode only" in Elements(render(make_report_data(several))).text
    assert "within a mode" not in Elements(render(make_report_data(make_rows(repeats=1)))).text


def test_page_of_a_real_archive(archive, tmp_path):
    target = tmp_path / "report.html"
    write_report(read_archive(archive), target)
    page = Elements(target.read_text())
    assert "two-ways" in page.text
    assert "send window of 67108864 bytes asked" in page.text
    surfaces = [figure["id"] for figure in page.named("figure") if figure["data-kind"] == "surface"]
    maps = [figure["id"] for figure in page.named("figure") if figure["data-file"].endswith("-map")]
    assert [name.replace("-0", "-1") for name in surfaces] == maps
    assert len(surfaces) == 4  # of each direction, what was measured and what is predicted
    rows = [row for row in page.named("tr") if (row.get("id") or "").startswith("trial-")]
    assert len(rows) == 36
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == ["report.html"]


def test_points_carry_asked_window_sum_and_parameters(archive):
    found = report_data(read_archive(archive))
    assert {row["window_sum_asked_bytes"] for row in found.cells} == {1 << 18, 1 << 19, 1 << 20}
    assert {row["congestion_asked"] for row in found.cells} == {"cubic"}
    assert [row["src"] for row in (found.cells[0], found.cells[-1])] == ["a", "b"]


def test_nothing_is_loaded_from_elsewhere():
    page = Elements(render(make_report_data(make_rows(change=seed_000))))
    for tag, attributes in page.tags:
        assert "src" not in attributes, tag
        assert tag != "link"
        href = attributes.get("href") or "#"
        assert href.startswith(("#", "data:text/csv")), href


def test_only_the_pages_own_scripts_may_run():
    page = Elements(render(make_report_data(make_rows())))
    (policy,) = [meta["content"] for meta in page.named("meta") if "http-equiv" in meta]
    (scripts,) = re.findall(r"script-src ([^;]*)", policy)
    assert len(re.findall(r"'sha256-[A-Za-z0-9+/=]+'", scripts)) == 3
    assert "unsafe" not in scripts
    assert policy.startswith("default-src 'none'")


def test_names_from_an_archive_stay_text():
    rows = make_rows(directions=[(HOSTILE, "sara"), ("sara", HOSTILE)], sweep=HOSTILE, change=seed_000)
    rows += [failed(make_row(src=HOSTILE, sweep="other")) | {"error": HOSTILE, "congestion": HOSTILE}]
    plan = make_report_data(rows).plan | {"text": HOSTILE}
    page = Elements(
        render(make_report_data(rows, name=HOSTILE, plan=plan, host_facts={HOSTILE: make_facts(HOSTILE)}))
    )
    assert page.named("img") == []
    assert HOSTILE in page.text
    assert len([tag for tag in page.named("script") if "type" not in tag]) == 3


def test_a_campaign_without_a_finished_trial_says_so():
    page = Elements(render(make_report_data([], host_facts={})))
    assert "No trial has finished yet" in page.text
    assert "No host has answered yet" in page.text
    assert page.named("figure") == []


@pytest.mark.parametrize(
    ("planned", "said"), [(4, "3 of 4 trials have finished"), (3, "3 trials"), (None, "3 trials")]
)
def test_a_campaign_that_was_interrupted_says_how_far_it_came(planned, said):
    rows = [make_row(repeat=repeat) for repeat in (1, 2, 3)]
    page = Elements(render(make_report_data(rows, trials_planned=planned)))
    assert f"{said} " in " ".join(page.text.split())


def test_an_archive_knows_how_many_trials_its_plan_asks_for(tmp_path):
    plan = plan_of('flows = [1, 2]\nwindow = ["64KiB", "1MiB"]\ndirections = "both"', "repeats = 3")
    folder = write_archive(tmp_path / "archive", [], plan_json=plan.model_dump_json())
    assert report_data(read_archive(folder)).trials_planned == 24 == len(schedule(plan, seed=1))


def test_a_campaign_that_failed_throughout_says_so():
    page = Elements(render(make_report_data([failed(row) for row in make_rows()])))
    assert "No trial ended ok" in page.text
    assert page.named("figure") == []
    assert "send window of 67108864" in page.text


def test_one_host_is_enough():
    rows = make_rows(directions=[("local", "local")])
    page = Elements(render(make_report_data(rows, host_facts={"local": make_facts()})))
    assert "local → local" in page.text
    assert "differ here" not in page.text


def test_trials_can_be_taken_away_as_csv():
    page = Elements(render(make_report_data(make_rows(repeats=1))))
    (link,) = [anchor for anchor in page.named("a") if anchor.get("id") == "trials-csv"]
    lines = unquote(link["href"].removeprefix("data:text/csv;charset=utf-8,")).splitlines()
    assert lines[0].startswith("trial_id,sweep,repeat,started_at,src,dst")
    assert len(lines) == 61


def test_a_failed_write_leaves_the_old_report(archive, tmp_path, monkeypatch):
    target = tmp_path / "report.html"
    target.write_text("old")

    def fail(found):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("flowsweep.report.write.render", fail)
    with pytest.raises(OSError, match="No space"):
        write_report(read_archive(archive), target)
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == ["report.html"]
    assert target.read_text() == "old"


def test_command_says_where_the_report_lies_and_how_large_it_is(archive, tmp_path):
    target = tmp_path / "page.html"
    load(["report"])
    result = CliRunner().invoke(app, ["report", str(archive), "-o", str(target)])
    assert result.exit_code == 0, result.output
    assert re.fullmatch(rf"{re.escape(str(target))}: \d\.\d+ MB\n", result.output)


@pytest.mark.parametrize("name", ["journal", "campaign.json", "plan.toml", "report"])
def test_command_writes_over_nothing_that_is_not_called_as_a_page(
    archive, name, tmp_path, monkeypatch, capsys
):
    target = tmp_path / "archive" / name
    before = target.read_bytes() if target.exists() else None
    assert command_line(monkeypatch, "report", str(archive), "-o", str(target)) == 2
    assert "expected a name that ends in .html or .htm" in capsys.readouterr().err
    assert (target.read_bytes() if target.exists() else None) == before


@pytest.mark.long
def test_six_hundred_trials_stay_small():
    rows = make_rows(lengths=range(1000, 11000, 1000), repeats=1)
    assert len(rows) == 600
    assert len(render(make_report_data(rows)).encode()) < 25_000_000
