"""`headgate schemas`: exit codes, text and JSON, files, readers and the registry that is away."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from headgate.cli.main import headgate
from support.ports import free_port

CASE = Path(__file__).parents[2] / "cases/spark/kafka_topic_change/before"
TOPIC = "truth_kafka_topic_change_main"


def order(*names: str) -> str:
    fields = [{"name": n, "type": "string"} for n in names]
    return json.dumps({"type": "record", "name": "Order", "fields": fields})


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A topic with a declared schema, read by a real query and by a consumer group."""
    (tmp_path / "old.avsc").write_text(order("k", "v", "d"))
    (tmp_path / "headgate.toml").write_text(
        f'[topics.{TOPIC}]\nschema = "old.avsc"\n'
        f'[[pipeline]]\nname = "counts"\nengine = "spark"\nevidence = ["{CASE}"]\n'
        f'[[pipeline]]\nname = "mailer"\nengine = "consumer-group"\ngroup = "mailer"\n'
        f'topics = ["{TOPIC}"]\n'
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("HEADGATE_CONFIG", raising=False)
    return tmp_path


def run(capsys, *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as ended:
        headgate.main(["schemas", *arguments], prog_name="headgate")
    said = capsys.readouterr()
    return ended.value.code, said.out, said.err


def test_show_lists_fields_and_what_each_reader_takes(folder, capsys):
    code, out, _ = run(capsys, "show", TOPIC, "--format", "json")
    said = json.loads(out)
    assert code == 0 and next(iter(said)) == "schema" and said["schema"] == 1
    assert [f["path"] for f in said["fields"]] == ["k", "v", "d"]
    readers = {r["pipeline"]: r for r in said["readers"]}
    assert readers["counts"]["reads"] == ["k", "v"] and readers["counts"]["unknown"] is None
    assert readers["mailer"]["unknown"]
    code, out, _ = run(capsys, "show", TOPIC)
    assert code == 0 and "counts: k, v" in out


def test_check_names_the_readers_of_the_field_that_goes(folder, capsys):
    (folder / "new.avsc").write_text(order("k", "d"))
    code, out, _ = run(capsys, "check", TOPIC, "--new", "new.avsc", "--format", "json")
    said = json.loads(out)
    assert code == 1 and said["mode"] == "backward" and said["effect"] == "silently_wrong"
    assert [(f["rule"], f["pipeline"], f["path"]) for f in said["findings"]] == [
        ("SCH401", "counts", "v"),
        ("SCH402", "mailer", "v"),
    ]
    assert said["findings"][1]["question"] == "Does the pipeline mailer need the field v?"
    assert [r["reads"] for r in said["readers"][0]["pipelines"]] == ["definite", "unknown"]


def test_an_acceptance_opens_the_gate_for_its_reader_and_its_field_alone(folder, capsys):
    def accepted(rule, pipeline, location, until="2999-01-01"):
        return (
            f'[[accept]]\nrule = "{rule}"\npipeline = "{pipeline}"\nwhere = "{location}"\n'
            f'reason = "agreed"\nuntil = {until}\n'
        )

    def check(*accepts):
        (folder / "headgate.toml").write_text("".join((*accepts, toml)))
        code, out, _ = run(capsys, "check", TOPIC, "--new", "new.avsc", "--format", "json")
        return code, json.loads(out)

    toml = (folder / "headgate.toml").read_text()
    (folder / "new.avsc").write_text(order("k", "d"))
    counts, mailer = accepted("SCH401", "counts", "v"), accepted("SCH402", "mailer", TOPIC)
    code, said = check(counts, mailer)
    assert code == 0 and said["effect"] == "silently_wrong" and said["warnings"] == []
    assert [f["accepted"]["reason"] for f in said["findings"]] == ["agreed", "agreed"]
    code, said = check(accepted("SCH401", "counts", "k"), accepted("SCH402", "counts", "v"))
    assert code == 1 and [f["accepted"] for f in said["findings"]] == [None, None]
    assert "registered pipeline" not in "".join(f["why"] for f in said["findings"])
    assert said["findings"][-1]["why"].count("evidence") <= 1
    code, said = check(accepted("SCH401", "counts", "v", "2020-01-01"), mailer)
    assert code == 1 and "expired on 2020-01-01" in said["warnings"][0]


def test_an_acceptance_of_a_pipeline_says_why_it_does_not_hold_for_a_schema(folder, capsys):
    toml = (folder / "headgate.toml").read_text()
    arguments = ("check", TOPIC, "--new", "new.avsc", "--mode", "full", "--format", "json")
    (folder / "new.avsc").write_text(order("k", "v", "d", "e"))
    (rule,) = {f["rule"] for f in json.loads(run(capsys, *arguments)[1])["findings"]}
    (folder / "headgate.toml").write_text(
        f'[[accept]]\nrule = "{rule}"\npipeline = "counts"\nreason = "agreed"\n'
        f"until = 2999-01-01\n{toml}"
    )
    (warning,) = json.loads(run(capsys, *arguments)[1])["warnings"]
    assert "Replace `pipeline` of the acceptance with `where`" in warning
    assert "headgate diff" not in warning


def test_a_field_that_no_query_reads_leaves_only_the_question(folder, capsys):
    (folder / "new.avsc").write_text(order("k", "v"))
    arguments = ("check", TOPIC, "--new", "new.avsc", "--fail-on", "incompatible,silently_wrong")
    code, out, _ = run(capsys, *arguments)
    assert code == 0 and out.startswith("Unknown: first answer the questions in the findings.")


def test_diff_needs_only_files_and_takes_every_mode(folder, capsys):
    (folder / "new.avsc").write_text(order("k", "v", "d", "e"))
    files = ("--before", "old.avsc", "--after", "new.avsc")
    assert run(capsys, "diff", *files)[0] == 1
    assert run(capsys, "diff", *files, "--mode", "forward")[0] == 0
    assert run(capsys, "diff", *files, "--mode", "full", "--fail-on", "none")[0] == 0
    code, out, _ = run(capsys, "diff", *files, "--mode", "FULL_TRANSITIVE")
    assert code == 1 and "! incompatible · backward · e · SCH102" in out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("diff", "--before", "old.avsc", "--after", "nothing"), "schema file nothing not found"),
        (("diff", "--before", "old.avsc", "--after", "broken"), "broken isn't valid JSON"),
        (("diff", "--before", "old.avsc", "--after", "old.avsc", "--mode", "x"), "Invalid value"),
        (("diff", "--before", "old.avsc", "--after", "old.avsc", "--fail-on", "x"), "expected"),
        (("show", "elsewhere"), "no value schema of elsewhere found"),
        (("show", "elsewhere", "--key"), "no key schema of elsewhere found"),
        (("show", "elsewhere", "--schema", "elsewhere"), "expected TOPIC=FILE"),
        (("check", TOPIC), "--new FILE"),
    ],
)
def test_what_is_wrong_is_one_sentence_and_exit_2(folder, capsys, arguments, said):
    (folder / "broken").write_text("{")
    code, out, err = run(capsys, *arguments)
    assert code == 2 and said in err and not out and "Traceback" not in err


def test_a_registry_that_is_away_is_exit_4_and_no_secret_is_shown(folder, capsys):
    port = free_port()
    (folder / "headgate.toml").write_text(
        f'[schema_registry]\nurl = "http://somebody:hushhush@127.0.0.1:{port}"\n'
    )
    code, _, err = run(capsys, "show", "orders")
    assert code == 4 and f"http://127.0.0.1:{port} does not respond" in err
    assert "hushhush" not in err and err.count("\n") == 1


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ("[schema_registry.config]\ntimeout = 5\n", "needs `url`"),
        ('[schema_registry]\nurl = "http://x"\nurls = "y"\n', "did you mean 'url'?"),
        (
            '[schema_registry]\nurl = "http://x"\nconfig.url = "y"\n',
            "set `url` under [schema_registry]",
        ),
        ('[schema_registry]\nurl = "http://x"\nconfig.nope = "hushhush"\n', "nope"),
        ('[topics."a b"]\nschema = "x"\n', "isn't a valid topic name"),
        ('[topics.a]\nschem = "x"\n', "did you mean 'schema'?"),
    ],
)
def test_what_is_wrong_in_the_configuration_is_said_with_its_place(folder, capsys, config, said):
    (folder / "headgate.toml").write_text(config)
    code, _, err = run(capsys, "show", "orders")
    assert code == 2 and said in err and "hushhush" not in err
