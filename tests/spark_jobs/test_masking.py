"""What of a capture's texts is masked."""

from headgate.spark_jobs.record_query import in_strings, secrets_in, without


def test_values_of_secret_options_are_taken_out_of_every_text():
    options = [{"kafka.sasl.jaas.config": "x password='hunter2'", "topic": "orders"}]
    secrets = secrets_in(options)
    assert secrets == ("x password='hunter2'",)
    text = "[kafka.sasl.jaas.config=x password='hunter2', topic=orders]"
    assert without(text, secrets) == "[kafka.sasl.jaas.config=********, topic=orders]"


def test_short_values_are_no_secrets_to_search_for():
    assert secrets_in([{"password": "abc"}, {"token": "abcde"}]) == ("abcde",)


def test_passwords_in_urls_are_taken_out():
    assert "pw" not in without("jdbc:postgresql://me:pw@host/db", ())


def test_json_stays_json():
    data = {"a": ["s3cret", {"s3cret": "s3cret", "n": 1}]}
    shown = in_strings(data, lambda text: without(text, ("s3cret",)))
    assert shown == {"a": ["********", {"s3cret": "********", "n": 1}]}
