"""Lists that are cut say so, and a partition is written as everywhere else."""

import streamlit as st

from headgate.landscape.paths import Reach
from headgate.ui.landscape import panel
from headgate.ui.shared import node_facts


def test_a_list_of_pipelines_without_owner_says_how_many_more_there_are(monkeypatch):
    shown = []
    monkeypatch.setattr(st, "html", shown.append)
    names = tuple(f"p{n}" for n in range(panel.LISTED_NAMES + 3))
    panel._reach(Reach(nodes={}, pipelines=names, unowned=names), "Downstream impact", tell=True)
    said = shown[-1]
    assert f"p{panel.LISTED_NAMES - 1}, and 3 more. Set" in said
    assert f"p{panel.LISTED_NAMES}," not in said


def test_the_offsets_of_a_source_name_topic_and_partition():
    assert "orders[0]" in node_facts._positions({"orders": {"0": 3}}, {"orders": {"0": 7}})
