"""Unpack what Spark's codecs write, as a stream; its first bytes name the codec.

Frames of zstd and gzip and LZ4's own frames are read by Arrow. Spark's lz4 is the block stream of
lz4-java (`LZ4BlockOutputStream`), its snappy that of snappy-java (`SnappyOutputStream`): their
framing is read here, Arrow unpacks the blocks.
"""

from __future__ import annotations

import struct
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO

CHUNK = 1 << 20
_LZ4 = b"LZ4Block"
_SNAPPY = b"\x82SNAPPY\0"
_FRAMED = {
    b"\x28\xb5\x2f\xfd": "zstd",
    b"\x04\x22\x4d\x18": "lz4",
    b"\x1f\x8b": "gzip",
}
_LARGEST_BLOCK = 64 << 20
_BAD_SIZE = "a compressed block has an invalid size"
_STEP = 256 << 10


class DamagedError(Exception):
    """A stream ends in the middle, or holds what its codec can't have written."""


class LimitError(DamagedError):
    """A stream was not unpacked further: it passed one of the limits."""


Opener = Callable[[], BinaryIO]


@dataclass(frozen=True, slots=True)
class Limits:
    """How much is unpacked of one stream.

    `size` bytes in all; `ratio` times the packed bytes, once `free` bytes are out;
    `seconds` of this thread's processor time, so that a slow network costs none. Recorded event
    logs reach a ratio of 21.
    """

    size: int = 64 << 30
    ratio: int = 400
    free: int = 64 << 20
    seconds: float = 60.0


LIMITS = Limits()


class _Counted:
    """Opens a stream and counts what is read of it; opened again, it counts from 0."""

    def __init__(self, opener: Opener, packed: int | None) -> None:
        self._opener = opener
        self._known = packed
        self._stream: BinaryIO | None = None
        self._read = 0

    @property
    def packed(self) -> int:
        """The packed bytes: those of the whole stream if they are known, else those read."""
        return self._read if self._known is None else self._known

    def __call__(self) -> Any:
        self._stream, self._read = self._opener(), 0
        return self

    def __enter__(self) -> _Counted:
        return self

    def __exit__(self, *_: object) -> None:
        if self._stream is not None:
            self._stream.close()

    def read(self, size: int = -1) -> bytes:
        """Return the next bytes."""
        assert self._stream is not None
        found = self._stream.read(size)
        self._read += len(found)
        return found


def _bounded(chunks: Iterator[bytes], source: _Counted, limits: Limits) -> Iterator[bytes]:
    """Yield the chunks until a limit is passed, then LimitError with where that was."""
    done, begun = 0, time.thread_time()
    for chunk in chunks:
        yield chunk
        done += len(chunk)
        if done > limits.size:
            why = f"Headgate unpacks at most {limits.size >> 20} MiB"
        elif done > limits.free and done > limits.ratio * source.packed:
            why = f"Headgate unpacks at most {limits.ratio} times the packed size"
        elif time.thread_time() - begun > limits.seconds:
            why = f"Headgate unpacks for at most {limits.seconds:g} s"
        else:
            continue
        raise LimitError(f"unpacking stopped after {done >> 20} MiB: {why}")


def packing(head: bytes) -> str | None:
    """Return how a stream with these first bytes is packed, None where it is not."""
    if head.startswith(_LZ4):
        return "lz4"
    if head.startswith(_SNAPPY):
        return "snappy"
    return next((name for magic, name in _FRAMED.items() if head.startswith(magic)), None)


def unpacked(
    opener: Opener, head: bytes, *, packed: int | None = None, limits: Limits = LIMITS
) -> Iterator[bytes]:
    """Yield what can be unpacked within the limits, in chunks; DamagedError if that was not all.

    `opener` opens the stream at its beginning, buffered: a read gives the requested bytes, less
    only at the end. `head` are its first bytes. What reading the stream raises is raised. `packed`
    is the stream's size if something around it, such as an archive, packs it, too; a stream that
    nothing packs has no limits.
    """
    codec = packing(head)
    if codec is None and packed is None:
        return _plain(opener)
    source = _Counted(opener, packed)
    return _bounded(_unpacked(source, head, codec), source, limits)


def _unpacked(opener: Opener, head: bytes, codec: str | None) -> Iterator[bytes]:
    if head.startswith(_LZ4):
        return _blocks(opener, _lz4_blocks)
    if head.startswith(_SNAPPY):
        return _blocks(opener, _snappy_blocks)
    return _plain(opener) if codec is None else _frames(opener, codec)


def _plain(opener: Opener) -> Iterator[bytes]:
    with opener() as stream:
        while chunk := stream.read(CHUNK):
            yield chunk


class _Source:
    """A stream as Arrow wants it, which keeps the error that reading raised."""

    closed = False

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self.failure: Exception | None = None

    def read(self, size: int = -1) -> bytes:
        """Return the next bytes; an error is kept and looks like the end."""
        try:
            return self._stream.read(size)
        except Exception as error:
            self.failure = error
            return b""

    def readable(self) -> bool:
        """Arrow asks."""
        return True

    def seekable(self) -> bool:
        """Arrow asks."""
        return False

    def close(self) -> None:
        """Leave closing to whoever opened the stream."""


def _frames(opener: Opener, codec: str) -> Iterator[bytes]:
    """Yield what Arrow unpacks; if it fails, what it held back is unpacked in small steps."""
    done = 0
    for size in (_STEP, 1):
        try:
            for chunk in _attempt(opener, codec, done, size):
                done += len(chunk)
                yield chunk
        except DamagedError:
            if size == 1:
                raise
        else:
            return


def _attempt(opener: Opener, codec: str, skip: int, size: int) -> Iterator[bytes]:
    """Yield what comes after the first `skip` unpacked bytes, `size` bytes at a time."""
    import pyarrow as pa

    with opener() as stream:
        source = _Source(stream)
        try:
            with pa.CompressedInputStream(pa.PythonFile(source, mode="r"), codec) as found:
                while skip > 0 and (passed := found.read(min(skip, _STEP))):
                    skip -= len(passed)
                yield from _read(found, size)
        except (OSError, ValueError, pa.ArrowException) as error:
            if source.failure is not None:
                raise source.failure from error
            raise DamagedError(f"{codec}: {' '.join(str(error).split())[:200]}") from error
        if source.failure is not None:
            raise source.failure


def _read(found: Any, size: int) -> Iterator[bytes]:
    if size > 1:
        while chunk := found.read(size):
            yield chunk
        return
    # Byte by byte, but handed on together: the error comes after the last one.
    held = bytearray()
    try:
        while (byte := found.read(1)) and len(held) <= CHUNK:
            held += byte
    finally:
        if held:
            yield bytes(held)


def _blocks(opener: Opener, read: Callable[[BinaryIO], Iterator[bytes]]) -> Iterator[bytes]:
    with opener() as stream:
        yield from read(stream)


def _exactly(source: BinaryIO, size: int, what: str) -> bytes:
    found = source.read(size)
    if len(found) < size:
        raise DamagedError(f"the compressed data ends inside {what}")
    return found


def _block(codec: Any, data: bytes, size: int) -> bytes:
    import pyarrow as pa

    try:
        found: bytes = codec.decompress(data, decompressed_size=size, asbytes=True)
    except (OSError, ValueError, pa.ArrowException) as error:
        raise DamagedError(f"a compressed block can't be unpacked: {error}") from error
    return found


def _lz4_blocks(source: BinaryIO) -> Iterator[bytes]:
    """lz4-java: magic, token, packed and plain size (little endian), checksum; 0 bytes end it.

    Streams may follow each other. The checksum (XXHash32) is not verified.
    """
    import pyarrow as pa

    codec = pa.Codec("lz4_raw")
    while header := source.read(21):
        if len(header) < 21:
            raise DamagedError("the compressed data ends inside a block header")
        magic, token, packed, plain, _ = struct.unpack("<8sBiiI", header)
        sizes_fit = 0 <= packed <= _LARGEST_BLOCK and 0 <= plain <= _LARGEST_BLOCK
        if magic != _LZ4 or token & 0xF0 not in (0x10, 0x20) or not sizes_fit:
            raise DamagedError("a compressed block has an invalid header")
        data = _exactly(source, packed, "a block")
        if plain:
            yield data if token & 0xF0 == 0x10 else _block(codec, data, plain)


def _snappy_blocks(source: BinaryIO) -> Iterator[bytes]:
    """snappy-java: a header of 16 bytes, then blocks with their packed size (big endian).

    Streams may follow each other, each with its header.
    """
    import pyarrow as pa

    codec = pa.Codec("snappy")
    while start := source.read(4):
        if start == _SNAPPY[:4]:
            _exactly(source, 12, "a header")
            continue
        if len(start) < 4 or not 0 < (size := int.from_bytes(start, "big")) <= _LARGEST_BLOCK:
            raise DamagedError(_BAD_SIZE if len(start) == 4 else "the compressed data ends early")
        data = _exactly(source, size, "a block")
        plain = _varint(data)
        if plain > _LARGEST_BLOCK:
            raise DamagedError(_BAD_SIZE)
        if plain:
            yield _block(codec, data, plain)


def _varint(data: bytes) -> int:
    """Return the plain size that a snappy block begins with: 7 bits a byte, the lowest first."""
    found = 0
    for place, byte in enumerate(data[:5]):
        found |= (byte & 0x7F) << (7 * place)
        if byte < 0x80:
            return found
    raise DamagedError(_BAD_SIZE)
