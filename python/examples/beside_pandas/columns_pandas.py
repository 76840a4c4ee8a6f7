import numpy as np
import pandas as pd

table = pd.DataFrame({
    "kind": ["b", "a", "b", "c"], "size": pd.array([3, None, 1, 4], "Int64"),
    "big": [2**53 + 1, 2, 3, 4], "on": [True, False, True, True]
})
print(table["size"].isna().sum(), "kind" in table, "color" in table)
try:
    table["color"]
except KeyError:
    print("no such column")
table = table.fillna({"size": 0}).assign(half=np.array([1.5, 1.0, 0.5, 2.0]))
ordered = table.sort_values(["kind", "size"], ascending=[True, False])
print(ordered["kind"].tolist(), ordered["size"].tolist(), ordered["big"].tolist())
both = pd.concat([table, table.head(1)]).drop(columns="on")
print(both.shape, list(both.columns), both["half"].sum())
