"""Evidence by path, URI and pipeline name."""

import os
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from headgate.errors import EvidenceError, NotFoundError
from headgate.gateway.files.evidence_files import entries
from headgate.model.registered_pipelines import Pipeline, Registry
from headgate.model.version import Engine, Version
from headgate.parse.evidence.version_file import fingerprint
from headgate.store.store import open_store
from headgate.usecases.context import Context, open_context
from headgate.usecases.evidence.read_version import read_version

GOLDEN = Path(__file__).parents[2] / "golden" / "spark"
CASE = GOLDEN / "agg_add_column" / "before"


@pytest.fixture
def context(tmp_path):
    pipelines = (Pipeline(name="orders", engine=Engine.SPARK),)
    url = f"sqlite:///{tmp_path / 'headgate.db'}"
    return Context(Registry(pipelines=pipelines), url, tmp_path)


def test_paths_and_uris_are_alike():
    path, uri = (read_version([p]) for p in (str(CASE), CASE.as_uri()))
    assert path.topology == uri.topology
    assert {e.kind for e in path.evidence} >= {"explain", "plan-json", "checkpoint", "capture"}


def test_a_checkpoint_alone():
    version = read_version([str(CASE / "checkpoint")])
    assert version.progress.last_commit_batch == 0
    assert [o.name for o in version.stateful] == ["stateStoreSave"]
    assert version.stateful[0].stores[0].value_schema.describe() == "count: long not null"


@pytest.mark.parametrize(
    ("wrong", "said"), [("/no/such/file", "not found"), ("nobody", "isn't a file, folder")]
)
def test_what_is_nowhere(wrong, said, context):
    with pytest.raises(EvidenceError, match=said):
        read_version([wrong], context=context)


def test_a_single_file_of_no_known_kind_lists_what_was_tried(tmp_path):
    file = tmp_path / "query.py"
    file.write_text("import os\n")
    with pytest.raises(EvidenceError, match=r"Formats tried: explain text, .*version file"):
        read_version([str(file)])
    with pytest.raises(EvidenceError, match="contains no evidence"):
        read_version([str(tmp_path)])


def test_an_empty_file_is_named_as_such(tmp_path):
    (tmp_path / "plan.txt").write_text(" \n")
    with pytest.raises(EvidenceError, match=r"plan\.txt is empty"):
        read_version([str(tmp_path / "plan.txt")])


def test_files_of_no_known_kind_in_a_folder_are_warnings(tmp_path):
    scan = "FileScan json [k#1] Location: InMemoryFileIndex[file:/in], ReadSchema: struct<k:string>"
    (tmp_path / "plan.txt").write_text(f"== Physical Plan ==\n{scan}\n")
    (tmp_path / "notes.md").write_text("hello\n")
    (tmp_path / "old").mkdir()
    version = read_version([str(tmp_path)])
    names = sorted(w.split(" has ")[0].rpartition("/")[2] for w in version.warnings)
    assert names == ["notes.md", "old (a folder)"]


def test_a_pipelines_name_stands_for_its_stored_version(context):
    with pytest.raises(EvidenceError, match="no version of orders is stored"):
        read_version(["orders"], context=context)
    versions = [Version(engine=Engine.SPARK, query_id=q, name=q) for q in ("q1", "q2")]
    with closing(open_store(context.store_url)) as store:
        for version in versions:
            store.versions.add("orders", version, fingerprint(version))
    assert read_version(["orders"], context=context).query_id == "q2"
    assert read_version(["orders@1"], context=context).query_id == "q1"
    with pytest.raises(NotFoundError):
        read_version(["orders@7"], context=context)


def test_an_existing_path_wins(context, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("orders").write_text("== Physical Plan ==\nFileScan json [k#1]\n")
    assert read_version(["orders"], context=context).sources[0].format == "json"


def test_a_pipe_is_read(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    plan = (CASE / "logical.json").read_bytes()
    with ThreadPoolExecutor(1) as pool:
        pool.submit(pipe.write_bytes, plan)
        assert (
            read_version([str(pipe)]).topology
            == read_version([str(CASE / "logical.json")]).topology
        )


def test_a_number_that_no_version_has_is_no_crash(context):
    with pytest.raises(EvidenceError, match="or pipeline"):
        read_version(["orders@" + "9" * 30], context=context)


def test_a_stored_version_without_a_name_has_its_pipelines(context):
    with closing(open_store(context.store_url)) as store:
        store.versions.add("orders", Version(engine=Engine.SPARK), "f")
    assert read_version(["orders@1"], context=context).name == "orders"


UNREAD = {
    b"\x28\xb5\x2f\xfd...": "zstd data that doesn't start with a complete event",
    b'{"Event":"SparkListenerLogStart","Spark Version":"4.2.0"}\n': (
        "the event log of an application without streaming queries"
    ),
}


def test_no_settings_are_no_evidence(tmp_path):
    (tmp_path / "conf.json").write_text("{}")
    with pytest.raises(EvidenceError, match="has no evidence of a query: add explain text"):
        read_version([str(tmp_path / "conf.json")])
    # A folder is a version, of which nothing else may be known.
    assert read_version([str(tmp_path)]).sources is None
    assert read_version([str(tmp_path / "conf.json"), str(CASE / "checkpoint")]).stateful


@pytest.mark.parametrize(("data", "kind"), UNREAD.items(), ids=UNREAD.values())
def test_evidence_that_says_nothing_is_called_by_its_name(tmp_path, data, kind):
    (tmp_path / "x").write_bytes(data)
    for location in (tmp_path, tmp_path / "x"):
        with pytest.raises(EvidenceError, match=f"x is {kind}"):
            read_version([str(location)])


def test_a_folder_that_may_not_be_listed_is_a_warning(tmp_path, monkeypatch):
    (tmp_path / "plan").write_text("== Physical Plan ==\nFileScan json [k#1]\n")
    (tmp_path / "locked").mkdir()

    def listed(place, relative=""):
        if relative:
            raise EvidenceError("locked may not be read")
        return entries(place)

    monkeypatch.setattr("headgate.usecases.evidence.read_version.entries", listed)
    assert "locked may not be read" in read_version([str(tmp_path)]).warnings


def test_of_many_declared_pipelines_a_few_are_named_and_none_beside_a_path(tmp_path):
    group = '[[pipeline]]\nname = "p{0}"\nengine = "consumer-group"\ngroup = "g{0}"\n'
    (tmp_path / "headgate.toml").write_text("".join(group.format(n) for n in range(14)))
    many = open_context(str(tmp_path / "headgate.toml"))
    with pytest.raises(EvidenceError, match=r"or pipeline \(registered: p0, .*p9, and 4 more\)"):
        read_version(["nobody"], context=many)
    with pytest.raises(EvidenceError) as raised:
        read_version(["/no/such/file"], context=many)
    assert str(raised.value) == "/no/such/file not found: check the path"


def test_progress_alone_draws_the_operators_that_it_names():
    whole, told = read_version([str(CASE)]), read_version([str(CASE / "progress.json")])
    assert {n.id for n in told.topology.nodes} <= {n.id for n in whole.topology.nodes}
    assert "aggregate" in {n.operator for n in told.topology.nodes}
    # Names alone are too little to compare state.
    assert told.stateful is None


def test_a_topology_has_no_queries_to_choose_from():
    cases = Path(__file__).parents[2] / "cases" / "kafka_streams"
    folder = cases / "U01_filter_condition" / "before"
    with pytest.raises(EvidenceError, match="Leave out --query"):
        read_version([str(folder)], query="totals")
