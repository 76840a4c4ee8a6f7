#!/usr/bin/env python3
"""Reads a table file (.ntb, versions 1 and 2) with the Python standard library: python3 read_ntb.py FILE

The format is described in src/format/README.md. This reader shares no code with the library.
"""
import struct
import sys
import zlib

MAGIC = b"\x89NTB\r\n\x1a\n"
# Element id: name, letter in the module `struct`. There is no letter for bf16, the upper half of an f32.
ELEMENTS = {0: ("f32", "f"), 1: ("f64", "d"), 2: ("i32", "i"), 3: ("u32", "I"), 4: ("i64", "q"), 5: ("u64", "Q"),
            6: ("i8", "b"), 7: ("u8", "B"), 8: ("i16", "h"), 9: ("u16", "H"), 16: ("f16", "e"), 17: ("bf16", "H")}
FEATURE_TYPES = ["categorical", "ordinal", "continuous"]


def check(holds, problem):
    if not holds:
        raise ValueError(problem)


def read(data):
    """Returns element name, layout, features (name, type, categories), and rows of values."""
    check(data[:8] == MAGIC, "not a table file")
    check(len(data) >= 64, "cut off")
    major, _minor, header_length, at, length, file_length, header_sum, chunk = struct.unpack_from("<HHIQQQII", data, 8)
    check(major in (1, 2), f"version {major}")
    check(zlib.crc32(data[:60]) == struct.unpack_from("<I", data, 60)[0], "the preamble is damaged")
    check(len(data) == file_length, "cut off, or bytes past the end")
    check(at % 4096 == 0 and 64 + header_length <= at and at + length <= file_length, "parts overlap")
    header = data[64:64 + header_length]
    check(zlib.crc32(header) == header_sum, "the header is damaged")

    start = 0
    if major > 1:
        start = 1 + header[0]
        kind = header[1:start].decode("ascii")
        check(kind == "homogeneous", f"unknown kind of table: {kind}")
    element, layout, rows, columns, is_uniform, count = struct.unpack_from("<BBQQBQ", header, start)
    name, letter = ELEMENTS[element]
    check(count == columns and rows * columns * struct.calcsize("<" + letter) == length, "the shape does not fit")
    position, features = start + struct.calcsize("<BBQQBQ"), []

    def take(form):
        nonlocal position
        values = struct.unpack_from("<" + form, header, position)
        position += struct.calcsize("<" + form)
        return values[0]

    for _ in range(1 if is_uniform else count):
        title = take(f"{take('Q')}s").decode() if take("B") else None
        kind = FEATURE_TYPES[take("B")]
        features.append((title, kind, take("Q") if take("B") else None))
    check(position == len(header), "bytes after the last feature")

    payload = data[at:at + length]
    if chunk:
        sums = [zlib.crc32(payload[i:i + chunk]) for i in range(0, length, chunk)]
        expected = struct.pack(f"<Q{len(sums)}I", len(sums), *sums)
        check(data[(at + length + 7) // 8 * 8:] == expected, "the values are damaged")
    values = struct.unpack(f"<{rows * columns}{letter}", payload)
    if name == "bf16":
        values = [struct.unpack("<f", struct.pack("<I", value << 16))[0] for value in values]
    table = [values[row::rows] if layout else values[row * columns:(row + 1) * columns] for row in range(rows)]
    return name, ["row_major", "column_major"][layout], features * (columns if is_uniform else 1), table


if __name__ == "__main__":
    with open(sys.argv[1], "rb") as file:
        name, layout, features, table = read(file.read())
    print(name, layout, len(table), len(features))
    for feature in features:
        print(*feature, sep="\t")
    for row in table:
        print(*map(repr, row))
