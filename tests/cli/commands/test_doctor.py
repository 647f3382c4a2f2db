"""`headgate doctor`: lines for people, JSON for programs, and the exit code of the worst."""

import json

import pytest

from headgate.cli.main import headgate


@pytest.fixture
def run(tmp_path, capsys):
    def call(text, *words):
        config = tmp_path / "headgate.toml"
        config.write_text(text)
        with pytest.raises(SystemExit) as ended:
            headgate.main(["--config", str(config), "doctor", *words], prog_name="headgate")
        return ended.value.code, capsys.readouterr().out

    return call


@pytest.mark.kafka
def test_all_is_well(run, broker):
    code, out = run(f'[kafka]\nbootstrap_servers = "{broker}"\n')
    assert code == 0
    assert f"ok    kafka: {broker}" in out
    assert "note  worker:" in out and " -> " in out


def test_json_of_a_cluster_that_does_not_answer(run):
    code, out = run('[kafka]\nbootstrap_servers = "127.0.0.1:1"\n', "--format", "json")
    found = json.loads(out)
    assert (code, found["schema"]) == (4, 1)
    (kafka,) = [c for c in found["checks"] if c["name"] == "kafka"]
    assert set(kafka) == {"name", "state", "message", "remedy"}
    assert kafka["state"] == "failed"


def test_a_broken_file(run):
    code, out = run("[kafka\n")
    assert code == 2
    assert "FAIL  configuration:" in out
