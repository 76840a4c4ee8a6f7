import pandas as pd
import polars as pl
import pyarrow as pa

frame = pd.DataFrame({"big": [2**53 + 1, 2**62 + 1, -5], "x": [1.5, None, 3], "ok": [True, False, True]})
frame["n"] = pd.array([1, None, 3], "Int64")
frame["city"] = pd.Categorical(["Oslo", None, "Rome"])
frame["day"] = pd.to_datetime(["2024-01-01", None, "2024-02-29"])
frame.to_parquet("mixed.parquet")
table = pd.read_parquet("mixed.parquet")
words = table["city"].astype(object).where(table["city"].notna(), None)
print(table["big"].tolist(), words.tolist(), str(table["day"][2])[:10])
print(pl.from_pandas(table)["n"].to_list(), pa.Table.from_pandas(table)["n"].null_count)
back = table.copy()
print(str(back["n"].dtype), back["city"].isna().tolist(), back["big"].equals(frame["big"]))
