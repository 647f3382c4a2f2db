"""A store whose address needs a variable that isn't set: the base is compared, and it is said."""

from headgate.usecases.gate.gate import gate

TOML = """
[store]
url = "postgresql://${STORE_USER}:${STORE_PASSWORD}@host/headgate"

[[pipeline]]
name = "orders"
engine = "kafka-streams"
group = "orders"
evidence = ["orders.txt"]
"""
TOPOLOGY = """Topologies:
   Sub-topology: 0
    Source: KSTREAM-SOURCE-0000000000 (topics: [orders])
      --> KSTREAM-SINK-0000000001
    Sink: KSTREAM-SINK-0000000001 (topic: {sink})
      <-- KSTREAM-SOURCE-0000000000
"""


def test_the_variables_that_are_not_set_are_named(clone, monkeypatch):
    monkeypatch.delenv("STORE_USER", raising=False)
    monkeypatch.delenv("STORE_PASSWORD", raising=False)
    clone.file("headgate.toml", TOML)
    clone.file("orders.txt", TOPOLOGY.format(sink="paid"))
    clone.commit()
    clone.file("orders.txt", TOPOLOGY.format(sink="billed"))
    (found,) = gate("HEAD").pipelines
    assert found.report is not None
    assert found.warnings == (
        "Headgate compares with the base commit, because the store's URL needs environment "
        "variables that aren't set: STORE_USER, STORE_PASSWORD.",
    )
