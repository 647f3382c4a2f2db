"""A file on a remote file system as it is read: each read is a question that may go unanswered."""

from __future__ import annotations

from collections.abc import Callable


class RemoteStream:
    """What the parsers of evidence call; `io.BufferedReader` takes it, too.

    `read` answers with the next bytes, all that are left for a negative size.
    """

    def __init__(self, read: Callable[[int], bytes], close: Callable[[], None]) -> None:
        self._read, self._close = read, close
        self.closed = False

    def read(self, size: int = -1) -> bytes:
        """Return the next bytes, all that are left without a size."""
        return self._read(size)

    def readable(self) -> bool:
        """Whether it can be read, as `io` asks."""
        return True

    def readinto(self, buffer: bytearray) -> int:
        """Fill a buffer, as `io.BufferedReader` asks; return how much was there."""
        data = self.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        """Let the server go."""
        self.closed = True
        self._close()

    def __enter__(self) -> RemoteStream:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
