import pandas as pd
import polars as pl
import pyarrow as pa

import numeric_table as nt

frame = pd.DataFrame({"big": [2**53 + 1, 2**62 + 1, -5], "x": [1.5, None, 3], "ok": [True, False, True]})
frame["n"] = pd.array([1, None, 3], "Int64")
frame["city"] = pd.Categorical(["Oslo", None, "Rome"])
frame["day"] = pd.to_datetime(["2024-01-01", None, "2024-02-29"])
table = nt.Table(frame)
nt.save(table, "mixed.ntb")
table = nt.load("mixed.ntb")
print(table["big"].tolist(), table["city"].tolist(), str(table[2, "day"])[:10])
print(pl.DataFrame(table)["n"].to_list(), pa.table(table)["n"].null_count)
back = table.to_pandas()
print(str(back["n"].dtype), back["city"].isna().tolist(), back["big"].equals(frame["big"]))
