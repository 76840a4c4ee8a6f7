"""Compresses the files in a wheel again, as far as Deflate does: ``python compress_wheel.py numeric_table-*.whl``. The
files, their order and their hashes in ``RECORD`` stay the same. Needs the package zopfli, which finds streams that are
3 % shorter than those of zlib."""

import os
import sys
import zipfile

import zopfli.zlib


class Compressor:
    """What ``zipfile`` calls for each file."""

    def __init__(self):
        self.parts = []

    def compress(self, data):
        self.parts.append(data)
        return b""

    def flush(self):
        stream = zopfli.zlib.compress(b"".join(self.parts), numiterations=5)
        return stream[2:-4]  # without the header and the checksum of zlib


zipfile._get_compressor = lambda *_: Compressor()  # zipfile has no option for this
path = sys.argv[1]
with zipfile.ZipFile(path) as old, zipfile.ZipFile(path + ".tmp", "w", zipfile.ZIP_DEFLATED) as new:
    for entry in old.infolist():
        new.writestr(entry, old.read(entry), zipfile.ZIP_DEFLATED)
with zipfile.ZipFile(path) as old, zipfile.ZipFile(path + ".tmp") as new:
    assert [(entry.filename, entry.CRC) for entry in old.infolist()] == [
        (entry.filename, entry.CRC) for entry in new.infolist()
    ]
    assert new.testzip() is None
os.replace(path + ".tmp", path)
