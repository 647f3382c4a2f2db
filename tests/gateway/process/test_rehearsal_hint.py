"""What a rehearsal that took too long advises: an option only where the caller has one."""

import pytest

from headgate.errors import UnreachableError
from headgate.gateway.spark import rehearsal


@pytest.mark.parametrize(
    ("given", "advice"),
    [({}, "and check this machine's load"), ({"if_slow": "or raise --timeout"}, "raise --timeout")],
)
def test_the_caller_says_what_else_to_do(given, advice, tmp_path, monkeypatch):
    def ended(*_args, hint, **_kwargs):
        raise UnreachableError(f"it did not end in time{hint}")

    monkeypatch.setattr(rehearsal, "run_program", ended)
    monkeypatch.setattr(rehearsal, "joined_jars", lambda: "")
    monkeypatch.setattr(rehearsal, "point_to_itself", lambda _: None)
    with pytest.raises(UnreachableError, match=advice) as told:
        rehearsal.rehearse_query(
            *("module:function", tmp_path / "checkpoint", tmp_path / "out"),
            rehearsal.RehearsalRequest(conf={}),
            importable=(),
            **given,
        )
    assert given or "--timeout" not in str(told.value)
