"""What headgate.toml registers counts at once: nobody has to capture it first."""

import json
from contextlib import closing
from pathlib import Path

import pytest

from headgate.errors import EvidenceError
from headgate.parse.evidence.version_file import fingerprint
from headgate.parse.kafka_streams.version import NO_ID
from headgate.rules.compare.compare_versions import compare
from headgate.rules.core.report import UpgradeWay
from headgate.store import open_store
from headgate.store.rows import Origin
from headgate.usecases.compare.compare_versions import compare_versions
from headgate.usecases.context import open_context
from headgate.usecases.evidence.read_evidence import read_evidence
from headgate.usecases.evidence.read_version import read_version
from headgate.usecases.reprocess.plan_scenario import plan_scenario
from headgate.usecases.setup.diagnose import State, diagnose
from support.watched_run import tell_run

ROOT = Path(__file__).parents[2]
DESCRIBED = ROOT / "golden" / "streams" / "2.8.2" / "count_named.txt"

OTHER = "7292eab1-7abd-4d19-87f9-01d728701a87"


def registered(folder, text):
    (folder / "headgate.toml").write_text(text)
    return open_context(str(folder / "headgate.toml"))


@pytest.fixture
def application(tmp_path):
    return registered(
        tmp_path,
        f'[[pipeline]]\nname = "counts"\nengine = "kafka-streams"\ngroup = "app"\n'
        f'evidence = ["{DESCRIBED}"]\n',
    )


@pytest.fixture
def query(tmp_path):
    checkpoint = tmp_path / "ck"
    head = {"batchWatermarkMs": 0, "batchTimestampMs": 1, "conf": {}}
    files = {
        "metadata": json.dumps({"id": "9d4a7d3e-0000-4000-8000-000000000001"}),
        "offsets/0": f"v1\n{json.dumps(head)}\n" + json.dumps({"logOffset": 0}),
        "commits/0": 'v1\n{"nextBatchWatermarkMs":0}',
    }
    for name, text in files.items():
        (checkpoint / name).parent.mkdir(parents=True, exist_ok=True)
        (checkpoint / name).write_text(text)
    source = {"relation": "StreamingRelation", "format": "json", "options": {"path": "/in"}}
    sink = {"format": "parquet", "options": {"path": str(tmp_path / "out")}}
    told = {"sources": [{**source, "name": None}], "sink": sink, "output_mode": "append"}
    (tmp_path / "capture.json").write_text(json.dumps(told))
    text = f'[[pipeline]]\nname = "rows"\nengine = "spark"\ncheckpoint = "{checkpoint}"\n'
    text += 'evidence = ["capture.json"]\n'
    return registered(tmp_path, text + '[pipeline.commands]\nstop = "true"\nstart = "true"\n')


def test_a_description_gets_the_registered_application_id(application):
    found = read_evidence(application, "counts")
    assert found.streams.application_id == "app" and NO_ID not in found.warnings


def test_a_plan_knows_the_sink_before_any_capture(query):
    plan = plan_scenario(query, "from-scratch", "rows")
    assert any("file sink" in reason for reason in plan.blockers)


def test_a_watch_tells_the_output_mode_and_the_state_before_any_capture(query, tmp_path):
    of = "9d4a7d3e-0000-4000-8000-000000000001"
    tell_run(tmp_path / "w", ROOT / "cases" / "spark" / "agg_map_add" / "before", query=of)
    text = (tmp_path / "headgate.toml").read_text().replace('evidence = ["capture.json"]', "")
    context = registered(
        tmp_path, text.replace("[pipeline.commands]", 'watch = "w"\n[pipeline.commands]')
    )
    found = read_evidence(context, "rows")
    assert (found.output_mode, bool(found.stateful)) == ("Update", True)


@pytest.mark.parametrize("change", ["before", "after"])
def test_a_run_without_a_batch_is_the_version_before_if_its_plan_is(query, tmp_path, change):
    of = "9d4a7d3e-0000-4000-8000-000000000001"
    recorded = ROOT / "cases" / "spark" / "agg_map_add"
    text = (tmp_path / "headgate.toml").read_text().replace('evidence = ["capture.json"]', "")
    context = registered(
        tmp_path, text.replace("[pipeline.commands]", 'watch = "w"\n[pipeline.commands]')
    )
    tell_run(tmp_path / "w", recorded / "before", query=of)
    known = read_evidence(context, "rows")
    tell_run(tmp_path / "w", recorded / change, query=of, run=2, idle=True)
    tell_run(tmp_path / "w", recorded / change, query=of, run=3, idle=True)
    found = read_evidence(context, "rows")
    assert (fingerprint(found) == fingerprint(known)) is (change == "before")
    report = compare(known, found)
    assert "EVD005" not in {f.rule for f in report.findings}


def test_evidence_that_can_not_be_read_is_a_risk_with_its_remedy(query, tmp_path):
    (tmp_path / "capture.json").unlink()
    plan = plan_scenario(query, "from-scratch", "rows")
    (said,) = [r for r in plan.risks if r.startswith("The registered evidence of rows")]
    assert said.endswith("Correct `evidence` in headgate.toml")


def test_the_remedy_of_a_missing_checkpoint_names_its_key(tmp_path):
    file = tmp_path / "headgate.toml"
    file.write_text(
        '[[pipeline]]\nname = "p"\nengine = "spark"\ncheckpoint = "gone"\nevidence = ["e"]\n'
    )
    plan = plan_scenario(open_context(str(file)), "repair", "p")
    (said,) = [r for r in plan.risks if r.startswith("The registered evidence of p")]
    assert said.endswith("Correct `checkpoint` in headgate.toml")


def test_evidence_of_another_engine_is_an_error(tmp_path):
    text = '[[pipeline]]\nname = "g"\nengine = "consumer-group"\ngroup = "g"\ntopics = ["t"]\n'
    context = registered(tmp_path, text)
    assert read_evidence(context, "g") is None
    text = text.replace('topics = ["t"]', f'topics = ["t"]\nevidence = ["{DESCRIBED}"]')
    with pytest.raises(EvidenceError, match="Correct `evidence` or `engine`"):
        read_evidence(registered(tmp_path, text), "g")


def with_another_step(folder):
    """Describe the application with one stateless processor more."""
    peek = "KSTREAM-PEEK-0000000002"
    told = DESCRIBED.read_text().rstrip()
    first = "--> KSTREAM-AGGREGATE-0000000001"
    told = told.replace(first, f"{first}, {peek}")
    told += f"\n    Processor: {peek} (stores: [])\n      --> none\n"
    told += "      <-- KSTREAM-SOURCE-0000000000\n"
    (folder / "after.txt").write_text(told)
    return folder / "after.txt"


def test_diff_knows_the_registered_application_id(application, tmp_path):
    after = with_another_step(tmp_path)
    report = compare_versions([str(DESCRIBED)], [str(after)], context=application)
    assert "EVD005" not in {f.rule for f in report.findings}
    assert report.upgrade.way is UpgradeWay.ROLLING and report.outcome.word == "resumes"


def test_descriptions_alone_are_judged_and_a_note_asks_for_the_application_id(tmp_path):
    after = with_another_step(tmp_path)
    report = compare_versions([str(DESCRIBED)], [str(after)])
    assert "EVD005" not in {f.rule for f in report.findings}
    assert report.upgrade.way is UpgradeWay.ROLLING and report.outcome.word == "resumes"
    assert NO_ID in report.warnings


def test_an_application_id_of_one_version_makes_no_other_topics(tmp_path):
    config = tmp_path / "config.json"
    config.write_text('{"application.id": "app"}')
    report = compare_versions([str(DESCRIBED), str(config)], [str(with_another_step(tmp_path))])
    assert report.upgrade.way is UpgradeWay.ROLLING and report.outcome.word == "resumes"
    assert any(NO_ID in warning for warning in report.warnings)


def test_what_can_not_be_told_leaves_the_way_of_an_upgrade_open(tmp_path):
    after = with_another_step(tmp_path)
    after.write_text(after.read_text().rstrip()[:-5])
    report = compare_versions([str(DESCRIBED)], [str(after)])
    assert "EVD005" in {f.rule for f in report.findings}
    assert report.upgrade.way is UpgradeWay.UNKNOWN
    assert report.upgrade.steps[0].startswith("Answer first: ")


def test_a_checkpoint_of_another_query_blocks_a_plan(query, tmp_path):
    """The watch reports another query under the pipeline's name, and so does the stored version."""
    told = tell_run(tmp_path / "w", ROOT / "cases" / "spark" / "agg_map_add" / "after", query=OTHER)
    text = (tmp_path / "headgate.toml").read_text().replace('"capture.json"', f'"{told}"')
    context = registered(
        tmp_path, text.replace("[pipeline.commands]", 'watch = "w"\n[pipeline.commands]')
    )
    with closing(open_store(context.store_url)) as store:
        version = read_version([str(told)])
        store.versions.add("rows", version, fingerprint(version), origin=Origin.OBSERVED)
    plan = plan_scenario(context, "from-scratch", "rows")
    assert any("but headgate.watch and the stored version report" in r for r in plan.blockers)
    check = {c.name: c for c in diagnose(str(tmp_path / "headgate.toml"))}["checkpoint of rows"]
    assert check.state is State.FAILED and OTHER in check.message


def test_doctor_fails_where_two_pipelines_use_one_checkpoint(query, tmp_path):
    config = tmp_path / "headgate.toml"
    twin = f'[[pipeline]]\nname = "twin"\nengine = "spark"\ncheckpoint = "{tmp_path}/./ck"\n'
    config.write_text(twin + config.read_text())
    found = {c.name: c for c in diagnose(str(config))}
    for name, other in (("rows", "twin"), ("twin", "rows")):
        check = found[f"checkpoint of {name}"]
        assert check.state is State.FAILED
        assert f"{other} and {name} are registered with the same" in check.message
        assert check.remedy == "give each pipeline its own `checkpoint` in headgate.toml"
