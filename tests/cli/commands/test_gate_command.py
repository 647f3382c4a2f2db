"""`headgate gate` without Spark: applications of Kafka Streams, registrations, and bad input."""

import json
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from click.testing import CliRunner

from headgate.cli.main import headgate
from headgate.model.version import Code, Engine, Version
from headgate.parse.evidence.version_file import dump
from headgate.usecases.evidence.read_version import read_version

CASE = Path(__file__).parents[2] / "cases/kafka_streams/U02b_insert_filter_unnamed_groupby"
TOML = """
[[pipeline]]
name = "shop"
engine = "kafka-streams"
group = "shop"
jar = "shop.jar"
evidence = ["topology/describe.txt"]

[[pipeline]]
name = "billing"
engine = "consumer-group"
group = "billing"
inputs = ["billing/*.py"]
"""


def text(side):
    return (CASE / side / "describe.txt").read_text()


@pytest.fixture
def shop(clone):
    clone.file("headgate.toml", TOML)
    clone.file("topology/describe.txt", text("before"))
    clone.file("shop.jar", b"\x00one")
    clone.file("billing/main.py", "")
    clone.commit()
    return clone


def run(*arguments, base="HEAD"):
    return CliRunner().invoke(headgate, ["gate", "--base", base, *arguments])


def asked(*arguments, base="HEAD"):
    result = run("--format", "json", *arguments, base=base)
    found = json.loads(result.stdout)
    return result.exit_code, {p["pipeline"]: p for p in found["pipelines"]}, found


def test_nothing_changes(shop):
    code, found, whole = asked()
    assert (code, whole["outcome"], whole["base"]) == (0, "resumes", shop.git("rev-parse", "HEAD"))
    assert {p["changed"] for p in found.values()} == {False}
    assert run().stdout.startswith("No changes. No registered pipeline changed.")


def test_a_changed_description_is_judged_by_the_rules(shop):
    shop.file("topology/describe.txt", text("after"))
    shop.file("shop.jar", b"\x00two")
    code, found, whole = asked()
    one = found["shop"]
    assert code == 1 and whole["outcome"] == one["outcome"]
    assert one["outcome"] in ("silently_wrong", "refuses")
    assert one["compared_with"] == "base" and one["report"]["findings"]
    assert one["changes"] == ["shop.jar changed", "topology/describe.txt changed"]
    assert one["command"] == f"headgate plan {one['scenario']} shop"
    assert list(found) == ["shop", "billing"]
    assert run("--fail-on", "none").exit_code == 0


def test_a_changed_jar_with_the_old_description_is_unknown(shop):
    shop.file("shop.jar", b"\x00two")
    code, found, _ = asked()
    assert (code, found["shop"]["outcome"]) == (1, "unknown")
    assert "Is the description still the output" in found["shop"]["questions"][0]
    assert asked("--fail-on", "refuses")[0] == 0


def test_a_changed_consumer_group_is_unknown_and_not_skipped(shop):
    shop.file("billing/main.py", "x = 1")
    code, found, _ = asked()
    assert (code, found["billing"]["outcome"]) == (1, "unknown")
    assert "no versions of consumer groups" in found["billing"]["error"]


def test_an_application_without_a_description_is_unknown(shop):
    (shop.folder / "topology/describe.txt").unlink()
    shop.file("headgate.toml", TOML.replace('evidence = ["topology/describe.txt"]\n', ""))
    code, found, _ = asked()
    assert (code, found["shop"]["outcome"]) == (1, "unknown")
    assert "write the output of Topology#describe() to a file" in found["shop"]["error"]


def test_a_baseline_wins_over_the_base_and_is_taken_from_it(shop):
    old = dump(read_version([str(CASE / "before")]))
    shop.file("topology/describe.txt", text("after"))
    shop.file("baselines/shop.headgate.json", old)
    shop.commit()
    # The base has the new code already; what runs is the older baseline.
    shop.file("shop.jar", b"\x00two")
    shop.file("topology/describe.txt", text("after") + "\n")
    shop.file("baselines/shop.headgate.json", dump(read_version([str(CASE / "after")])))
    _, found, _ = asked()
    one = found["shop"]
    assert one["compared_with"] == "baseline" and one["old"] == "baselines/shop.headgate.json"
    assert one["outcome"] in ("silently_wrong", "refuses")
    assert one["warnings"] == [
        "This change also edits baselines/shop.headgate.json. The comparison uses the file of the "
        "base."
    ]


def test_the_running_version_of_the_store_wins_over_the_base(shop):
    stored = CliRunner().invoke(
        headgate, ["capture", str(CASE / "before"), "--pipeline", "shop"], catch_exceptions=False
    )
    assert stored.exit_code == 0, stored.stderr
    shop.file("shop.jar", b"\x00two")
    shop.file("topology/describe.txt", text("after"))
    one = asked()[1]["shop"]
    assert (one["compared_with"], one["old"]) == ("running", "shop")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b'{"schema": 1, "kind": "headgate-version", "version"', "damaged version file"),
        (dump(Version(engine=Engine.SPARK)), "is a version of spark, but headgate.toml registers"),
    ],
)
def test_a_baseline_that_can_not_be_used_is_unknown(shop, content, said):
    shop.file("shop.headgate.json", content)
    shop.commit()
    shop.file("shop.jar", b"\x00two")
    one = asked()[1]["shop"]
    assert one["outcome"] == "unknown" and said in one["error"]


def test_two_baselines_are_none(shop):
    for folder in ("a", "b"):
        shop.file(f"{folder}/shop.headgate.json", b"{}")
    shop.commit()
    shop.file("shop.jar", b"\x00two")
    assert "several baselines: a/shop.headgate.json, b/" in asked()[1]["shop"]["error"]


def test_removed_renamed_and_new_pipelines_are_one_sentence_each(shop):
    changed = TOML.replace('name = "shop"', 'name = "store"').replace("billing", "mailing")
    shop.file("headgate.toml", changed)
    shop.file("mailing/a.py", "")
    code, found, _ = asked("--fail-on", "refuses")
    assert code == 0
    assert {n: p["change"] for n, p in found.items()} == {
        "mailing": "new",
        "billing": "removed",
        "store": "renamed",
    }
    renamed = "Renamed from shop. The pipeline's code and settings didn't change."
    assert found["store"]["reason"] == renamed
    assert found["billing"]["reason"].startswith("The pipeline was removed from headgate.toml")
    assert found["mailing"]["reason"].startswith("The pipeline is new, so there is no old version")


def test_a_moved_group_is_a_question(shop):
    shop.file("headgate.toml", TOML.replace('group = "shop"', 'group = "shop-2"'))
    one = asked()[1]["shop"]
    assert one["change"] == "changed" and one["outcome"] == "unknown"
    assert "changes the group from shop to shop-2" in one["questions"][0]


def test_the_comment_has_a_row_for_each_pipeline_and_folds_the_rest(shop):
    shop.file("topology/describe.txt", text("after"))
    out = run("--format", "markdown").stdout
    (row,) = [line for line in out.splitlines() if line.startswith("| ") and "shop" in line]
    assert row.endswith(" | `headgate plan from-scratch shop` |")
    assert "<details><summary>1 pipeline unchanged</summary>\n\n- billing\n" in out
    assert out.splitlines()[2].endswith("Do not deploy: shop.**")


def test_sarif_and_junit_name_the_pipeline_and_its_place(shop):
    shop.file("topology/describe.txt", text("after"))
    (result,) = json.loads(run("--format", "sarif").stdout)["runs"]
    places = [r["locations"][0]["physicalLocation"] for r in result["results"]]
    assert {p["artifactLocation"]["uri"] for p in places} == {"headgate.toml"}
    suites = ET.fromstring(run("--format", "junit").stdout.partition("\n")[2])
    (suite,) = suites
    assert suite.get("name") == "shop" and int(suite.get("failures")) >= 1


@pytest.mark.slow
def test_one_run_writes_several_files(shop, tmp_path):
    shop.file("topology/describe.txt", text("after"))
    names = {form: tmp_path / form for form in ("markdown", "sarif", "junit", "json")}
    result = run(*(f"--write={form}={path}" for form, path in names.items()))
    assert result.exit_code == 1 and result.stdout.startswith("Wrong results.")
    for form, path in names.items():
        assert path.read_text() == run("--format", form).stdout


def test_a_working_tree_is_left_as_it_was(shop):
    shop.file("topology/describe.txt", text("after"))
    before = shop.git("status", "--porcelain")
    run()
    assert shop.git("status", "--porcelain") == before
    assert len(shop.git("worktree", "list").splitlines()) == 1


@pytest.mark.parametrize(
    ("arguments", "base", "said"),
    [
        ((), "nowhere", "'nowhere' isn't a commit of this clone"),
        (("--fail-on", "all"), "HEAD", "expected `none`, or a comma-separated list"),
        (("--write", "html=a"), "HEAD", "expected FORMAT=FILE. FORMAT is one of: markdown, sarif"),
        (("--write", "junit=no/a"), "HEAD", "the folder of no/a doesn't exist"),
        (("--twin", "maybe"), "HEAD", "'maybe' is not one of"),
    ],
)
def test_bad_input_is_exit_2(shop, arguments, base, said):
    result = run(*arguments, base=base)
    assert result.exit_code == 2 and said in result.stderr and not result.stdout


def test_without_a_registry_it_says_so(clone):
    result = run()
    assert result.exit_code == 2 and "headgate.toml not found in this folder" in result.stderr


def captured(shop, where="topology"):
    """Capture a baseline of the files in the clone, and commit it."""
    done = CliRunner().invoke(headgate, ["capture", where, "-o", "shop.headgate.json"])
    assert done.exit_code == 0, done.stderr
    shop.commit()


def with_method(shop, tracked=True):
    entry = 'jar = "shop.jar"\nentry_point = "com.acme.Shop#topology"'
    shop.file("headgate.toml", TOML.replace('jar = "shop.jar"', entry))
    if not tracked:
        shop.file(".gitignore", "shop.jar\n")
        shop.git("rm", "-q", "--cached", "shop.jar")
    shop.file("src/Shop.java", "1")
    shop.commit()


OTHER = "may have different code"


@pytest.mark.parametrize("tracked", [True, False])
def test_a_captured_description_knows_its_commit(shop, tracked):
    with_method(shop, tracked)
    captured(shop)
    shop.file("topology/describe.txt", text("after"))
    shop.file("shop.jar", b"\x00two")
    one = asked()[1]["shop"]
    assert one["compared_with"] == "baseline"
    assert one["twin"].startswith("No twin run: ") and OTHER not in one["twin"]


@pytest.mark.parametrize(
    ("path", "tracked"), [("topology/describe.txt", True), ("src/Shop.java", False)]
)
def test_a_description_of_other_code_gets_no_twin_run(shop, path, tracked):
    with_method(shop, tracked)
    captured(shop)
    shop.file(path, text("after"))
    shop.commit()
    shop.file("topology/describe.txt", text("before") + "\n")
    assert f"{OTHER}, because the version was captured from commit" in asked()[1]["shop"]["twin"]


def test_a_bad_jar_of_the_base_is_named_without_the_scratch_folder(shop):
    with_method(shop)
    shop.file("shop.jar", b"\x00two")
    said = asked()[1]["shop"]["twin"]
    assert said.startswith("No twin run: shop.jar of the base commit can't be read as a jar")


def test_progress_and_report_count_the_same_pipelines(shop):
    more = '[[pipeline]]\nname = "new"\nengine = "consumer-group"\ngroup = "n"\ninputs = ["n/*"]\n'
    shop.file("headgate.toml", TOML.partition('[[pipeline]]\nname = "billing"')[0] + more)
    result = run()
    assert "2 of 3 pipelines changed" in result.stderr
    assert "2 of 3 pipelines changed" in result.stdout


def test_a_version_without_a_commit_says_how_to_capture_it(shop):
    with_method(shop)
    shop.file("shop.headgate.json", dump(read_version([str(CASE / "before")])))
    shop.commit()
    shop.file("topology/describe.txt", text("after"))
    said = "in a clone of the deployed commit, run `headgate capture topology/describe.txt`"
    assert f"the version records no commit: {said}" in asked()[1]["shop"]["twin"]


def test_a_capture_knows_its_commit_but_the_fingerprint_does_not():
    from headgate.parse.evidence.version_file import fingerprint, load

    plain = Version(engine=Engine.SPARK)
    coded = Version(engine=Engine.SPARK, code=Code(entry_point="a:b", commit="0" * 40))
    assert load(dump(coded), source="x").code == coded.code
    assert fingerprint(plain) == fingerprint(coded)
