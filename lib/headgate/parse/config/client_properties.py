"""Read a file of client properties, as Kafka's own tools take it, into librdkafka's settings.

Kafka's Java clients and librdkafka name most settings alike; logins and key stores they don't.
Settings that mean nothing to an administrator's connection are left out, as Kafka's tools do.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from headgate.errors import ParseError

SAME = (
    *("security.protocol", "client.id", "sasl.kerberos.service.name"),
    *("ssl.key.password", "ssl.cipher.suites"),
)
_JAAS = re.compile(
    r"\b(?P<key>username|password)\s*=\s*(?P<q>[\"'])(?P<value>(?:\\.|(?!(?P=q)).)*)(?P=q)"
)
_PEM = "PEM"


def parse(text: str, *, source: str) -> dict[str, str]:
    """Return librdkafka's settings; ParseError names the line and what it can't mean here."""
    given = dict(_lines(text, source))
    values = {key: value for key, (value, _) in given.items()}
    return {
        **{key: values[key] for key in SAME if key in values},
        **_sasl(values),
        **_trust(given, source),
        **_key(given, source),
        **_endpoint(values),
    }


def _lines(text: str, source: str) -> Iterator[tuple[str, tuple[str, int]]]:
    """Yield each setting with its value and line; a backslash at a line's end continues it."""
    pending, first = "", 0
    for number, raw in enumerate(text.splitlines(), start=1):
        line = raw.strip() if not pending else pending + raw.strip()
        if not pending:
            first = number
        if not line or line[0] in "#!":
            continue
        if line.endswith("\\") and not line.endswith("\\\\"):
            pending = line[:-1]
            continue
        pending = ""
        key, sign, value = _split(line)
        if not sign:
            # The text may be a part of a secret.
            raise ParseError(
                "the line doesn't have the form KEY=VALUE: correct the line",
                source=source,
                line=first,
            )
        yield key, (_unescaped(value), first)


def _split(line: str) -> tuple[str, str, str]:
    found = re.match(r"(?P<key>[^\s=:]+)\s*(?P<sign>[=:]|\s)\s*(?P<value>.*)$", line)
    return (found["key"], found["sign"], found["value"]) if found else (line, "", "")


def _unescaped(value: str) -> str:
    return re.sub(r"\\([\\:=#! ])", r"\1", value)


def _sasl(values: Mapping[str, str]) -> dict[str, str]:
    mechanism = values.get("sasl.mechanism")
    login = {
        m["key"]: re.sub(r"\\(.)", r"\1", m["value"])
        for m in _JAAS.finditer(values.get("sasl.jaas.config", ""))
    }
    found = {f"sasl.{key}": value for key, value in login.items()}
    return {"sasl.mechanism": mechanism, **found} if mechanism else found


def _trust(given: Mapping[str, tuple[str, int]], source: str) -> dict[str, str]:
    if "ssl.truststore.certificates" in given:
        return {"ssl.ca.pem": given["ssl.truststore.certificates"][0].replace("\\n", "\n")}
    if "ssl.truststore.location" not in given:
        return {}
    location, line = given["ssl.truststore.location"]
    if given.get("ssl.truststore.type", ("JKS", 0))[0].upper() != _PEM:
        raise ParseError(
            "Headgate reads only PEM truststores: export the certificates with `keytool -list -rfc "
            "-keystore FILE > ca.pem`, and set ssl.truststore.location to the new file and "
            "ssl.truststore.type=PEM",
            source=source,
            line=line,
        )
    return {"ssl.ca.location": location}


def _key(given: Mapping[str, tuple[str, int]], source: str) -> dict[str, str]:
    if "ssl.keystore.location" not in given:
        return {}
    location, line = given["ssl.keystore.location"]
    kind = given.get("ssl.keystore.type", ("JKS", 0))[0].upper()
    if kind == _PEM:
        return {"ssl.certificate.location": location, "ssl.key.location": location}
    if kind != "PKCS12":
        raise ParseError(
            "Headgate reads only PEM and PKCS12 keystores: convert the keystore with keytool"
            " -importkeystore -deststoretype pkcs12, and set ssl.keystore.type=PKCS12",
            source=source,
            line=line,
        )
    password = given.get("ssl.keystore.password", ("", 0))[0]
    return {"ssl.keystore.location": location, "ssl.keystore.password": password}


def _endpoint(values: Mapping[str, str]) -> dict[str, str]:
    """Java switches the check of host names off by an empty value."""
    if values.get("ssl.endpoint.identification.algorithm", "https") == "":
        return {"ssl.endpoint.identification.algorithm": "none"}
    return {}
