"""Makes the Parquet and Arrow files beside this script, with pyarrow 26 and polars 2.1. The tests know their values."""

import datetime
import decimal
import pathlib

import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq

HERE = pathlib.Path(__file__).resolve().parent
ROWS = 300

rows = range(ROWS)
table = pa.table({
    "id": pa.array(rows, pa.int64()),
    "small": pa.array([row % 200 for row in rows], pa.uint8()),
    "share": pa.array([None if row % 7 == 3 else row / 8 for row in rows], pa.float32()),
    "price": pa.array([decimal.Decimal(row * 25 - 1000) / 100 for row in rows], pa.decimal128(9, 2)),
    "day": pa.array([datetime.date(2024, 1, 1) + datetime.timedelta(row) for row in rows], pa.date32()),
    "time": pa.array([1_700_000_000_000 + 60_000 * row for row in rows], pa.timestamp("ms")),
    "color": pa.array([["red", "green", "blue"][row % 3] for row in rows]).dictionary_encode(),
    "note": pa.array([f"note {row}" for row in rows]),
    "pair": pa.array([[row, row + 1] for row in rows], pa.list_(pa.int32())),
    "is_even": pa.array([row % 2 == 0 for row in rows]),
})
pq.write_table(table, HERE / "pyarrow.parquet", row_group_size=128, compression="snappy", write_page_index=True)
flat = table.drop(["pair"])
pyarrow.feather.write_feather(flat, HERE / "pyarrow.feather", compression="lz4", chunksize=128)
with pa.ipc.new_stream(HERE / "pyarrow.arrows", flat.schema) as stream:
    stream.write_table(flat, max_chunksize=128)

frame = pl.DataFrame({
    "id": pl.Series(rows, dtype=pl.Int32),
    "half": pl.Series([row / 2 for row in rows], dtype=pl.Float64),
    "hole": pl.Series([None if row % 5 == 0 else row for row in rows], dtype=pl.Int16),
})
frame.write_parquet(HERE / "polars.parquet", compression="zstd", row_group_size=100)

# Pages of both versions, small enough that there are many: dictionaries that are given up in the middle of a column
# chunk, a column of one value, whose indices have no bits, a column without levels, and nulls from row 900 on.
rows = range(1500)
fields = [
    pa.field("few", pa.float32()),
    pa.field("many", pa.float64()),
    pa.field("one", pa.int32()),
    pa.field("short", pa.uint16()),
    pa.field("long", pa.int64(), nullable=False),
    pa.field("holes", pa.float32()),
]
table = pa.table([
    [row % 13 / 4 for row in rows],
    [row * row / 2 for row in rows],
    [7 for _ in rows],
    [row % 300 for row in rows],
    [row // 5 - 100 for row in rows],
    [None if row >= 900 and row % 9 == 0 else row / 8 for row in rows],
], schema=pa.schema(fields))
for version, compression in (("1.0", "snappy"), ("2.0", "zstd")):
    pq.write_table(
        table,
        HERE / f"pages-{version[0]}.parquet",
        row_group_size=1000,
        compression=compression,
        data_page_version=version,
        data_page_size=1000,
        write_batch_size=100,
        dictionary_pagesize_limit=2000,
    )
