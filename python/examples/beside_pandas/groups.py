import pathlib

import numeric_table as nt

data = pathlib.Path(__file__).resolve().parents[3] / "data"
iris = nt.read_csv(data / "iris.csv")
groups = iris.groupby("species")
for label in groups.labels:
    print(label, *(f"{groups[name][label]['mean']:.6f}" for name in iris.columns[:-1]))
print([f"{value:.6f}" for value in groups["petal_width_cm"].standard_deviation])
summary = iris[iris.columns[:-1]].describe()
print([f"{value:.6f}" for value in summary["50%"]], [f"{value:.6f}" for value in summary["std"]])
counts = iris.value_counts("petal_width_cm").head(2)
print(list(zip(counts["petal_width_cm"].tolist(), counts["count"].tolist())))
