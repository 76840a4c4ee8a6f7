#!/usr/bin/env python3
"""Compiles the kernels in advance, for machines with a driver and without NVRTC: writes `ptx.gz` beside this file.

Needs NVRTC, and neither a device nor a driver: `pip install nvidia-cuda-nvrtc-cu12==12.0.140`. That version makes PTX
8.0, which drivers from 525 on read. The same NVRTC makes the same bytes.

    python3 make_ptx.py            writes ptx.gz, of texts with COMPACT defined
    python3 make_ptx.py --check    compiles the texts as they are compiled at run time, and writes nothing

Both fail if an entry is missing, or if code calls functions or keeps values in local memory. `NVRTC` in the environment
is the path of another library.

The file, decompressed, is text: a line `//// sources CRC` with the CRC-32 of the texts, then each unit, as a line
`//// NAME` and its PTX.
"""

import ctypes
import gzip
import importlib.util
import multiprocessing
import os
import pathlib
import re
import sys
import zlib

HERE = pathlib.Path(__file__).resolve().parent
TYPES = "f32 f64 i32 u32 i64 u64 i8 u8 i16 u16 f16 bf16".split()
NAMES = "number words convert memory sparse moments statistics standardize order sorting reductions".split()  # in the order of source.rs
TEXTS = {name: (HERE / f"{name}.cu").read_text() for name in NAMES}
OPTIONS = ["--gpu-architecture=compute_75", "--std=c++17"]  # as in source.rs
LIMIT = 448 << 10


def units():
    """Yields name, text and entries of each unit, as `source.rs` has them."""
    common = TEXTS["number"] + TEXTS["words"]
    for source in TYPES:
        for target in TYPES:
            if source == target and source[0] != "u":
                continue  # the same bits as an unsigned integer
            name = f"{source}_{target}"
            head = f"#define SOURCE {source}\n#define TARGET {target}\n#define ENTRY(name) name##_{name}\n\n"
            entries = [f"{form}_{name}" for form in ("convert", "convert_strided", "convert_transposed")]
            yield name, head + common + TEXTS["convert"], entries
    moves = ("fill", "gather_columns", "gather_rows", "count_up", "gather")
    yield "memory", common + TEXTS["memory"], [f"{move}_{width}" for width in (1, 2, 4, 8) for move in moves]
    yield "sparse", common + TEXTS["sparse"], [f"sparse_to_dense_{width}" for width in (1, 2, 4, 8)]
    statistics = common + TEXTS["moments"] + TEXTS["statistics"]
    for source in TYPES:
        name = f"statistics_{source}"
        yield name, f"#define SOURCE {source}\n#define ENTRY(name) name##_{source}\n\n" + statistics, [name]
    yield "statistics_merge", statistics, ["statistics_merge"]
    standardize = [f"standardize_{name}" for name in TYPES if "f" in name]
    yield "standardize", common + TEXTS["moments"] + TEXTS["standardize"], ["means_and_deviations", *standardize]
    sorts = [f"{form}_{width}" for form in ("sort_keys", "digit_counts", "digit_scatter") for width in (4, 8)]
    sorts += ["offsets", "select_counts", "select_copy", "histogram"]
    yield "sorting", common + TEXTS["order"] + TEXTS["sorting"], sorts
    reductions = [f"{form}_{kept}" for form in ("reduce", "combine", "scan") for kept in ("words", "f32", "f64")]
    yield "reductions", common + TEXTS["order"] + TEXTS["reductions"], reductions


def library():
    """Loads NVRTC."""
    path = os.environ.get("NVRTC")
    if path is None:
        package = importlib.util.find_spec("nvidia.cuda_nvrtc")
        if package is None:
            sys.exit("NVRTC is missing: pip install nvidia-cuda-nvrtc-cu12==12.0.140")
        path = next(pathlib.Path(package.submodule_search_locations[0]).glob("lib/libnvrtc.so.*"))
    return ctypes.CDLL(str(path))


def compiled(unit):
    """Returns the name of a unit and its PTX, without comments and blank lines."""
    name, text, entries = unit
    nvrtc, program, size = library(), ctypes.c_void_p(), ctypes.c_size_t()
    nvrtc.nvrtcCreateProgram(ctypes.byref(program), text.encode(), name.encode(), 0, None, None)
    options = (ctypes.c_char_p * len(OPTIONS))(*(option.encode() for option in OPTIONS))
    result = nvrtc.nvrtcCompileProgram(program, len(OPTIONS), options)
    nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(size))
    log = ctypes.create_string_buffer(size.value)
    nvrtc.nvrtcGetProgramLog(program, log)
    if result != 0 or log.value:
        raise SystemExit(f"{name}: {log.value.decode()}")
    nvrtc.nvrtcGetPTXSize(program, ctypes.byref(size))
    ptx = ctypes.create_string_buffer(size.value)
    nvrtc.nvrtcGetPTX(program, ptx)
    nvrtc.nvrtcDestroyProgram(ctypes.byref(program))
    ptx = re.sub(r"[ \t]*//.*", "", ptx.value.decode())
    ptx = re.sub(r"[ \t]+", " ", re.sub(r"\n\s*", "\n", ptx)).strip() + "\n"
    found = re.findall(r"\.visible \.entry (\w+)", ptx)
    if sorted(found) != sorted(entries):
        raise SystemExit(f"{name}: the entries are {found}")
    for word in (".local", "call"):
        if re.search(rf"^ *{re.escape(word)}\b|[ .]{re.escape(word.strip('.'))}\.", ptx, re.MULTILINE):
            raise SystemExit(f"{name}: {word}")
    return name, ptx


def main():
    is_check = "--check" in sys.argv[1:]
    head = "" if is_check else "#define COMPACT\n"
    all_units = [(name, head + text, entries) for name, text, entries in units()]
    with multiprocessing.Pool() as pool:
        done = pool.map(compiled, all_units, chunksize=1)
    entries = sum(len(entries) for _, _, entries in all_units)
    size = sum(len(ptx) for _, ptx in done)
    print(f"{len(done)} units, {entries} entries, {size >> 10} KiB of PTX")
    if is_check:
        return
    crc = zlib.crc32("".join(TEXTS.values()).encode())
    text = f"//// sources {crc:08x}\n" + "".join(f"//// {name}\n{ptx}" for name, ptx in done)
    packed = gzip.compress(text.encode(), 9, mtime=0)
    print(f"{len(packed) / 1024:.1f} KiB compressed")
    if len(packed) > LIMIT:
        raise SystemExit(f"that is more than {LIMIT >> 10} KiB")
    (HERE / "ptx.gz").write_bytes(packed)


if __name__ == "__main__":
    main()
