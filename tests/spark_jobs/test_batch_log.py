"""The logs of a checkpoint's copy: an empty batch, and one that is given."""

import json

from headgate.spark_jobs import batch_log


def checkpoint(folder, *, commits, offsets, watermark=5000):
    for name in ("offsets", "commits", "sources/0"):
        (folder / name).mkdir(parents=True)
    for number in offsets:
        about = {"batchWatermarkMs": 1000 * number, "batchTimestampMs": 7, "conf": {"a.b": "2"}}
        text = f'v1\n{json.dumps(about)}\n{{"orders":{{"0":{number + 3}}}}}\n-'
        (folder / "offsets" / str(number)).write_text(text)
    for number in commits:
        text = f'v1\n{{"nextBatchWatermarkMs":{watermark}}}'
        (folder / "commits" / str(number)).write_text(text)
    return folder


def test_an_empty_batch_has_the_positions_of_the_last_commit_and_the_watermark_after_it(tmp_path):
    there = checkpoint(tmp_path, commits=[0, 1], offsets=[0, 1, 2])
    (there / "offsets" / ".2.crc").write_bytes(b"stale")
    assert batch_log.uncommitted(there) == [2]
    assert batch_log.write_empty_batch(there) == 2
    version, about, *sources = (there / "offsets" / "2").read_text().split("\n")
    assert (version, sources) == ("v1", ['{"orders":{"0":4}}', "-"])
    assert json.loads(about)["batchWatermarkMs"] == 5000
    assert json.loads(about)["conf"] == {"a.b": "2"}
    assert json.loads(about)["batchTimestampMs"] > 7
    assert not (there / "offsets" / ".2.crc").exists()


def test_without_a_commit_or_its_positions_there_is_no_empty_batch(tmp_path):
    assert batch_log.write_empty_batch(checkpoint(tmp_path / "a", commits=[], offsets=[0])) is None
    assert batch_log.write_empty_batch(checkpoint(tmp_path / "b", commits=[1], offsets=[2])) is None


def test_a_batch_is_given_with_what_the_sources_listed_for_it(tmp_path):
    source = checkpoint(tmp_path / "new", commits=[0, 1], offsets=[0, 1])
    (source / "sources" / "0" / "1").write_text("v1\nlisted")
    target = checkpoint(tmp_path / "old", commits=[0], offsets=[0])
    (target / "sources" / "0" / "0").write_text("v1\nmine")
    (source / "sources" / "0" / "0").write_text("v1\nother")
    batch_log.give_batch(source, target, 1)
    assert batch_log.uncommitted(target) == [1]
    assert batch_log.positions(target, 1) == batch_log.positions(source, 1) != []
    assert (target / "sources" / "0" / "1").read_text() == "v1\nlisted"
    assert (target / "sources" / "0" / "0").read_text() == "v1\nmine"


def test_two_queries_read_the_same_when_their_places_are_the_same(tmp_path):
    for name, options in {
        "a": {"path": "/in", "maxFilesPerTrigger": "1"},
        "b": {"PATH": "/in"},
        "c": {"path": "/other"},
    }.items():
        (tmp_path / name).mkdir()
        source = {"format": "json", "name": None, "options": options}
        (tmp_path / name / "capture.json").write_text(json.dumps({"sources": [source]}))
    assert batch_log.same_sources(tmp_path / "a", tmp_path / "b")
    assert not batch_log.same_sources(tmp_path / "a", tmp_path / "c")


def test_what_came_after_a_batch_is_taken_back(tmp_path):
    there = checkpoint(tmp_path, commits=[0, 1], offsets=[0, 1, 2])
    (there / "offsets" / ".2.crc").write_bytes(b"")
    assert batch_log.remove_batches_after(there, 1) == ["offsets/2"]
    assert not (there / "offsets" / ".2.crc").exists()
    assert batch_log.remove_batches_after(there, 0) == ["commits/1", "offsets/1"]
    assert batch_log.batches(there, "offsets") == batch_log.batches(there, "commits") == [0]
    assert batch_log.remove_batches_after(there, 0) == []
    assert batch_log.remove_batches_after(there, None) == ["commits/0", "offsets/0"]
