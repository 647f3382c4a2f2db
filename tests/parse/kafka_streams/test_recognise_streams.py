"""The files beside a description: what they are, what they say, and where they disagree."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from headgate.errors import EvidenceError
from headgate.model.evidence_kinds import EvidenceKind
from headgate.model.kafka_streams import InternalKind
from headgate.parse.evidence.assemble import Gathered, assemble
from headgate.parse.evidence.recognise import recognise
from headgate.parse.evidence.version_file import dump, fingerprint, load

ROOT = Path(__file__).parents[2]
DESCRIBED = (ROOT / "golden/streams/4.3.1/aggregate_named.txt").read_bytes()
CONFIG = {"application.id": "app", "num.stream.threads": 2, "sasl.jaas.config": "x password=geheim"}
INTERNAL = [
    {
        "name": "app-counts-changelog",
        "partitions": 2,
        "configs_set_on_topic": {"cleanup.policy": "compact"},
        "configs_effective": {"cleanup.policy": "compact", "retention.ms": "604800000"},
        "begin_offsets": [0, 0],
        "end_offsets": [6, 2],
    },
    {"name": "app-by-value-repartition", "partitions": 2, "configs_set_on_topic": {}},
]
LOG = """\
2026-01-02 03:04:05 INFO StreamsConfig:371 - StreamsConfig values:
\tapplication.id = app
\tapplication.server =
\tcommit.interval.ms = 30000
\tgroup.protocol = streams
\tsasl.jaas.config = [hidden]
\tstate.cleanup.delay.ms = 600000
\tupgrade.from = null

2026-01-02 03:04:05 INFO KafkaStreams - started
"""


def piece(data, path="x"):
    raw = data if isinstance(data, bytes) else data.encode() if isinstance(data, str) else None
    return recognise(raw if raw is not None else json.dumps(data).encode(), path=path)


def read(*data):
    return assemble(Gathered(pieces=[piece(d, f"file{i}") for i, d in enumerate(data)]))


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (DESCRIBED, EvidenceKind.DESCRIBE),
        (CONFIG, EvidenceKind.STREAMS_CONFIG),
        ({"processing.guarantee": "exactly_once_v2", "num.stream.threads": 1},
         EvidenceKind.STREAMS_CONFIG),
        ("# mine\napplication.id=app\ngroup.protocol = streams\n", EvidenceKind.STREAMS_CONFIG),
        (LOG, EvidenceKind.STREAMS_CONFIG),
        (INTERNAL, EvidenceKind.INTERNAL_TOPICS),
        ({"in": 2, "in2": 4}, EvidenceKind.INPUT_TOPICS),
    ],
    ids=["describe", "config", "config without id", "properties", "log", "internal", "inputs"],
)  # fmt: skip
def test_files_are_told_by_their_content(data, kind):
    assert piece(data).kind is kind


@pytest.mark.parametrize(
    "data",
    [{"in": 0}, {"in": "2"}, {"in": True}, {"a b": 1}, {"group.id": "x"}, "a=b\nc=d\n",
     [{"name": "x"}], [{"name": 1, "partitions": 1, "begin_offsets": []}]],
)  # fmt: skip
def test_what_only_resembles_them_is_none(data):
    assert piece(data) is None


def test_spark_settings_stay_what_they_were():
    assert piece({"spark.sql.shuffle.partitions": 2}).kind is EvidenceKind.SETTINGS


def test_pieces_complete_each_other_and_secrets_are_masked():
    version = read(DESCRIBED, CONFIG, INTERNAL, {"in": 2})
    app = version.streams
    assert app.application_id == version.name == "app"
    assert app.config["num.stream.threads"] == "2"
    assert "geheim" not in repr(version)
    assert app.protocol == "classic"
    assert app.inputs == {"in": 2}
    changelog, repartition = sorted(app.internal, key=lambda t: t.kind.value)
    assert (changelog.kind, changelog.end_offsets) == (InternalKind.CHANGELOG, (6, 2))
    assert repartition.kind is InternalKind.REPARTITION
    store = next(n for n in version.topology.nodes if n.operator == "state_store")
    assert store.details["internal_topic"] == "app-counts-changelog"
    assert store.details["partitions"] == 2
    assert store.details["topic_configs"] == {
        "cleanup.policy": "compact",
        "retention.ms": "604800000",
    }
    joint = next(n for n in version.topology.nodes if n.operator == "repartition")
    assert joint.details["internal_topic"] == "app-by-value-repartition"
    assert version.warnings == ()


def test_a_log_says_all_settings_and_that_it_does():
    app = read(DESCRIBED, LOG).streams
    assert app.config_is_whole
    assert app.protocol == "streams"
    assert app.config == {
        "application.id": "app",
        "application.server": "",
        "commit.interval.ms": "30000",
        "group.protocol": "streams",
        "sasl.jaas.config": "********",
        "state.cleanup.delay.ms": "600000",
    }


def test_one_log_may_hold_settings_and_description():
    app = read(LOG.encode() + DESCRIBED).streams
    assert app.application_id == "app"
    assert [s.name for s in app.stores] == ["counts"]


def test_without_an_application_id_the_names_lack_it_and_a_warning_says_so():
    version = read(DESCRIBED)
    assert [s.changelog for s in version.streams.stores] == ["counts-changelog"]
    assert version.streams.expected_topics() == {}
    assert any("application id" in w for w in version.warnings)


def test_lists_of_internal_topics_that_differ_are_said():
    more = [{**t, "partitions": 3} for t in INTERNAL]
    said = "internal topic app-by-value-repartition has 2 partitions in file2, but 3 in file3"
    assert f"{said}: Headgate uses 2" in read(DESCRIBED, CONFIG, INTERNAL, more).warnings


def test_without_a_description_the_version_says_what_is_missing():
    version = read(CONFIG, INTERNAL)
    assert not version.streams.described
    assert version.topology.nodes == ()
    assert version.sources is None
    assert any("no description" in w for w in version.warnings)


def test_contradictions_are_said():
    other = DESCRIBED.replace(b"counts", b"sums")
    warnings = read(
        DESCRIBED, other, CONFIG, {"application.id": "b"}, {"in": 2}, {"in": 3}
    ).warnings
    assert any("Headgate uses file0 and ignores file1" in w for w in warnings)
    said = "setting application.id is app in file2, but b in file3: Headgate uses app"
    assert said in warnings
    said = "input topic in has 2 partitions in file4, but 3 in file5: Headgate uses 2"
    assert said in warnings
    orphan = [*INTERNAL, {**INTERNAL[0], "name": "app-old-changelog"}]
    said = read(DESCRIBED, CONFIG, orphan).warnings
    assert any(
        "no store or repartition for the internal topics app-old-changelog" in w for w in said
    )


def test_an_empty_list_of_internal_topics_says_that_there_are_none():
    assert read(DESCRIBED, CONFIG, []).streams.internal == ()
    assert read(DESCRIBED, CONFIG).streams.internal is None


@pytest.mark.parametrize("data", [[], {"a": 1}])
def test_what_only_completes_a_description_is_no_evidence_alone_or_beside_spark(data):
    with pytest.raises(
        EvidenceError, match=r"file0 isn't enough evidence: add the output of Topology#describe\(\)"
    ):
        read(data)
    plan = (ROOT / "golden/spark/agg_add_column/before/explain.txt").read_bytes()
    said = (
        "file0 was not read: it looks like a list of topics, which is evidence only of Kafka "
        "Streams applications"
    )
    assert said in read(data, plan).warnings


def test_empty_settings_are_nobodys():
    assert read(DESCRIBED, CONFIG, {}).streams.application_id == "app"


def test_spark_and_streams_together_are_one_sentence():
    plan = (ROOT / "golden/spark/agg_add_column/before/explain.txt").read_bytes()
    with pytest.raises(EvidenceError) as error:
        read(DESCRIBED, plan)
    assert str(error.value) == (
        "file0 is from a Kafka Streams application, but file1 is from a Spark query. A version "
        "has only one engine: pass the evidence of each engine separately"
    )


def test_a_version_file_keeps_everything():
    version = read(DESCRIBED, CONFIG, INTERNAL, {"in": 2})
    back = load(dump(version), source="x")
    assert back.streams == version.streams
    assert dump(back) == dump(version)
    again = assemble(Gathered(pieces=[piece(dump(version), "v"), piece(INTERNAL, "i")]))
    assert again.streams.stores == version.streams.stores
    assert again.topology.nodes == back.topology.nodes


def test_offsets_make_no_other_version_and_settings_do():
    version = read(DESCRIBED, CONFIG, INTERNAL)
    later = [{**INTERNAL[0], "end_offsets": [60, 20]}, INTERNAL[1]]
    assert fingerprint(read(DESCRIBED, CONFIG, later)) == fingerprint(version)
    wider = [{**INTERNAL[0], "partitions": 3}, INTERNAL[1]]
    assert fingerprint(read(DESCRIBED, CONFIG, wider)) != fingerprint(version)
    other = replace(version, streams=replace(version.streams, protocol="streams"))
    assert fingerprint(other) != fingerprint(version)


STARTED = "2026-01-02 03:04:05 INFO KafkaStreams - stream-client [app] Kafka Streams version: {}\n"


def test_a_log_names_the_release():
    version = read(STARTED.format("4.2.1") + LOG, DESCRIBED)
    assert version.engine_version == "4.2.1"
    assert version.streams.application_id == "app"


def test_the_newest_start_in_a_log_counts_and_two_logs_that_differ_are_said():
    both = STARTED.format("3.9.1") + STARTED.format("4.3.1")
    assert read(both.encode() + DESCRIBED).engine_version == "4.3.1"
    version = read(STARTED.format("3.9.1") + LOG, both, DESCRIBED)
    assert version.engine_version == "3.9.1"
    assert any("3.9.1, 4.3.1" in w for w in version.warnings)


def test_without_a_log_the_release_is_not_known():
    assert read(DESCRIBED, {"application.id": "app"}).engine_version is None
