"""Client properties as Kafka's tools take them, in librdkafka's words."""

from __future__ import annotations

import pytest

from headgate.errors import ParseError
from headgate.parse.config.client_properties import parse

LOGIN = r"""
# a comment
! another
security.protocol = SASL_SSL
sasl.mechanism: SCRAM-SHA-512
sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required \
    username="ann" \
    password="a \"quoted\" = secret";
ssl.truststore.type=PEM
ssl.truststore.location=/etc/ca.pem
ssl.endpoint.identification.algorithm=
isolation.level=read_committed
no.such.setting=1
"""


def test_a_login_over_tls():
    assert parse(LOGIN, source="f") == {
        "security.protocol": "SASL_SSL",
        "sasl.mechanism": "SCRAM-SHA-512",
        "sasl.username": "ann",
        "sasl.password": 'a "quoted" = secret',
        "ssl.ca.location": "/etc/ca.pem",
        "ssl.endpoint.identification.algorithm": "none",
    }


def test_key_stores():
    pem = parse("ssl.keystore.type=PEM\nssl.keystore.location=/k.pem\n", source="f")
    assert pem == {"ssl.certificate.location": "/k.pem", "ssl.key.location": "/k.pem"}
    text = "ssl.keystore.type=PKCS12\nssl.keystore.location=/k.p12\nssl.keystore.password=x"
    assert parse(text, source="f") == {
        "ssl.keystore.location": "/k.p12",
        "ssl.keystore.password": "x",
    }
    given = parse("ssl.truststore.certificates=-----A\\n-----B", source="f")
    assert given == {"ssl.ca.pem": "-----A\n-----B"}


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("a=1\nssl.truststore.location=/t.jks\n", "f:2: Headgate reads only PEM truststores"),
        ("ssl.keystore.location=/k.jks\n", "f:1: Headgate reads only PEM and PKCS12 keystores"),
        ("security.protocol", "f:1: the line doesn't have the form KEY=VALUE: correct"),
    ],
)
def test_what_cannot_be_read_is_named(text, sentence):
    with pytest.raises(ParseError, match=sentence):
        parse(text, source="f")
