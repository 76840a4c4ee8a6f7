#!/usr/bin/env python3
"""Reads a table file (.ntb, versions 1 to 4) with the Python standard library: python3 read_ntb.py FILE

The format is described in src/format/README.md. This reader shares no code with the library.
"""
import json
import struct
import sys
import zlib

MAGIC = b"\x89NTB\r\n\x1a\n"
# Element id: name, letter in the module `struct`. bf16, the upper half of an f32, has no letter.
ELEMENTS = {0: ("f32", "f"), 1: ("f64", "d"), 2: ("i32", "i"), 3: ("u32", "I"), 4: ("i64", "q"), 5: ("u64", "Q"),
            6: ("i8", "b"), 7: ("u8", "B"), 8: ("i16", "h"), 9: ("u16", "H"), 16: ("f16", "e"), 17: ("bf16", "H")}
UNITS = ["days", "seconds", "milliseconds", "microseconds", "nanoseconds"]
FEATURE_TYPES = ["categorical", "ordinal", "continuous"] + [f"time in {unit}" for unit in UNITS]
ALIGNMENT = 64  # of arrays


def check(holds, problem):
    if not holds:
        raise ValueError(problem)


def values_of(element, data):
    """Converts bytes to numbers of one type."""
    name, letter = ELEMENTS[element]
    values = struct.unpack(f"<{len(data) // struct.calcsize(letter)}{letter}", data)
    if name == "bf16":
        values = [struct.unpack("<f", struct.pack("<I", value << 16))[0] for value in values]
    return list(values)


def size_of(element):
    return struct.calcsize("<" + ELEMENTS[element][1])


class Header:
    """Reads the fields of a header in order."""

    def __init__(self, data, position, major):
        self.data, self.position, self.major = data, position, major

    def take(self, form):
        values = struct.unpack_from("<" + form, self.data, self.position)
        self.position += struct.calcsize("<" + form)
        return values[0]

    def text(self):
        return self.take(f"{self.take('Q')}s").decode()

    def categories(self):
        """Returns None, the number of categories, or their words."""
        flag = self.take("B")
        check(flag <= (2 if self.major > 2 else 1), "the categories are damaged")
        if flag == 2:
            return [self.text() for _ in range(self.take("Q"))]
        return self.take("Q") if flag else None

    def nullable(self):
        """Returns whether values of a column may be missing."""
        flag = self.take("B") if self.major > 3 else 0
        check(flag <= 1, "the flag of a nullable column is damaged")
        return flag == 1

    def features(self, columns, have_elements):
        """Returns element id (or None), name, type and categories of each column, and whether it is nullable."""
        is_uniform, count = self.take("B"), self.take("Q")
        check(count == columns, "the features do not describe the columns")
        found = []
        for _ in range(1 if is_uniform else count):
            element = self.take("B") if have_elements else None
            title = self.text() if self.take("B") else None
            kind = FEATURE_TYPES[self.take("B")]
            found.append((element, title, kind, self.categories(), self.nullable()))
        check(self.position == len(self.data), "bytes after the last feature")
        return found * (columns if is_uniform else 1)


def read_homogeneous(header, payload):
    element, layout, rows, columns = [header.take(form) for form in "BBQQ"]
    features = header.features(columns, False)
    check(rows * columns * size_of(element) == len(payload), "the shape does not fit")
    values = values_of(element, payload)
    table = [values[row::rows] if layout else values[row * columns:(row + 1) * columns] for row in range(rows)]
    words = [ELEMENTS[element][0], ["row_major", "column_major"][layout]]
    return words, [(element, *feature[1:]) for feature in features], table


def read_arrays(kind, header, payload):
    rows, columns = header.take("Q"), header.take("Q")
    settings = [header.take("Q") for _ in range(header.take("Q"))]
    described = [(header.take("B"), header.take("Q")) for _ in range(header.take("Q"))]
    features = header.features(columns, True)
    arrays, end = [], 0
    for element, count in described:
        start = (end + ALIGNMENT - 1) // ALIGNMENT * ALIGNMENT
        end = start + count * size_of(element)
        arrays.append((element, payload[start:end]))
    check(end == len(payload), "the arrays do not fit")

    table = [[0] * columns for _ in range(rows)]
    if kind == "structure-of-arrays":
        for column, (element, data) in enumerate(arrays[:columns]):
            for row, value in enumerate(values_of(element, data)):
                table[row][column] = value
        check(len(settings) == 2 * (len(arrays) - columns), "the bitmaps do not fit")
        for column, expected, (_, bits) in zip(settings[::2], settings[1::2], arrays[columns:]):
            check(features[column][4], "a column has a bitmap but is not nullable")
            check(len(bits) == (rows + 7) // 8 and zlib.crc32(bits) == expected, "a bitmap is damaged")
            for row in range(rows):
                if not bits[row // 8] >> row % 8 & 1:
                    table[row][column] = None  # missing
    elif kind == "array-of-structures":
        (size, *offsets), records = settings, arrays[0][1]
        for row in range(rows):
            for column, offset in enumerate(offsets):
                element, at = features[column][0], row * size + offset
                [table[row][column]] = values_of(element, records[at:at + size_of(element)])
    elif kind == "csr":
        offsets, indices, values = [values_of(*array) for array in arrays]
        for row in range(rows):
            for at in range(offsets[row], offsets[row + 1]):
                table[row][indices[at]] = values[at]
    elif kind in ("packed-symmetric", "packed-triangular"):
        (is_lower, by_columns), values = settings, values_of(*arrays[0])
        cells = [(row, column) for row in range(rows) for column in range(rows)]
        cells = [(r, c) for r, c in cells if (c <= r if is_lower else c >= r)]
        cells.sort(key=lambda cell: cell[::-1] if by_columns else cell)
        for (row, column), value in zip(cells, values, strict=True):
            table[row][column] = value
            if kind == "packed-symmetric":
                table[column][row] = value
    else:
        raise ValueError(f"unknown kind of table: {kind}")
    return [kind], features, table


def read(data):
    """Returns a description of the table, its features (element id, name, type, categories, whether it is nullable), and
    rows of values, which are None if they are missing."""
    check(data[:8] == MAGIC, "not a table file")
    check(len(data) >= 64, "cut off")
    major, _minor, header_length, at, length, file_length, header_sum, chunk = struct.unpack_from("<HHIQQQII", data, 8)
    check(major in (1, 2, 3, 4), f"version {major}")
    check(zlib.crc32(data[:60]) == struct.unpack_from("<I", data, 60)[0], "the preamble is damaged")
    check(len(data) == file_length, "cut off, or bytes past the end")
    check(at % 4096 == 0 and 64 + header_length <= at and at + length <= file_length, "parts overlap")
    header = data[64:64 + header_length]
    check(zlib.crc32(header) == header_sum, "the header is damaged")
    payload = data[at:at + length]
    if chunk:
        sums = [zlib.crc32(payload[i:i + chunk]) for i in range(0, length, chunk)]
        expected = struct.pack(f"<Q{len(sums)}I", len(sums), *sums)
        check(data[(at + length + 7) // 8 * 8:] == expected, "the values are damaged")

    kind, start = "homogeneous", 0
    if major > 1:
        start = 1 + header[0]
        kind = header[1:start].decode("ascii")
    if kind == "homogeneous":
        return read_homogeneous(Header(header, start, major), payload)
    return read_arrays(kind, Header(header, start, major), payload)


if __name__ == "__main__":
    with open(sys.argv[1], "rb") as file:
        words, features, table = read(file.read())
    print(*words, len(table), len(features))
    for element, *feature in features:
        types = [ELEMENTS[element][0]] if len(words) == 1 else []  # the other words name the type of all columns
        title, kind, categories, nullable = feature
        if isinstance(categories, list):
            categories = json.dumps(categories, ensure_ascii=False)
        print(title, kind, categories, *types, *(["nullable"] if nullable else []), sep="\t")
    for row in table:
        print(*map(repr, row))
