import numpy as np
import pandas as pd
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.naive_bayes import MultinomialNB

texts = ["the cat sat on the mat", "dogs and cats", "numbers in tables", "tables of numbers in blocks"] * 20
words = TfidfVectorizer()
matrix = words.fit_transform(texts)
table = pd.DataFrame.sparse.from_spmatrix(matrix, columns=words.get_feature_names_out())
table.to_pickle("words.pickle")
table = pd.read_pickle("words.pickle")
print(table.shape, sum(table[name].sparse.npoints for name in table), round(float(table["cat"][0]), 9))
print(np.asarray(table[["cat", "mat"]].sum(axis=0)).round(9).tolist())
weights = table.sparse.to_coo().tocsr()
weights.data[weights.data < 0.4] = 0
weights.eliminate_zeros()
print(weights.nnz, (table.sparse.to_coo() @ np.ones(table.shape[1]))[:2].round(9).tolist())
print(MultinomialNB().fit(table.sparse.to_coo(), [0, 0, 1, 1] * 20).score(table.sparse.to_coo(), [0, 0, 1, 1] * 20))
