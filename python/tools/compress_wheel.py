"""Compresses the files in a wheel again, as far as Deflate does: ``python compress_wheel.py numeric_table-*.whl``. The
files, their order and their hashes in ``RECORD`` stay the same."""

import os
import sys
import zipfile

path = sys.argv[1]
with zipfile.ZipFile(path) as old, zipfile.ZipFile(path + ".tmp", "w", zipfile.ZIP_DEFLATED, compresslevel=9) as new:
    for entry in old.infolist():
        new.writestr(entry, old.read(entry), zipfile.ZIP_DEFLATED, 9)
os.replace(path + ".tmp", path)
