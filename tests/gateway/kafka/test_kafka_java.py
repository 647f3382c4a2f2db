import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from headgate.errors import UnreachableError
from headgate.gateway.kafka.committed_offsets import alter_offsets
from headgate.gateway.kafka.java_admin_client import JavaAdmin
from headgate.gateway.kafka.java_client_config import java_config
from headgate.gateway.process.jars import broker_class_path
from headgate.model.cluster import GroupType
from support.waiting import PATIENCE, until

pytestmark = pytest.mark.kafka


def test_types_of_groups_and_sizes_of_logs(java_admin, kafka, topic, produce, unique):
    name, group = topic(), unique("group")
    produce(name, ["x" * 1000])
    alter_offsets(kafka, group, {(name, 0): (0, None, None)})
    assert java_admin.group_types()[group] is GroupType.CLASSIC
    assert java_admin.log_sizes()[name, 0] > 1000
    assert java_admin.describe([group, "nowhere"]) == {}


def test_a_quota_of_a_user_is_for_all_its_clients_and_comes_before_that_of_all_users(java_admin):
    def alter(rate, *names):
        # None is the default: all users, or all clients.
        with java_admin.call() as admin:
            quota = java_admin.jvm.org.apache.kafka.common.quota
            entity = quota.ClientQuotaEntity(dict(zip(("user", "client-id"), names, strict=False)))
            change = quota.ClientQuotaAlteration.Op("consumer_byte_rate", rate)
            one = quota.ClientQuotaAlteration(entity, [change])
            admin.alterClientQuotas([one]).all().get()

    def must_be(rate, user="nobody"):
        # A broker tells of a change only once it has heard of it.
        until(lambda: java_admin.read_quota(user) == rate, lambda: java_admin.read_quota(user))

    # So much that it slows no other test.
    every, own = 8e12, 9e12
    assert java_admin.read_quota("nobody") is None
    try:
        alter(every, None)
        must_be(every)
        alter(own, "nobody")
        must_be(own)
        assert java_admin.read_quota("other") == every
        alter(1.0, "nobody", "one-client")
        alter(own, "nobody", None)
        # Each client has so much for itself.
        must_be(None)
    finally:
        for names in [(None,), ("nobody",), ("nobody", "one-client"), ("nobody", None)]:
            alter(None, *names)


@pytest.fixture
def kafka(broker):
    from headgate.gateway.kafka.cluster import Kafka

    return Kafka(broker)


def test_it_listens_on_loopback_only_and_wants_its_token(java_admin):
    from py4j.java_gateway import GatewayParameters, JavaGateway
    from py4j.protocol import Py4JError

    java_admin.group_types()
    port = java_admin._gateway.gateway_parameters.port
    rows = subprocess.run(["ss", "-Hltn"], capture_output=True, text=True).stdout.splitlines()
    (location,) = {row.split()[3] for row in rows if row.split()[3].endswith(f":{port}")}
    assert "127.0.0.1" in location
    stranger = JavaGateway(gateway_parameters=GatewayParameters(port=port, auth_token="guess"))
    with pytest.raises(Py4JError):
        stranger.jvm.java.lang.System.currentTimeMillis()


def test_a_dead_jvm_is_started_again(java_admin):
    java_admin.group_types()
    java_admin._process.kill()
    java_admin._process.wait(PATIENCE)
    assert isinstance(java_admin.group_types(), dict)


def test_it_outlives_the_thread_that_started_it(broker):
    admin = JavaAdmin(broker, class_path=broker_class_path())
    thread = threading.Thread(target=admin.group_types)
    thread.start()
    thread.join()
    # Python's thread ends before the system's, whose end would kill what was tied to it.
    until(lambda: not Path(f"/proc/self/task/{thread.native_id}").exists())
    assert admin._process.poll() is None
    first = admin._process.pid
    admin.group_types()
    assert admin._process.pid == first
    process = admin._process
    admin.close()
    assert process.poll() is not None


PROGRAM = """
import sys, time
from headgate.gateway.kafka.java_admin_client import JavaAdmin
admin = JavaAdmin(sys.argv[1], class_path=sys.argv[2])
admin.group_types()
print(admin._process.pid, flush=True)
time.sleep(60)
"""


def test_it_dies_with_a_parent_that_was_killed(broker):
    words = [sys.executable, "-c", PROGRAM, broker, broker_class_path()]
    parent = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    assert parent.stdout
    jvm = int(parent.stdout.readline())
    parent.send_signal(signal.SIGKILL)
    parent.wait(PATIENCE)
    until(lambda: not _alive(jvm), "the JVM outlives its parent")


def _alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"


def test_nobody_listening_is_our_error():
    admin = JavaAdmin("127.0.0.1:1", class_path=broker_class_path(), timeout=1)
    try:
        with pytest.raises(UnreachableError, match=r"127\.0\.0\.1:1"):
            admin.group_types()
    finally:
        admin.close()


def test_a_login_is_passed_on(secured):
    config = secured.config("reader")
    admin = JavaAdmin(secured.address, config, class_path=broker_class_path())
    try:
        assert isinstance(admin.group_types(), dict)
    finally:
        admin.close()


def test_settings_are_translated():
    config = {"security.protocol": "SASL_SSL", "ssl.ca.location": "/ca.pem", "linger.ms": "5"}
    found = java_config("b:1", config, timeout_ms=8000)
    assert found == {
        "bootstrap.servers": "b:1",
        "request.timeout.ms": "4000",
        "default.api.timeout.ms": "8000",
        "security.protocol": "SASL_SSL",
        "ssl.truststore.type": "PEM",
        "ssl.truststore.location": "/ca.pem",
    }
