"""Dead letters of a real Kafka Streams application (KIP-1034), redriven until the loop guard."""

import json
import uuid

import pytest

from integration.kafka_streams.streams_application import at_work
from scenes.records import make_topic
from support import dead_letter_topics as dead
from support.waiting import until

pytestmark = pytest.mark.kafka
REASON = "java.lang.IllegalArgumentException"
HANDLER = "org.apache.kafka.streams.errors.LogAndContinueProcessingExceptionHandler"


@pytest.mark.long
def test_a_real_application_s_dead_letters_are_redriven_until_the_guard(
    tmp_path, broker, class_path
):
    letters = f"letters-{uuid.uuid4().hex[:8]}"
    make_topic(broker, letters, 2)
    settings = {
        "processing_exception_handler": HANDLER,
        "errors_dead_letter_queue_topic_name": letters,
    }
    with at_work(tmp_path, broker, class_path, **settings) as app:
        poison = {"topic": app.topic, "value": b"poison", "headers": dead.OWN}
        dead.write(broker, [{**poison, "key": f"k{n}".encode()} for n in range(3)])
        for attempt in (1, 2):
            until(lambda n=3 * attempt: len(dead.read(broker, letters)) == n, "no dead letters")
            file, plan = app.team.plan(
                "app", f"--topic={letters}", "--max-attempts=2", scenario="dead-letters"
            )
            assert plan["impact"]["reasons"] == {REASON: 3 * attempt}
            assert plan["impact"]["conventions"] == {"Kafka Streams": 3 * attempt}
            assert plan["impact"]["records"] == {app.topic: 3}
            assert app.team.run("apply", str(file))["state"] == "done"
            back = [m for m in dead.read(broker, app.topic) if dead.own_headers(m)]
            newest = [m for m in back if dead.own_headers(m)["attempts"] == str(attempt)]
            assert sorted(m.key() for m in newest) == [b"k0", b"k1", b"k2"]
            assert all(m.value() == b"poison" and m.headers()[:2] == dead.OWN for m in newest)
            # The key is where the record failed first, however often it was redriven.
            first = {m.key(): m.offset() for m in dead.read(broker, app.topic)[-3 * attempt - 3 :]}
            keys = {m.key(): dead.own_headers(m)["key"] for m in back}
            assert set(first) == set(keys) and len(set(keys.values())) == 3
        until(lambda: len(dead.read(broker, letters)) == 9, "no third dead letters")
        blocked = app.team.plan(
            "app", f"--topic={letters}", "--max-attempts=2", scenario="dead-letters", code=3
        )[1]
        said = blocked["impact"]["dead_letters"]
        assert (said["at_max_attempts"], said["already_redriven"], said["to_redrive"]) == (3, 6, 0)
        assert "--max-attempts" in json.dumps(blocked["blockers"])
