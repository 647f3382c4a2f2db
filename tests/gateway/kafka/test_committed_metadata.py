"""What librdkafka reads beyond committed metadata is no reason to read no group at all."""

from headgate.gateway.kafka.consumer_groups import _metadata


class Committed:
    """A partition as the client gives it: its property decodes bytes of no known length."""

    def __init__(self, raw):
        self._raw = raw

    @property
    def metadata(self):
        return self._raw.decode()


def test_what_is_no_text_behind_the_metadata_is_cut_off():
    assert _metadata(Committed(b"AgAAAZnQxyz=")) == "AgAAAZnQxyz="
    assert _metadata(Committed(b"AgAAAZnQxyz=\xe4\x01x")) == "AgAAAZnQxyz="
    assert _metadata(Committed(b"AgAAAZnQxyz=\x02\x7f\xe4")) == "AgAAAZnQxyz="
    assert _metadata(Committed(b"\xe4")) is None
    assert _metadata(Committed(b"")) is None
