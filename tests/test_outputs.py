"""Outputs of a run: every format opened by something else, and the same numbers in all of them."""

from __future__ import annotations

import json
import os
import re
import socket
import urllib.request
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pandas
import pytest
from hdrh.histogram import HdrHistogram
from hdrh.log import HistogramLogReader
from jsonschema import Draft202012Validator
from prometheus_client.parser import text_string_to_metric_families

from sysbench_py.sinks.json_document import read
from sysbench_py.stats.model import HIGHEST_LATENCY_NS, LatencyHistogram
from sysbench_py.stats.result import RunResult
from tests.support import schema
from tests.support.postgres import PostgreSQL
from tests.support.reference import ours

PASSWORD = "very-secret-word"
PERCENTILES = (50, 95, 99, 99.9)


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
        return port


class _Figures(HTMLParser):
    """The numbers of a page by their names, and every address that it refers to."""

    def __init__(self) -> None:
        super().__init__()
        self.figures: dict[str, str] = {}
        self.addresses: list[str] = []
        self._name: str | None = None

    def handle_starttag(self, _tag: str, attributes: list[tuple[str, str | None]]) -> None:
        found = dict(attributes)
        self._name = found.get("data-name")
        self.addresses += [value or "" for name, value in attributes if name in ("href", "src", "srcset", "action")]

    def handle_data(self, data: str) -> None:
        if self._name:
            self.figures[self._name] = data.strip()
            self._name = None


class Run:
    """A run with every output, its scrape while it lasted, and what it printed."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        port = free_port()
        outputs = [f"--output={name}" for name in FORMATS.values()]
        arguments = (*arguments, *outputs, f"--output=prometheus:127.0.0.1:{port}", "run")
        with ours.start(*arguments, cwd=folder) as started:
            started.wait_for("[ 2s ]")
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics") as answer:
                self.scrape = answer.read().decode()
            result = started.result()
        assert result.status == 0, result.stdout + result.stderr
        self.stdout = result.stdout
        self.texts = {name: (folder / path.partition(":")[2]).read_text() for name, path in FORMATS.items()}
        self.folder = folder
        self.result: RunResult = read(self.texts["json"])


FORMATS = {
    "json": "json:run.json",
    "jsonl": "jsonl:run.jsonl",
    "csv": "csv:run.csv",
    "hdr": "hdr:run.hlog",
    "prometheus": "prometheus:run.prom",
    "html": "html:run.html",
}


@pytest.fixture(scope="module")
def run(postgres: PostgreSQL, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    postgres.empty_database()
    folder = tmp_path_factory.mktemp("outputs")
    arguments = ("oltp_read_write", *postgres.args, f"--pgsql-password={PASSWORD}", "--table-size=1000")
    assert ours(*arguments, "prepare").status == 0
    try:
        percentiles = ",".join(map(str, PERCENTILES))
        yield Run(folder, *arguments, "--threads=3", "--time=5", "--report-interval=1", f"--percentile={percentiles}")
    finally:
        assert ours(*arguments, "cleanup").status == 0


def text_values(text: str, label: str) -> list[str]:
    match = re.search(rf"^ +{re.escape(label)} +(.*)$", text, re.MULTILINE)
    assert match, label
    return re.findall(r"\d[\d.]*", match[1])


def test_text_and_json_agree(run: Run) -> None:
    total, counters = run.result.total, run.result.total.counters
    assert text_values(run.stdout, "read:") == [str(counters.reads)]
    assert text_values(run.stdout, "write:") == [str(counters.writes)]
    assert text_values(run.stdout, "other:") == [str(counters.other)]
    assert text_values(run.stdout, "total:") == [str(counters.queries)]
    assert text_values(run.stdout, "transactions:") == [str(counters.events), f"{total.events_per_s:.2f}"]
    assert text_values(run.stdout, "queries:") == [str(counters.queries), f"{total.queries_per_s:.2f}"]
    assert text_values(run.stdout, "total number of events:") == [str(counters.events)]
    assert text_values(run.stdout, "total time:") == [f"{total.time_total_s:.4f}"]
    latency = total.latency
    for label, value_ns in (("min", latency.min_ns), ("avg", latency.avg_ns), ("max", latency.max_ns)):
        assert text_values(run.stdout, f"{label}:") == [f"{value_ns / 1e6:.2f}"]
    for percent, percentile in zip(PERCENTILES, latency.percentiles, strict=True):
        assert percentile.percent == percent
        assert text_values(run.stdout, f"{percent}th percentile:") == [f"{percentile.latency_ns / 1e6:.2f}"]
        assert percentile.latency_ns == latency.histogram.percentile_ns(percent) <= latency.max_ns
    lines = re.findall(r"^\[ (\d+)s \] thds: 3 tps: ([\d.]+) qps: ([\d.]+) ", run.stdout, re.MULTILINE)
    shown = [each for each in run.result.intervals if not each.partial]
    assert [line[0] for line in lines] == [f"{each.time_total_s:.0f}" for each in shown]
    assert [line[1] for line in lines] == [f"{each.events_per_s:.2f}" for each in shown]
    assert [line[2] for line in lines] == [f"{each.queries_per_s:.2f}" for each in shown]


def test_json_follows_its_schema(run: Run) -> None:
    Draft202012Validator(schema.schema()).validate(json.loads(run.texts["json"]))


def test_json_says_what_was_run(run: Run, postgres: PostgreSQL) -> None:
    setup = run.result.setup
    assert (setup.test, setup.threads, setup.percentiles) == ("oltp_read_write", 3, PERCENTILES)
    assert setup.options["table_size"] == 1000
    (database,) = setup.databases
    assert database.driver == "pgsql"
    ((version,),) = postgres.sql("SHOW server_version")
    assert database.server_version == version
    assert re.match(r"psycopg2 2\.[\d.]+, libpq \d+\.\d+$", database.library)
    assert setup.machine.host == socket.gethostname()
    assert setup.machine.cpus == len(os.sched_getaffinity(0))


def test_intervals_and_workers_add_up_to_the_total(run: Run) -> None:
    total = run.result.total
    merged = LatencyHistogram.merged(each.latency.histogram for each in run.result.intervals)
    assert merged.buckets_ns() == total.latency.histogram.buckets_ns()
    for name in ("events", "reads", "writes", "other", "errors", "bytes_read", "bytes_written"):
        assert sum(getattr(each.counters, name) for each in run.result.intervals) == getattr(total.counters, name)
    assert sum(worker.events for worker in total.workers) == total.counters.events
    assert sum(worker.latency_sum_ns for worker in total.workers) == total.latency.sum_ns


def test_json_lines_are_the_intervals(run: Run) -> None:
    lines = [json.loads(line) for line in run.texts["jsonl"].splitlines()]
    assert lines == json.loads(run.texts["json"])["intervals"]


def test_csv_is_read_by_pandas(run: Run) -> None:
    frame: Any = pandas.read_csv(run.folder / "run.csv")
    intervals = run.result.intervals
    assert list(frame.events) == [each.counters.events for each in intervals]
    assert list(frame.queries) == [each.counters.queries for each in intervals]
    assert list(frame.events_per_s) == pytest.approx([each.events_per_s for each in intervals])
    assert list(frame.partial) == [each.partial for each in intervals]
    assert list(frame.latency_max_ns) == [each.latency.max_ns for each in intervals]
    for number, percent in enumerate(PERCENTILES):
        values = [each.latency.percentiles[number].latency_ns for each in intervals]
        assert list(frame[f"latency_p{percent}_ns"]) == values
    assert frame.events.sum() == run.result.total.counters.events


def test_hdr_log_is_read_by_the_reader_of_hdrhistogram(run: Run) -> None:
    reader = HistogramLogReader(str(run.folder / "run.hlog"), HdrHistogram(1, HIGHEST_LATENCY_NS, 3))
    merged = HdrHistogram(1, HIGHEST_LATENCY_NS, 3)
    intervals = []
    while (histogram := reader.get_next_interval_histogram()) is not None:
        intervals.append(histogram)
        merged.add(histogram)
    reader.input_file.close()
    assert reader.start_time_sec > 0
    assert [each.get_total_count() for each in intervals] == [
        each.latency.histogram.count for each in run.result.intervals
    ]
    total = run.result.total.latency
    assert merged.get_total_count() == run.result.total.counters.events
    for percentile in total.percentiles:
        assert min(merged.get_value_at_percentile(percentile.percent), total.max_ns) == percentile.latency_ns


def metrics(text: str) -> dict[tuple[str, str], float]:
    """Samples by name and the value of their last label."""
    return {
        (sample.name, "".join(list(sample.labels.values())[-1:])): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def test_prometheus_file_has_the_numbers_of_the_run(run: Run) -> None:
    found, total = metrics(run.texts["prometheus"]), run.result.total
    assert found["sysbench_events_total", ""] == total.counters.events
    assert found["sysbench_queries_total", "reads"] == total.counters.reads
    assert found["sysbench_errors_total", ""] == total.counters.errors
    assert found["sysbench_latency_seconds_count", ""] == total.counters.events
    assert found["sysbench_latency_seconds_sum", ""] == pytest.approx(total.latency.sum_ns / 1e9)
    assert found["sysbench_latency_seconds_bucket", "+Inf"] == total.counters.events
    at_most_1_ms = sum(count for latency_ns, count in total.latency.histogram.buckets_ns() if latency_ns <= 1e6)
    assert found["sysbench_latency_seconds_bucket", "0.001"] == at_most_1_ms
    for percentile in total.latency.percentiles:
        value = found["sysbench_latency_percentile_seconds", f"{percentile.percent / 100:g}"]
        assert value == pytest.approx(percentile.latency_ns / 1e9)


def test_prometheus_is_scraped_while_the_run_lasts(run: Run) -> None:
    found, intervals = metrics(run.scrape), run.result.intervals
    at_s = found["sysbench_time_seconds", ""]
    seen = 1 + [each.time_total_s == pytest.approx(at_s) for each in intervals].index(True)
    assert found["sysbench_events_total", ""] == sum(each.counters.events for each in intervals[:seen])
    assert found["sysbench_threads", ""] == 3
    assert found["sysbench_interval_latency_seconds", "0.999"] == pytest.approx(
        intervals[seen - 1].latency.percentiles[3].latency_ns / 1e9
    )


def test_page_has_the_numbers_of_the_run_and_asks_nobody_for_anything(run: Run) -> None:
    page = _Figures()
    page.feed(run.texts["html"])
    total = run.result.total
    shown = page.figures
    assert shown["events"] == str(total.counters.events)
    assert shown["queries"] == str(total.counters.queries)
    assert shown["events_per_s"] == f"{total.events_per_s:.2f}"
    assert shown["latency_avg"] == f"{total.latency.avg_ns / 1e6:.2f}"
    for percentile in total.latency.percentiles:
        assert shown[f"latency_p{percentile}"] == f"{percentile.latency_ns / 1e6:.2f}"
    for name, value in (("table_size", "1000"), ("auto_inc", "on"), ("skip_trx", "off"), ("threads", "3")):
        assert f'<tr><th>{name}</th><td class="value">{value}</td></tr>' in run.texts["html"]
    assert page.addresses == []
    assert not re.search(r"url\(|@import|https?://|<script|<link|<iframe", run.texts["html"])
    assert run.texts["html"].count("<svg") == 4
    assert "prefers-color-scheme: dark" in run.texts["html"]


def test_no_output_has_the_password(run: Run) -> None:
    assert f"--pgsql-password={PASSWORD}" not in "".join(run.texts.values())
    assert PASSWORD not in "".join(run.texts.values()) + run.scrape
    assert "--pgsql-password=***" in run.result.setup.command_line


def test_a_saved_result_is_printed_as_the_run_was(run: Run) -> None:
    result = ours("report", "run.json", cwd=run.folder)
    assert (result.status, result.stderr) == (0, "")
    printed = run.stdout.split("Threads started!\n\n")[1]
    assert result.stdout.endswith(f"\n\n{printed}")
    assert PASSWORD not in result.stdout


def test_a_saved_result_is_written_in_every_format_as_the_run_wrote_it(run: Run) -> None:
    outputs = [f"--output={name}:again.{name}" for name in FORMATS]
    assert ours("report", "run.json", *outputs, cwd=run.folder).status == 0
    for name, text in run.texts.items():
        assert (run.folder / f"again.{name}").read_text() == text, name


def test_a_redrawn_result_is_named_after_its_file(run: Run) -> None:
    (run.folder / "other.json").write_text(run.texts["json"])
    result = ours("report", "other.json", "--output=html", "--output=csv:-", cwd=run.folder)
    assert (result.status, result.stdout, result.stderr) == (0, run.texts["csv"], "other.html\n")
    assert (run.folder / "other.html").read_text() == run.texts["html"]
