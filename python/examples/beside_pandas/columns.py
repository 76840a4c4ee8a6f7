import numpy as np

import numeric_table as nt

table = nt.Table({
    "kind": ["b", "a", "b", "c"], "size": [3, None, 1, 4],
    "big": [2**53 + 1, 2, 3, 4], "on": [True, False, True, True]
})
print(table.missing_count("size"), "kind" in table, "color" in table)
try:
    table["color"]
except KeyError:
    print("no such column")
table = table.fillna({"size": 0}).with_column("half", np.array([1.5, 1.0, 0.5, 2.0]))
ordered = table.sort_by(["kind", "size"], descending=[False, True])
print(ordered["kind"].tolist(), ordered["size"].tolist(), ordered["big"].tolist())
both = nt.vstack([table, table.head(1)]).drop("on")
print(both.shape, both.columns, both["half"].sum())
