"""librdkafka's client settings, as Kafka's Java client wants them."""

from __future__ import annotations

from collections.abc import Mapping

SAME = ("security.protocol", "client.id", "sasl.kerberos.service.name")
MODULES = {
    "PLAIN": "org.apache.kafka.common.security.plain.PlainLoginModule",
    "SCRAM-SHA-256": "org.apache.kafka.common.security.scram.ScramLoginModule",
    "SCRAM-SHA-512": "org.apache.kafka.common.security.scram.ScramLoginModule",
}


def java_config(bootstrap: str, config: Mapping[str, str], *, timeout_ms: int) -> dict[str, str]:
    """Return the Java client's settings: addresses, time limits, TLS by PEM files, SASL login.

    Mechanisms without a user and password (Kerberos, OAuth) are passed on by name only.
    """
    return {
        "bootstrap.servers": bootstrap,
        "request.timeout.ms": str(timeout_ms // 2),
        "default.api.timeout.ms": str(timeout_ms),
        **{key: config[key] for key in SAME if key in config},
        **_sasl(config),
        **_tls(config),
    }


def _sasl(config: Mapping[str, str]) -> dict[str, str]:
    mechanism = config.get("sasl.mechanism") or config.get("sasl.mechanisms")
    if not mechanism:
        return {}
    user, password = config.get("sasl.username"), config.get("sasl.password")
    module = MODULES.get(mechanism.upper())
    if module is None or user is None or password is None:
        return {"sasl.mechanism": mechanism}
    login = f"{module} required username={_quoted(user)} password={_quoted(password)};"
    return {"sasl.mechanism": mechanism.upper(), "sasl.jaas.config": login}


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _tls(config: Mapping[str, str]) -> dict[str, str]:
    """PEM files by path: Java takes a CA's file, and key and certificate in one file."""
    out: dict[str, str] = {}
    if ca := config.get("ssl.ca.location"):
        out |= {"ssl.truststore.type": "PEM", "ssl.truststore.location": ca}
    if text := config.get("ssl.ca.pem"):
        out |= {"ssl.truststore.type": "PEM", "ssl.truststore.certificates": text}
    if (both := config.get("ssl.key.location")) == config.get("ssl.certificate.location") and both:
        out |= {"ssl.keystore.type": "PEM", "ssl.keystore.location": both}
        out |= {k: config[k] for k in ("ssl.key.password",) if k in config}
    if key := config.get("ssl.keystore.location"):
        out |= {"ssl.keystore.type": "PKCS12", "ssl.keystore.location": key}
        out |= {"ssl.keystore.password": config.get("ssl.keystore.password", "")}
    if config.get("ssl.endpoint.identification.algorithm") == "none":
        out["ssl.endpoint.identification.algorithm"] = ""
    return out
