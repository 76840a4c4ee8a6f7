"""Prints the versions of symbols that the extension in a wheel needs of the system's libraries, and fails if glibc must
be newer than a version: ``python wheel_symbols.py numeric_table-*.whl 2.28``. Needs pyelftools."""

import io
import re
import sys
import zipfile

from elftools.elf.elffile import ELFFile


def needed(binary):
    """Yields the name of each library with the version of a symbol that is needed of it."""
    section = ELFFile(binary).get_section_by_name(".gnu.version_r")
    for library, versions in section.iter_versions():
        for version in versions:
            yield library.name, version.name


path, limit = sys.argv[1], tuple(map(int, sys.argv[2].split(".")))
with zipfile.ZipFile(path) as wheel:
    extensions = [name for name in wheel.namelist() if name.endswith(".so")]
    if len(extensions) != 1:
        sys.exit(f"one extension is expected in {path}, not {extensions}")
    found = sorted(set(needed(io.BytesIO(wheel.read(extensions[0])))))
newest = (0,)
for library, version in found:
    print(library, version)
    if glibc := re.fullmatch(r"GLIBC_([0-9.]+)", version):
        newest = max(newest, tuple(map(int, glibc[1].split("."))))
if not any(library == "libgcc_s.so.1" for library, _ in found):
    sys.exit(f"{path} has an unwinder of its own: threads that Python ends at its exit would crash")
print("glibc", ".".join(map(str, newest)), "or newer")
if not (0,) < newest <= limit:
    sys.exit(f"{path} needs glibc {newest}, which is newer than {limit}")
