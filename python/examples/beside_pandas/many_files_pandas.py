import pathlib

import numpy as np
import pandas as pd

random = np.random.default_rng(1)
pathlib.Path("parts").mkdir()
for part, rows in enumerate([1000] * 5 + [500]):
    frame = pd.DataFrame(random.integers(0, 100, (rows, 2)), columns=["x", "y"])
    frame.to_parquet(f"parts/{part}.parquet")

frame = pd.read_parquet("parts")
print(frame.shape, frame.mean().tolist(), frame.min().astype("float64").tolist())
print(frame.iloc[2500].tolist(), frame["y"][-2:].tolist(), frame["x"].sum())
print(round(float(frame.corr().iloc[0, 1]), 9))
