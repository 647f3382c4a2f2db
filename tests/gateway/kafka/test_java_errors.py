"""What a rejected call of Kafka's Java client means: plans make the calls that change nothing."""

import pytest

from headgate.errors import StepError, UnreachableError
from headgate.gateway.kafka.java_admin_client import JavaAdmin


@pytest.mark.parametrize(("changes", "kind"), [(True, StepError), (False, UnreachableError)])
def test_only_a_rejected_change_fails_a_step(changes, kind):
    admin = JavaAdmin("localhost:1", class_path="")
    error = admin._translate("InvalidRequestException: no", changes=changes)
    assert type(error) is kind and "rejected the request" in str(error)
