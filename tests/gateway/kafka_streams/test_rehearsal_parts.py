"""The parts of a rehearsal of Kafka Streams that need no broker."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from headgate.cli.main import headgate
from headgate.errors import CaptureError, EvidenceError
from headgate.gateway.kafka.read_records import Record
from headgate.gateway.kafka_broker.rehearsal_broker import Wanted, holes, live_keys, with_holes
from headgate.gateway.kafka_streams.application import entry, logged_exception
from headgate.gateway.kafka_streams.rehearsal import is_of_record
from headgate.gateway.kafka_streams.state_directory import read_state_directory
from headgate.gateway.process.connections import unexpected_connection
from headgate.model.kafka_streams_rehearsal import StoreFate, StoreRows, StreamsVerdict
from headgate.model.rehearsal import EngineOutcome
from headgate.rules.compare.engine_agreement import Agreement, judge_streams
from headgate.rules.core.report import Finding, Outcome, Report
from headgate.usecases.rehearsal.given_records import given_records
from headgate.usecases.rehearsal.one_version import Side, shown
from headgate.usecases.rehearsal.properties_file import read_settings
from headgate.usecases.rehearsal.rehearse_kafka_streams import StreamsOptions
from headgate.views.reports.kafka_streams_rehearsal import facts, headline, streams_rehearsal_json


def changelog(offsets: list[int], end: int) -> Wanted:
    records = [Record("c", 0, n, b"k%d" % n, b"v") for n in offsets]
    return Wanted("c", 1, "changelog", records=records, ends={0: end})


@pytest.mark.parametrize(("offsets", "end"), [([0, 1], 2), ([2, 5], 8), ([], 3), ([], 0)])
def test_each_record_of_a_changelog_lies_at_its_own_offset(offsets, end):
    topic = changelog(offsets, end)
    written = list(with_holes(topic))
    assert len(written) == end
    assert [n for n, r in enumerate(written) if r.value is not None] == offsets
    assert holes(topic) == end - len(offsets)
    # What fills the holes is no key that a store would have.
    assert len(live_keys(written)) == len(offsets)


def test_a_deleted_key_does_not_live_and_partitions_have_keys_of_their_own():
    records = [Record("c", p, n, b"k", v) for p, n, v in [(0, 0, b"a"), (1, 0, b"b"), (0, 1, None)]]
    assert live_keys(records) == {(1, b"k"): b"b"}


LOG = """\
WARN something: with a colon
ERROR org.apache.kafka.streams.KafkaStreams: stream-client [x] Encountered the following exception
org.apache.kafka.streams.errors.StreamsException: Exception caught in process. taskId=0_0
\tat org.apache.kafka.Some.run(Some.java:1)
Caused by: org.apache.kafka.common.errors.SerializationException: Size of data is not 4
\t... 3 more
java.lang.IllegalStateException: while closing
"""


def test_the_first_exception_of_a_log_counts_with_its_causes():
    assert logged_exception(LOG) == (
        "org.apache.kafka.streams.errors.StreamsException: Exception caught in process. taskId=0_0",
        "org.apache.kafka.common.errors.SerializationException: Size of data is not 4",
    )
    assert logged_exception("INFO all is well") == ()


def test_an_error_with_a_record_is_told_from_one_of_the_start():
    assert is_of_record(logged_exception(LOG))
    handler = "Deserialization exception handler is set to fail upon a deserialization error."
    assert is_of_record((f"org.apache.kafka.streams.errors.StreamsException: {handler}",))
    assert not is_of_record(("org.apache.kafka.common.config.ConfigException: Invalid value",))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a.b.C#topology", ("a.b.C", "topology")),
        ("C", ("C", None)),
        ("a.b.C$D", ("a.b.C$D", None)),
        ("a:b", None),
        ("C#", None),
        ("./x", None),
    ],
)
def test_an_entry_is_a_class_with_or_without_a_method(text, found):
    what = entry(text)
    assert (what and (what.type, what.method)) == found


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"arguments": ["{bootstrap}"]},
        {"jvm_options": ["-Dstate={state_dir}"], "arguments": ["localhost:9092"]},
    ],
)
def test_a_main_that_is_not_told_its_broker_and_directory_is_not_started(given):
    with pytest.raises(CaptureError, match="could use your real cluster"):
        StreamsOptions(**given).side("a.Main", [], "app")


def test_no_setting_leads_to_another_cluster():
    settings = {
        "bootstrap.servers": "prod:9092",
        "main.consumer.bootstrap.servers": "prod:9092",
        "producer.security.protocol": "SSL",
        "sasl.jaas.config": "secret",
        "consumer.interceptor.classes": "Audit",
        "default.key.serde": "Text",
        "application.id": "other",
        "state.dir": "/var/lib/prod",
    }
    what = entry("C#m")
    assert what is not None
    side = Side(what=what, jars=[], application_id="app", settings=settings)
    found = side.overridden("127.0.0.1:1", Path("/scratch"))
    assert found["bootstrap.servers"] == "127.0.0.1:1"
    assert (found["application.id"], found["state.dir"]) == ("app", "/scratch")
    assert found["default.key.serde"] == "Text"
    assert not [k for k, v in found.items() if "prod" in v or "sasl" in k or "interceptor" in k]
    assert "producer.security.protocol" not in found


def test_a_connection_that_leads_elsewhere_is_seen():
    program = (
        "import socket, sys; s = socket.create_connection(('127.0.0.1', int(sys.argv[1])));"
        "print('open', flush=True); sys.stdin.read()"
    )
    with socket.create_server(("127.0.0.1", 0)) as home:
        port = home.getsockname()[1]
        argv = [sys.executable, "-c", program, str(port)]
        process = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        with process:
            assert process.stdout and process.stdout.readline() == b"open\n"
            assert unexpected_connection(process.pid, allowed=port, own=1) is None
            found = unexpected_connection(process.pid, allowed=1, own=1)
            assert found and (found.remote, found.remote_port) == ("127.0.0.1", port)
            process.communicate()


def test_properties_are_read_as_java_reads_them(tmp_path):
    file = tmp_path / "app.properties"
    file.write_text("# c\n! c\na=1\nb : 2 \\\n  3\nc.d\te\\u0041\npath=C:\\\\x\n\nempty=\n")
    assert read_settings(file) == {
        "a": "1", "b": "2 3", "c.d": "eA", "path": "C:\\x", "empty": "",
    }  # fmt: skip


@pytest.mark.parametrize(
    "line",
    [
        "{",
        "[]",
        '{"key": "k"}',
        '{"topic": "t", "partition": -1}',
        '{"topic": "t", "x": 1}',
        '{"topic": "t", "key_base64": "no base64!"}',
        '{"topic": "t", "key": "k", "key_base64": "aw=="}',
    ],
)
def test_a_record_that_is_none_is_said_with_its_line(line, tmp_path):
    file = tmp_path / "in.jsonl"
    file.write_text('{"topic": "t"}\n\n' + line + "\n")
    with pytest.raises(EvidenceError, match=r"in\.jsonl:3: expected"):
        given_records(file)


def test_bytes_that_are_no_text_are_given_in_base64(tmp_path):
    file = tmp_path / "in.jsonl"
    file.write_text('{"topic": "t", "key": "k", "value_base64": "AAAAAQI="}\n')
    (record,) = given_records(file)
    assert (record.key, record.value) == (b"k", b"\x00\x00\x00\x01\x02")


def test_properties_that_are_no_text_say_what_to_do(tmp_path):
    (tmp_path / "p").write_bytes(b"a=\xff")
    with pytest.raises(EvidenceError, match=r"isn't UTF-8 text\. Save the file as UTF-8$"):
        read_settings(tmp_path / "p")


def test_a_state_directory_is_found_from_its_root_and_from_the_application(tmp_path):
    for store in ("0_0/rocksdb/counts", "0_1/rocksdb/counts", "1_0/windows", "global/rocksdb/all"):
        (tmp_path / "app" / store).mkdir(parents=True)
    for given in (tmp_path, tmp_path / "app"):
        found = read_state_directory(given)
        assert (found.root, found.application_id) == (tmp_path, "app")
        assert found.stores == {
            "counts": ("0_0", "0_1"), "windows": ("1_0",), "all": ("global",),
        }  # fmt: skip
        assert found.partitions == {0: 2, 1: 1}
    (tmp_path / "second" / "0_0").mkdir(parents=True)
    with pytest.raises(EvidenceError, match="app, second with --application-id"):
        read_state_directory(tmp_path)
    assert read_state_directory(tmp_path, "second").application_id == "second"
    with pytest.raises(EvidenceError, match="no state of application third"):
        read_state_directory(tmp_path, "third")


@pytest.mark.parametrize(
    ("raw", "text"), [(b"a", "a"), (b"\xff\x00", "0xff00"), (b"\x00\x01", "0x0001"), (None, None)]
)
def test_bytes_are_shown_as_text_where_they_are_text(raw, text):
    assert shown(raw) == text


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--after", "A#b"], "Give --checkpoint (Spark) or --state-dir (Kafka Streams)"),
        (["--after", "A#b", "--state-dir", "."], "Give the new version's jar with --jar"),
        (["--after", "A#b", "--checkpoint", ".", "--offline"], "--offline is for Kafka Streams"),
        (["--after", "A#b", "--checkpoint", ".", "--state-dir", "."], "--checkpoint is for Spark"),
        (["--after", "A#b", "--state-dir", ".", "--conf", "a=b"], "--conf is for Spark"),
        (["--after", "A#b", "--state-dir", ".", "--jar", "."], ". has no application state"),
        (["--after", "A#b", "--state-dir", ".", "--jar", "none.jar"], "none.jar' does not exist"),
    ],
)
def test_what_is_wrong_is_said_in_one_sentence(arguments, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(headgate, ["rehearse", *arguments])
    assert done.exit_code == 2
    assert said in " ".join(done.stderr.split()).replace(f"{tmp_path} has", ". has")
    assert "Traceback" not in done.output


LOST = StreamsVerdict(
    outcome=EngineOutcome.RESUMES,
    rows_in=1,
    rows_out=0,
    stores=(StoreRows(store="counts", fate=StoreFate.LOST, before=2),),
)


def test_a_lost_store_is_said_in_words_and_weakens_what_both_agree_on():
    assert headline(LOST) == "Kafka Streams starts and resumes"
    assert ("Store", "counts: 2 keys lost: the new version doesn't read this store") in list(
        facts(LOST)
    )
    judged = judge_streams(Report(), LOST)
    assert judged.agreement is Agreement.OPEN
    assert "no longer reads these state stores: counts." in judged.why
    question = Finding(rule="X", outcome=Outcome.UNKNOWN, why="", source="", question="?")
    judged = judge_streams(Report(findings=(question,)), LOST)
    assert judged.why.endswith(
        "the new version started and read its input to the end. "
        "It no longer reads these state stores: counts."
    ), "Kafka Streams has no batches"


def test_the_json_begins_as_the_contract_says():
    found = streams_rehearsal_json(Report(), LOST, judge_streams(Report(), LOST))
    contract = ["outcome", "error_class", "message", "rows_in", "rows_out"]
    assert list(found["engine"])[:5] == contract
    assert found["engine"]["state"][0]["fate"] == "lost"
    assert json.loads(json.dumps(found)) == found
