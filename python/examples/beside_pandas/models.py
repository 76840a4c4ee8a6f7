import pathlib
from collections import Counter

from sklearn.compose import make_column_transformer
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

import numeric_table as nt
from numeric_table.sklearn import TableKMeans, TableScaler

data = pathlib.Path(__file__).resolve().parents[3] / "data"
iris = nt.read_csv(data / "iris.csv")
train, test = iris[::2], iris[1::2]
lengths = ["sepal_length_cm", "petal_length_cm"]
columns = make_column_transformer((TableScaler(), lengths), (MinMaxScaler(), ["petal_width_cm"]))
model = make_pipeline(columns, GaussianNB()).fit(train, train["species"])
print(model.score(test, test["species"]), model.predict(test.tail(2)).tolist())
scaled = TableScaler().set_output(transform="pandas").fit_transform(iris.drop("species"))
print(type(scaled).__name__, list(scaled.columns)[:2], scaled.iloc[0].round(9).tolist())
clusters = TableKMeans(3, init=scaled.iloc[[0, 50, 100]].to_numpy(), n_init=1).fit(scaled)
print(sorted(Counter(clusters.labels_.tolist()).values()))
