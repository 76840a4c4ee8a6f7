import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.naive_bayes import MultinomialNB

import numeric_table as nt

texts = ["the cat sat on the mat", "dogs and cats", "numbers in tables", "tables of numbers in blocks"] * 20
words = TfidfVectorizer()
matrix = words.fit_transform(texts)
table = nt.Table(matrix, names=list(words.get_feature_names_out()))
nt.save(table, "words.ntb")
table = nt.load("words.ntb")
print(table.shape, table.nnz, round(float(table["cat"][0]), 9))
print(table[["cat", "mat"]].to_scipy().sum(axis=0).round(9).tolist())
weights = table.to_scipy(copy=True)
weights.data[weights.data < 0.4] = 0
weights.eliminate_zeros()
print(weights.nnz, (table.to_scipy() @ np.ones(table.shape[1]))[:2].round(9).tolist())
print(MultinomialNB().fit(table.to_scipy(), [0, 0, 1, 1] * 20).score(table.to_scipy(), [0, 0, 1, 1] * 20))
