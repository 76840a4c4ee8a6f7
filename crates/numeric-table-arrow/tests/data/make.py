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
