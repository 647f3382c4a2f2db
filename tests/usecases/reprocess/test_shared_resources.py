"""Two pipelines that change the same consumer group, topic or folder: one run after the other."""

from __future__ import annotations

from contextlib import closing

import pytest

from headgate.reprocess.plan import Plan, dump_plan, folder_resource
from headgate.store import open_store
from headgate.store.rows import NewRun
from headgate.usecases.reprocess import rebuild_plan
from support.flat_ports import FlatPorts


class Inspector(FlatPorts):
    def registered(self, pipeline):
        return None

    described = registered


def blockers(tmp_path, monkeypatch, theirs, ours, pipeline="orders"):
    """Of a plan of `billing` while a run of another pipeline waits."""
    plan = Plan(scenario="bounded", pipeline="billing", resources=(ours,))
    monkeypatch.setattr(rebuild_plan, "build_plan", lambda *_a, **_k: plan)
    with closing(open_store(f"sqlite:///{tmp_path / 'db'}")) as store:
        new = NewRun(scenario="bounded", pipeline=pipeline, plan_hash=plan.hash,
                     plan=dump_plan(plan), resources=(theirs,))  # fmt: skip
        run = store.runs.enqueue(new, by="ann", action="apply")
        found = rebuild_plan.fresh_plan(store, Inspector(), "bounded", "billing", {}).blockers
    return [text.replace(run, "RUN").partition(",")[0].partition(": wait")[0] for text in found]


@pytest.mark.parametrize("resource", ["group:app", "topic:totals", "table:shop.public.totals"])
def test_a_run_of_another_pipeline_is_named_with_what_both_change(tmp_path, monkeypatch, resource):
    said = f"run RUN of orders is queued and uses {resource.replace(':', ' ')}"
    assert blockers(tmp_path, monkeypatch, resource, resource) == [said]


def test_what_only_one_changes_is_free(tmp_path, monkeypatch):
    assert blockers(tmp_path, monkeypatch, "group:app", "group:other") == []


def test_the_pipelines_own_run_needs_no_name(tmp_path, monkeypatch):
    found = blockers(tmp_path, monkeypatch, "group:app", "group:app", pipeline="billing")
    assert found == ["run RUN is queued and uses group app"]


@pytest.mark.parametrize("folder", ["/data/out/", "file:/data/out", "file:///data/out"])
def test_a_folder_is_one_however_it_is_written(tmp_path, monkeypatch, folder):
    ours = folder_resource("/data/out")
    said = "run RUN of orders is queued and uses folder /data/out"
    assert blockers(tmp_path, monkeypatch, folder_resource(folder), ours) == [said]
