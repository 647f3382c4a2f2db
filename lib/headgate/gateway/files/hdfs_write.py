"""Write to HDFS, through the client that reads it."""

from __future__ import annotations

from headgate.gateway.files.hdfs import HdfsFiles

_BYTES_PER_SECOND = 4 << 20


class HdfsChanges(HdfsFiles):
    """A copy goes through the client: HDFS itself copies nothing."""

    def copy(self, source: str, target: str, size: int) -> None:
        """Copy a file; its bytes are downloaded here and uploaded."""
        hadoop = self._gateway.jvm.org.apache.hadoop
        system = self._system
        one, other = self._path(source), self._path(target)
        self._asked(lambda: system.mkdirs(other.getParent()))
        found = self._asked(
            lambda: hadoop.fs.FileUtil.copy(
                system, one, system, other, False, True, system.getConf()
            ),
            times=1 + size / _BYTES_PER_SECOND / self._seconds,
        )
        if found is None:
            raise FileNotFoundError(2, "No such file or directory", source)

    def write(self, path: str, data: bytes) -> None:
        """Write a file; one that an earlier try left incomplete is shorter, and is overwritten."""

        def put() -> bool:
            out = self._system.create(self._path(path), True)
            try:
                out.write(data)
            finally:
                out.close()
            return True

        self._asked(put)

    def remove(self, path: str) -> None:
        """Remove a file; fine if it is gone."""
        self._asked(lambda: self._system.delete(self._path(path), False))
