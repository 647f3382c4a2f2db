"""`LATERAL explode(...)` is the same operator as `explode` in a select list."""

from __future__ import annotations

from pathlib import Path

from headgate.usecases.evidence.read_version import read_version

CASE = Path(__file__).parents[3] / "cases" / "spark_pulls_third" / "mails_lateral_explode"


def test_lateral_explode_with_named_columns_is_a_generator() -> None:
    read = {side: read_version([str(CASE / side)]) for side in ("before", "after")}
    for version in read.values():
        assert "explode(recipients)" in [node.label for node in version.topology.nodes]
    assert not any("different operators" in warning for warning in read["after"].warnings)
