"""What a plan says of effects outside of Kafka, by what headgate.toml says of them."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest

from headgate.model.registered_pipelines import Effects, Pipeline
from headgate.model.version import Engine, Version
from headgate.reprocess.scenarios.shared.common import effect_risks
from support.paper_cluster import PaperCluster, scratch


@dataclass
class Declared(PaperCluster):
    """The cluster on paper, where `shop` is registered with `effects`."""

    effects: Effects | None = None

    def registered(self, pipeline):
        return replace(super().registered(pipeline), effects=self.effects)


def _risks(inspector):
    plan = scratch(inspector, **{"local-state-cleared": ["all"]})
    return [risk for risk in plan.risks if "effects" in risk], plan


def test_external_effects_are_a_risk_of_a_plan_that_reprocesses_records():
    found, plan = _risks(Declared(effects=Effects.EXTERNAL))
    assert plan.impact["total"] and plan.steps
    assert found == [
        'shop has effects outside of Kafka (`effects = "external"`). These effects happen again '
        "for reprocessed records. Before the run, disable the effects or make them idempotent"
    ]


@pytest.mark.parametrize("effects", [None, Effects.IDEMPOTENT])
def test_other_plans_say_nothing_of_them(effects):
    assert _risks(Declared(effects=effects))[0] == []


@pytest.mark.parametrize(
    ("effects", "functions", "said"),
    [
        (None, ("charge",), "user functions (charge) are called"),
        (None, (), None),
        (Effects.IDEMPOTENT, ("charge",), None),
        (Effects.EXTERNAL, ("charge",), None),
    ],
)
def test_functions_may_have_effects_that_nobody_declared(effects, functions, said):
    pipeline = Pipeline(name="orders", engine=Engine.SPARK, effects=effects)
    version = Version(engine=Engine.SPARK, user_functions=functions)
    found = effect_risks(pipeline, version, times="twice more")
    assert [said in risk and "twice more" in risk for risk in found] == ([True] if said else [])
