"""Ask a schema registry that speaks Confluent's API, by confluent-kafka's own client."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from threading import Thread
from typing import Any, TypeVar

from headgate.errors import ConfigError, HeadgateError, NotFoundError, SchemaError, UnreachableError
from headgate.gateway.files.addresses import without_secret
from headgate.model.topic_schema import Mode, RegisteredSchema, SchemaFormat, SchemaText
from headgate.text.secrets import mask_text

T = TypeVar("T")
ANSWER = 8.0
"""Timeout in seconds for the first part and for each next part of a response."""
WHOLE = 20.0
"""Timeout in seconds for the whole response."""
MOST_REFERENCES = 200
_ERRNO = re.compile(r"^\[Errno -?\d+\] ")
_UNKNOWN = "Unknown Schema Registry Error"
_NUMBERS = ("timeout", "max.retries", "retries.wait.ms", "retries.max.wait.ms", "cache.capacity")
_DEFAULTS: dict[str, Any] = {"timeout": ANSWER, "max.retries": 0}


class SchemaRegistry:
    """One registry; it is asked when a method is called, and never written to.

    Every method raises UnreachableError where it does not answer or does not let us in, and
    NotFoundError where it has no such subject. No message shows a setting's value.
    """

    def __init__(self, url: str, config: Mapping[str, str]) -> None:
        self.url = without_secret(url)
        # It logs each retry with its whole address.
        logging.getLogger("httpx2").setLevel(logging.WARNING)
        try:
            from confluent_kafka.schema_registry import SchemaRegistryClient

            self._client = SchemaRegistryClient({"url": url, **_DEFAULTS, **_typed(config)})
        except (ValueError, TypeError, OSError) as error:
            reason = mask_text(_line(error))
            for secret in filter(None, config.values()):
                reason = reason.replace(secret, "…") if len(secret) > 3 else reason
            raise ConfigError(
                "the schema registry client rejects the settings under [schema_registry]: "
                f"{without_secret(reason)}"
            ) from None

    def close(self) -> None:
        """Let go of the connections."""
        with suppress(Exception):
            self._client.close()

    def subjects(self) -> tuple[str, ...]:
        """Return the names of all subjects, sorted."""
        found = self._ask("the list of subjects", self._client.get_subjects)
        with self._asked("the list of subjects"):
            return tuple(sorted(map(str, _listed(found))))

    def level(self) -> str:
        """Return the level that the registry checks new versions by where a subject has none."""
        found = self._ask("the global compatibility level", self._client.get_compatibility)
        return str(found).lower()

    def versions(self, subject: str) -> tuple[RegisteredSchema, ...]:
        """Return every version that is not deleted, oldest first, with what it refers to."""
        found = self._ask(f"subject {subject}", lambda: self._client.get_versions(subject))
        with self._asked(f"subject {subject}"):
            numbers = sorted(map(int, _listed(found)))
        return tuple(self._version(subject, n) for n in numbers)

    def _version(self, subject: str, number: int) -> RegisteredSchema:
        what = f"version {number} of {subject}"
        found = self._ask(what, lambda: self._client.get_version(subject, number))
        if found.schema is None or not found.schema.schema_str:
            raise UnreachableError(self._no_registry(what))
        return RegisteredSchema(
            subject=subject,
            version=found.version,
            id=found.schema_id,
            text=self._text(found.schema, f"{subject} version {number}"),
        )

    def _text(self, schema: Any, name: str) -> SchemaText:
        kind = (schema.schema_type or SchemaFormat.AVRO.value).upper()
        if kind not in SchemaFormat.__members__:
            raise NotFoundError(
                f"{name} has schema type {kind}, which Headgate doesn't read. Use Avro, "
                "Protobuf or JSON Schema"
            )
        references: dict[str, str] = {}
        self._collect(schema.references or (), references, name)
        return SchemaText(
            schema.schema_str or "", SchemaFormat[kind], name, tuple(references.items())
        )

    def _collect(self, references: Any, found: dict[str, str], name: str) -> None:
        """Add what is referred to, each after what it needs itself; a circle ends at its start."""
        for reference in references:
            if reference.name in found:
                continue
            if len(found) > MOST_REFERENCES:
                raise NotFoundError(
                    f"{name} references more than {MOST_REFERENCES} schemas, the most that "
                    "Headgate reads. Set `schema` of the topic in headgate.toml to a "
                    "schema file"
                )
            found[reference.name] = ""
            other = self._referred(reference, name)
            self._collect(other.schema.references or (), found, name)
            del found[reference.name]
            found[reference.name] = other.schema.schema_str or ""

    def _referred(self, reference: Any, name: str) -> Any:
        subject, version = reference.subject, reference.version
        what = f"version {version} of {subject}, which {name} references"
        try:
            return self._ask(what, lambda: self._client.get_version(subject, version))
        except NotFoundError:
            raise SchemaError(
                f"{name} references version {version} of {subject} ({reference.name}), but "
                f"{self._lower} has no such version: register the version again, or set "
                "`schema` of the topic in headgate.toml to a schema file"
            ) from None

    def mode(self, subject: str) -> Mode:
        """Return the subject's compatibility level, else the registry's own."""
        for name in (subject, None):
            try:
                what = f"the compatibility level of {subject}"
                level = self._ask(what, partial(self._client.get_compatibility, name))
            except NotFoundError:
                continue
            with suppress(ValueError):
                return Mode(str(level).lower())
        return Mode.BACKWARD

    def accepts(self, subject: str, schema: SchemaText) -> bool | None:
        """Return the registry's own answer on a new version, None where it gives none.

        It checks by the level that is set for the subject, and registers nothing. What the schema
        refers to has to be registered for this, so schemas with references are not asked about.
        """
        if schema.references or schema.format is None:
            return None
        from confluent_kafka.schema_registry import Schema

        try:
            new = Schema(schema.text, schema.format.value)
            return bool(
                self._ask(
                    f"a compatibility check of subject {subject}",
                    lambda: self._client.test_compatibility_all_versions(subject, new),
                )
            )
        except HeadgateError:
            return None

    def _ask(self, what: str, question: Callable[[], T]) -> T:
        """Return the answer, which must be there as a whole in time, however slowly it drips."""
        answers: list[T] = []
        failures: list[BaseException] = []

        def run() -> None:
            try:
                answers.append(question())
            except BaseException as error:
                failures.append(error)

        thread = Thread(target=run, daemon=True, name="schema-registry")
        with self._asked(what):
            thread.start()
            thread.join(WHOLE)
            if failures:
                raise failures[0]
            if not answers:
                raise TimeoutError(f"no response within {WHOLE:.0f} seconds")
        return answers[0]

    @contextmanager
    def _asked(self, what: str) -> Iterator[None]:
        """Turn whatever goes wrong into one sentence."""
        from confluent_kafka.schema_registry import SchemaRegistryError
        from confluent_kafka.schema_registry.error import OAuthTokenError

        try:
            yield
        except SchemaRegistryError as error:
            raise self._answered(error, what) from None
        except OAuthTokenError as error:
            raise UnreachableError(
                f"No OAuth token for {self._lower}: {mask_text(_line(error))}. Check "
                "[schema_registry.config] in headgate.toml"
            ) from None
        except HeadgateError:
            raise
        except (ValueError, KeyError, TypeError, AttributeError):
            raise UnreachableError(self._no_registry(what)) from None
        except Exception as error:
            raise UnreachableError(
                f"{self._named} does not respond ({_reason(error)}): check url and the TLS "
                "settings under [schema_registry]"
            ) from None

    @property
    def _named(self) -> str:
        return f"The schema registry at {self.url}"

    @property
    def _lower(self) -> str:
        return f"the schema registry at {self.url}"

    def _no_registry(self, what: str) -> str:
        return (
            f"{self._named} doesn't support Confluent's API (requested: {what}):"
            " check url under [schema_registry] (Apicurio's ends with /apis/ccompat/v7)"
        )

    def _answered(self, error: Any, what: str) -> HeadgateError:
        said = mask_text(" ".join(str(error.error_message).split()))[:160]
        if error.http_status_code in (401, 403):
            return UnreachableError(
                f"{self._named} denies access ({error.http_status_code}): set "
                "basic.auth.user.info or other credentials in [schema_registry.config]"
            )
        if _UNKNOWN in said:
            # The body of the answer was no JSON: a page of a proxy, or of another server.
            return UnreachableError(self._no_registry(what))
        if error.http_status_code == 404:
            return NotFoundError(
                f"{self._named} does not have {what}: {said}. Check the name of the subject"
            )
        return UnreachableError(
            f"{self._named} failed: HTTP status {error.http_status_code} for {what}: {said}"
        )


def _typed(config: Mapping[str, str]) -> dict[str, Any]:
    """Return the settings with numbers as numbers, as the client wants them."""
    out: dict[str, Any] = dict(config)
    for key in _NUMBERS:
        if key in out:
            try:
                out[key] = float(out[key]) if key == "timeout" else int(out[key])
            except ValueError:
                raise ConfigError(f"{key} in [schema_registry.config] must be a number") from None
    return out


def _listed(found: Any) -> list[Any]:
    """Return a list that the registry answered with; TypeError for anything else."""
    if not isinstance(found, list):
        raise TypeError("expected a list")
    return found


def _line(error: Exception) -> str:
    return " ".join(str(error).split())[:200]


def _reason(error: Exception) -> str:
    text = _ERRNO.sub("", mask_text(without_secret(_line(error))))
    return text or type(error).__name__
