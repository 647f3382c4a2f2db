"""What a checkup finds on checkpoints that Spark wrote and somebody, or an attempt, broke."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from headgate.gateway.checkpoint.folders import tree_hash
from headgate.gateway.checkpoint.repair import make_repaired, read_files
from headgate.model.version import Source
from headgate.reprocess.checkpoint.find_issues import check_checkpoint
from headgate.reprocess.checkpoint.issue import Known

ROOT = Path(__file__).parents[2]
SPARK = ROOT / "cases" / "spark"
WRITTEN = [
    *sorted(SPARK.glob("*/before/checkpoint")),
    *sorted((ROOT / "golden" / "checkpoints").glob("*/checkpoint")),
]
# The next batch of a Kafka query whose new version reads another topic (`kafka_topic_change`).
TOPIC = "truth_kafka_topic_change_main"
OTHER = '{"another":{"0":2}}'


@pytest.fixture
def copy_of(tmp_path):
    """Copies a recorded checkpoint to `ck`, to be broken."""

    def make(case: str) -> Path:
        target = tmp_path / "ck"
        shutil.copytree(SPARK / case / "before" / "checkpoint", target)
        return target

    return make


def looked_at(folder, known=None, sink=None):
    found = read_files(str(folder), str(sink) if sink else None)
    assert found is not None
    return check_checkpoint(found, known or Known())


def paths(looked):
    return [(e.path, e.text is None) for e in looked.edits]


def next_batch(folder, *sources, like=0, batch=1, conf=None):
    """Log a batch as Spark does, with these positions."""
    version, about, *_ = (folder / "offsets" / str(like)).read_text().split("\n")
    said = json.loads(about)
    said["conf"] |= conf or {}
    text = "\n".join([version, json.dumps(said), *sources])
    (folder / "offsets" / str(batch)).write_text(text)
    (folder / "offsets" / f".{batch}.crc").write_bytes(b"crc\0")


@pytest.mark.parametrize("checkpoint", WRITTEN, ids=lambda p: p.parents[1].name)
def test_what_spark_left_by_itself_is_sound(checkpoint):
    assert looked_at(checkpoint).is_sound


def repaired(folder, looked):
    """Make the repaired copy, prove that the original is untouched, and look at the copy."""
    before = tree_hash(folder)
    copy = folder.with_name(".ck.repaired-1")
    make_repaired(folder, copy, looked.edits)
    assert tree_hash(folder) == before
    assert looked_at(copy).is_sound
    return copy


def test_the_batch_of_another_topic_goes_with_its_checksum(copy_of):
    folder = copy_of("kafka_topic_change")
    original = tree_hash(folder)
    next_batch(folder, OTHER)
    looked = looked_at(folder)
    assert [f.code for f in looked.issues] == ["uncommitted"]
    assert f"the last committed batch reads {TOPIC}, but" in looked.issues[0].what
    assert paths(looked) == [("offsets/1", True)]
    assert tree_hash(repaired(folder, looked)) == original


def test_what_a_refused_upgrade_left_goes_with_where_its_batch_began(tmp_path):
    # Spark 4.2.0 left it when a version that reads another topic was refused at its first batch.
    folder = tmp_path / "ck"
    shutil.copytree(ROOT / "golden" / "refused_upgrades" / "other_topic" / "checkpoint", folder)
    looked = looked_at(folder)
    assert paths(looked) == [("offsets/1", True)]
    assert "the last committed batch reads orders-2153ec50, but" in looked.issues[0].what
    copy = repaired(folder, looked)
    assert not (copy / "offsets" / ".1.crc").exists()
    assert (copy / "state" / "0" / "0" / "1.delta").stat().st_nlink == 2


def test_a_batch_like_any_other_stays_unless_it_is_to_go(copy_of):
    folder = copy_of("kafka_topic_change")
    next_batch(folder, f'{{"{TOPIC}":{{"0":5}}}}')
    looked = looked_at(folder)
    assert looked.is_sound and "the query reprocesses the batch" in looked.notes[0]
    asked = looked_at(folder, Known(drop_uncommitted=True))
    assert paths(asked) == [("offsets/1", True)] and asked.issues[0].risk


def test_a_first_batch_that_was_never_completed_is_not_removed(copy_of):
    folder = copy_of("kafka_topic_change")
    for name in (folder / "commits").iterdir():
        name.unlink()
    looked = looked_at(folder, Known(drop_uncommitted=True))
    assert looked.is_sound and not looked.edits
    assert looked.notes[0].startswith("batch 0 is uncommitted")
    assert looked.notes[0].endswith("If the query fails on this batch, use from-scratch")


def test_a_topic_more_is_the_attempts_where_the_query_names_its_topics(copy_of):
    folder = copy_of("kafka_topic_change")
    next_batch(folder, f'{{"{TOPIC}":{{"0":3}},"another":{{"0":2}}}}')
    named = Known(sources=(Source(position=0, format="kafka", topics=(TOPIC,)),))
    assert "reads another" in looked_at(folder, named).issues[0].what
    pattern = Known(sources=(Source(position=0, format="kafka", pattern="truth.*"),))
    assert looked_at(folder, pattern).is_sound and looked_at(folder).is_sound


def test_a_topic_that_was_made_anew_is_no_repair(copy_of):
    folder = copy_of("kafka_topic_recreated_fail")
    [topic] = json.loads((folder / "offsets" / "0").read_text().split("\n")[2])
    next_batch(folder, f'{{"{topic}":{{"0":2}}}}')
    looked = looked_at(folder)
    assert not looked.issues and looked.left[0].scenario == "new-checkpoint"
    assert "decreases: 3 after batch 0, but 2" in looked.left[0].what


def test_a_batch_with_other_shuffle_partitions_goes(copy_of):
    folder = copy_of("conf_shuffle_partitions_offsetlog_v2")
    next_batch(folder, '0:{"logOffset":1}', conf={"spark.sql.shuffle.partitions": "5"})
    (folder / "sources" / "0" / "1").write_text((folder / "sources" / "0" / "0").read_text())
    looked = looked_at(folder)
    assert "5 shuffle partitions, but the state has 2" in looked.issues[0].what
    assert paths(looked) == [("offsets/1", True), ("sources/0/1", True)]
    repaired(folder, looked)


def test_a_source_more_goes_with_where_it_would_begin(copy_of):
    folder = copy_of("file_union_add_last")
    next_batch(folder, '{"logOffset":1}', '{"logOffset":0}')
    (folder / "sources" / "1").mkdir()
    (folder / "sources" / "1" / "0").write_text('v1\n{"path":"file:///b/1","batchId":0}')
    looked = looked_at(folder)
    assert [f.code for f in looked.issues] == ["uncommitted", "strange-source"]
    assert paths(looked) == [("offsets/1", True), ("sources/1/0", True)]
    repaired(folder, looked)


def entry(path, batch):
    return f'v1\n{{"path":"{path}","timestamp":1,"batchId":{batch}}}'


def files_of(case):
    """Where the recorded query reads, as its stored version says."""
    return Known(sources=(Source(position=0, format="json", path=f"/data/{case}/main/src"),))


def test_files_from_elsewhere_in_a_sources_log_go(copy_of):
    folder = copy_of("ck_delete_sources_dir")
    (folder / "sources" / "0" / "5").write_text(entry("file:///elsewhere/x.json", 5))
    known = files_of("ck_delete_sources_dir")
    looked = looked_at(folder, known)
    assert [f.code for f in looked.issues] == ["poisoned-source"]
    assert "/elsewhere/x.json, which isn't under the source path" in looked.issues[0].what
    assert paths(looked) == [("sources/0/5", True)]
    repaired(folder, looked)
    own = "file:///data/ck_delete_sources_dir/main/src/B%201.json"
    (folder / "sources" / "0" / "5").write_text(entry(own, 5))
    assert looked_at(folder, known).is_sound


def test_a_compacted_entry_goes_only_where_what_it_holds_is_there_as_well(copy_of):
    folder = copy_of("ck_delete_sources_dir")
    (folder / "sources" / "0" / "5.compact").write_text(entry("file:///elsewhere/x.json", 5))
    known = files_of("ck_delete_sources_dir")
    assert paths(looked_at(folder, known)) == [("sources/0/5.compact", True)]
    (folder / "sources" / "0" / "2").unlink()
    looked = looked_at(folder, known)
    assert not looked.edits
    assert "can't remove the compact file of `sources/0`" in looked.left[0].what


def test_a_batch_that_was_not_written_to_its_end_goes(copy_of):
    folder = copy_of("kafka_topic_change")
    (folder / "offsets" / "1").write_bytes(b"")
    assert paths(looked_at(folder)) == [("offsets/1", True)]
    (folder / "offsets" / "1").write_text('v1\n{"batchWatermarkMs":0}\n{"orders":{"0":')
    looked = looked_at(folder)
    assert paths(looked) == [("offsets/1", True)]
    repaired(folder, looked)


def test_what_was_not_read_is_not_taken_for_broken(copy_of):
    folder = copy_of("ck_rewind_3_kafka")
    whole = read_files(str(folder))
    logs = {n for n in whole.files if n.startswith(("offsets/", "commits/"))}
    kept = {n: d for n, d in whole.files.items() if n not in logs}
    assert logs and check_checkpoint(replace(whole, files=kept), Known()).issues == ()


def test_a_torn_commit_makes_its_batch_run_again(copy_of):
    folder = copy_of("ck_delete_last_commit")
    (folder / "commits" / "4").write_bytes(b"")
    looked = looked_at(folder)
    assert paths(looked) == [("commits/4", True)] and "is reprocessed" in looked.issues[0].risk
    repaired(folder, looked)


def test_torn_offsets_of_a_batch_that_is_done_take_it_back(copy_of, tmp_path):
    folder = copy_of("ck_rewind_3_kafka")
    newest = max(int(f.name) for f in (folder / "commits").iterdir() if f.name.isdigit())
    (folder / "offsets" / str(newest)).write_bytes(b"\0\0\0")
    looked = looked_at(folder)
    assert paths(looked) == [(f"commits/{newest}", True), (f"offsets/{newest}", True)]
    repaired(folder, looked)
    (tmp_path / "out" / "_spark_metadata").mkdir(parents=True)
    (tmp_path / "out" / "_spark_metadata" / str(newest)).touch()
    looked = looked_at(folder, sink=tmp_path / "out")
    assert not looked.edits and looked.left[0].scenario == "rewind"


def test_commits_without_offsets_are_taken_back(copy_of):
    folder = copy_of("ck_delete_offsets_keep_commits")
    for batch in (3, 4):
        (folder / "offsets" / str(batch)).unlink()
    looked = looked_at(folder)
    assert ("commits/3", True) in paths(looked) and ("commits/4", True) in paths(looked)
    assert "the query reprocesses 2 batches, starting with batch 3" in looked.issues[0].risk


def test_the_entry_before_the_newest_is_written_anew(copy_of):
    folder = copy_of("ck_rewind_3_kafka")
    newest = max(int(f.name) for f in (folder / "offsets").iterdir() if f.name.isdigit())
    (folder / "offsets" / str(newest - 1)).unlink()
    looked = looked_at(folder)
    assert paths(looked) == [(f"offsets/{newest - 1}", False)]
    copy = repaired(folder, looked)
    same = (copy / "offsets" / str(newest)).read_bytes()
    assert (copy / "offsets" / str(newest - 1)).read_bytes() == same


@pytest.mark.parametrize("broken", [None, b"", b'{"id":'])
def test_metadata_is_written_with_the_id_that_is_known(copy_of, broken):
    folder = copy_of("kafka_topic_change")
    own = json.loads((folder / "metadata").read_text())["id"]
    (folder / "metadata").unlink() if broken is None else (folder / "metadata").write_bytes(broken)
    looked = looked_at(folder)
    assert not looked.edits and "--query-id" in looked.left[0].instead
    # Only Spark 4.2 and later versions need the file.
    assert ("another query id (earlier versions)" in looked.left[0].what) is (broken is None)
    looked = looked_at(folder, Known(query_id=own))
    assert paths(looked) == [("metadata", False)]
    assert json.loads((repaired(folder, looked) / "metadata").read_text()) == {"id": own}


def test_an_id_that_is_no_uuid_is_replaced_because_spark_reads_none(copy_of):
    folder = copy_of("kafka_topic_change")
    own = json.loads((folder / "metadata").read_text())["id"]
    assert not looked_at(folder).edits
    (folder / "metadata").write_text('{"id":"orders"}')
    looked = looked_at(folder, Known(query_id=own))
    assert paths(looked) == [("metadata", False)]
    assert "has the id 'orders', which isn't a UUID, so the query fails" in looked.issues[0].what
    assert "--query-id" in looked_at(folder).left[0].instead
    assert json.loads((repaired(folder, looked) / "metadata").read_text()) == {"id": own}


def test_what_no_edit_brings_back_names_the_scenario(copy_of):
    folder = copy_of("ck_delete_sources_dir")
    shutil.rmtree(folder / "sources" / "0")
    (folder / "sources" / "0").mkdir()
    looked = looked_at(folder)
    assert [(f.code, f.scenario) for f in looked.left] == [("no_source_log", "new-checkpoint")]


def golden(tmp_path, name):
    target = tmp_path / "ck"
    shutil.copytree(ROOT / "golden" / "checkpoints" / name / "checkpoint", target)
    return target


def test_state_that_is_gone_is_for_rewind(tmp_path):
    folder = golden(tmp_path, "two_operators")
    (folder / "state" / "1" / "3" / "2.zip").unlink()
    looked = looked_at(folder)
    assert [(f.code, f.scenario) for f in looked.left] == [("state_version_gone", "rewind")]


def test_a_commit_that_names_states_checkpoints_can_not_be_run_again(tmp_path):
    folder = golden(tmp_path, "rocksdb_ids")
    newest = max(int(f.name) for f in (folder / "commits").iterdir() if f.name.isdigit())
    (folder / "commits" / str(newest)).write_bytes(b"")
    looked = looked_at(folder)
    assert not looked.edits and looked.left[0].scenario == "rewind"


def test_several_things_are_repaired_one_after_the_other(copy_of):
    folder = copy_of("kafka_topic_change")
    own = json.loads((folder / "metadata").read_text())["id"]
    original = tree_hash(folder)
    (folder / "metadata").write_bytes(b"")
    next_batch(folder, OTHER)
    looked = looked_at(folder, Known(query_id=own))
    assert [f.code for f in looked.issues] == ["metadata", "uncommitted"]
    assert tree_hash(repaired(folder, looked)) == original
