import numpy as np
import pandas as pd

random = np.random.default_rng(0)
for part in range(20):
    frame = pd.DataFrame(random.integers(0, 1000, (5000, 3)), columns=["a", "b", "c"], dtype="float32")
    frame.to_csv("big.csv", mode="a", header=part == 0, index=False)

rows, sums, maxima = 0, 0, -np.inf
for chunk in pd.read_csv("big.csv", chunksize=8192, dtype="float32"):
    rows += len(chunk)
    sums += chunk.astype("float64").sum()
    maxima = np.maximum(maxima, chunk.max())
    chunk[chunk["a"] > 900].to_csv("large_a.csv", mode="a", header=rows == len(chunk), index=False)
print(rows, (sums / rows).tolist(), maxima.astype("float64").tolist())
print(chunk.iloc[-1].tolist(), pd.read_csv("big.csv", nrows=2, dtype="float32")["b"].tolist())
print(pd.read_csv("large_a.csv").shape)
