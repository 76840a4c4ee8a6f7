#!/usr/bin/env python3
"""Re-create the CSV files of this folder from a scikit-learn wheel.

usage: derive.py WHEEL [OUTPUT_FOLDER]

WHEEL is a scikit-learn wheel file (.whl) as published on PyPI; version 1.9.1
was used. OUTPUT_FOLDER defaults to the folder that holds this script. The
values are copied as text, so no number is ever re-formatted. Each file is
checked against its known sha256 before it is written, and the exit status
is 1 if any differs. Only the Python standard library is used.
"""

import csv
import gzip
import hashlib
import io
import pathlib
import sys
import zipfile

SOURCE = "sklearn/datasets/data/"

IRIS = [
    "sepal_length_cm",
    "sepal_width_cm",
    "petal_length_cm",
    "petal_width_cm",
]

NUCLEUS = [
    "radius",
    "texture",
    "perimeter",
    "area",
    "smoothness",
    "compactness",
    "concavity",
    "concave_points",
    "symmetry",
    "fractal_dimension",
]
BREAST_CANCER = (
    ["mean_" + name for name in NUCLEUS]
    + [name + "_error" for name in NUCLEUS]
    + ["worst_" + name for name in NUCLEUS]
)

DIGITS = [f"pixel_{row}_{col}" for row in range(8) for col in range(8)]

WINE = [
    "alcohol",
    "malic_acid",
    "ash",
    "alcalinity_of_ash",
    "magnesium",
    "total_phenols",
    "flavanoids",
    "nonflavanoid_phenols",
    "proanthocyanins",
    "color_intensity",
    "hue",
    "od280_od315_of_diluted_wines",
    "proline",
]

# output file, member of the wheel, feature names, name of the class column,
# rows, sha256 of the output
SETS = [
    (
        "iris.csv",
        "iris.csv",
        IRIS,
        "species",
        150,
        "b6b8efc86732bc48c9fbddba53e2c191fd4f263c0ee98e2b1b7d3543e8d2121d",
    ),
    (
        "breast_cancer.csv",
        "breast_cancer.csv",
        BREAST_CANCER,
        "diagnosis",
        569,
        "518936fa92ca3d8a78c420aee22030c4e519ffcba3be15dd23e83f2fc22e20e5",
    ),
    (
        "digits.csv",
        "digits.csv.gz",
        DIGITS,
        "digit",
        1797,
        "592cc047d0a1cc7fdef9fd724514209dcb45a80aa147dc3ab375e3e1a9a380f4",
    ),
    (
        "wine.csv",
        "wine_data.csv",
        WINE,
        "class",
        178,
        "1dcdd0ff3f6d5dd7c8f24bf342c7bce04a2fd27a08a4a685cb1da29af3f31a00",
    ),
]


def derive(wheel, member, features, label, rows):
    """Returns the bytes of one output file."""
    raw = wheel.read(SOURCE + member)
    if member.endswith(".gz"):
        raw = gzip.decompress(raw)
    table = list(csv.reader(io.StringIO(raw.decode("ascii"), newline="")))
    if member.endswith(".gz"):
        # digits: no heading line, and the class is the digit itself
        classes = None
    else:
        # the heading line is: rows, features, name of class 0, class 1, ...
        heading = table.pop(0)
        if (int(heading[0]), int(heading[1])) != (rows, len(features)):
            raise ValueError(f"{member}: unexpected heading {heading}")
        classes = heading[2:]
    if len(table) != rows:
        raise ValueError(f"{member}: {len(table)} rows, not {rows}")

    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(features + [label])
    for line in table:
        if len(line) != len(features) + 1:
            raise ValueError(f"{member}: a row of {len(line)} fields")
        *values, target = line
        writer.writerow(values + [classes[int(target)] if classes else target])
    return out.getvalue().encode("ascii")


def main(arguments):
    if len(arguments) not in (1, 2):
        print("usage: derive.py WHEEL [OUTPUT_FOLDER]", file=sys.stderr)
        return 2
    if len(arguments) == 2:
        folder = pathlib.Path(arguments[1])
        folder.mkdir(parents=True, exist_ok=True)
    else:
        folder = pathlib.Path(__file__).resolve().parent
    status = 0
    with zipfile.ZipFile(arguments[0]) as wheel:
        for name, member, features, label, rows, expected in SETS:
            content = derive(wheel, member, features, label, rows)
            digest = hashlib.sha256(content).hexdigest()
            if digest != expected:
                print(
                    f"{name}: sha256 {digest}, not {expected}; not written",
                    file=sys.stderr,
                )
                status = 1
                continue
            (folder / name).write_bytes(content)
            print(f"{digest}  {name}")
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
