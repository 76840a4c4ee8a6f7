import pathlib

import pandas as pd

data = pathlib.Path(__file__).resolve().parents[3] / "data"
iris = pd.read_csv(data / "iris.csv")
groups = iris.groupby("species")
for label, means in groups.mean().iterrows():
    print(label, *(f"{value:.6f}" for value in means))
print([f"{value:.6f}" for value in groups["petal_width_cm"].std()])
summary = iris[iris.columns[:-1]].describe()
print([f"{value:.6f}" for value in summary.loc["50%"]], [f"{value:.6f}" for value in summary.loc["std"]])
counts = iris["petal_width_cm"].value_counts().head(2)
print(list(zip(counts.index.tolist(), counts.tolist())))
