#!/usr/bin/env python3
"""Creates the golden files of sparse tables: python3 make_sparse.py [FOLDER]. Needs NumPy, SciPy and scikit-learn.

All hold the matrix of `golden`, unless their name says otherwise. They were created once, with NumPy 2.4.6, SciPy 1.17.1
and scikit-learn 1.9.1, and must always be readable. What they hold is also in tests/interop/sparse/golden_files.rs.
"""
import os
import sys

import numpy as np
from scipy import io, sparse
from sklearn.datasets import dump_svmlight_file

folder = sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.abspath(__file__))


def path(name):
    return os.path.join(folder, name)


def golden(dtype, indices="i4"):
    """Four rows and five columns, the second row and the last column empty."""
    offsets = np.array([0, 2, 2, 3, 5], indices)
    columns = np.array([0, 3, 1, 0, 2], indices)
    matrix = sparse.csr_matrix((4, 5), dtype=dtype)
    matrix.data, matrix.indices, matrix.indptr = np.array([1, 2, 3, 4, 5]).astype(dtype), columns, offsets
    return matrix


for number in ["f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"]:
    sparse.save_npz(path(f"csr_{number}.npz"), golden(number))
sparse.save_npz(path("csr_stored.npz"), golden("f8"), compressed=False)
big = golden("f8")
big.data, big.indices, big.indptr = big.data.astype(">f8"), big.indices.astype(">i4"), big.indptr.astype(">i4")
sparse.save_npz(path("csr_big_endian.npz"), big, compressed=False)
sparse.save_npz(path("csr_wide_indices.npz"), golden("f8", "i8"))
sparse.save_npz(path("csr_array.npz"), sparse.csr_array(golden("f8")))
sparse.save_npz(path("csc.npz"), golden("f8").tocsc())
unsorted = golden("f8")
unsorted.indices = np.array([3, 0, 1, 2, 2], "i4")  # the last row has one cell twice: 4 + 5
sparse.save_npz(path("csr_unsorted.npz"), unsorted)
sparse.save_npz(path("refused_coo.npz"), golden("f8").tocoo())
sparse.save_npz(path("refused_bool.npz"), golden("?"))
sparse.save_npz(path("refused_complex.npz"), golden("c16"))
np.savez(path("refused_no_matrix.npz"), numbers=np.arange(3))

symmetric = sparse.coo_matrix(np.array([[1.5, 0, 2], [0, 0, -3], [2, -3, 4]]))
skew = sparse.coo_matrix(np.array([[0, 0, -2.5], [0, 0, 3], [2.5, -3, 0]]))
io.mmwrite(path("real.mtx"), golden("f8"), comment="a comment")
io.mmwrite(path("integer.mtx"), golden("i4"))
io.mmwrite(path("unsigned.mtx"), golden("u8"))
io.mmwrite(path("pattern.mtx"), golden("f8"), field="pattern")
io.mmwrite(path("symmetric.mtx"), symmetric, symmetry="symmetric")
io.mmwrite(path("skew.mtx"), skew, symmetry="skew-symmetric")
io.mmwrite(path("array.mtx"), golden("f8").toarray())
io.mmwrite(path("array_symmetric.mtx"), symmetric.toarray(), symmetry="symmetric")
io.mmwrite(path("array_skew.mtx"), skew.toarray(), symmetry="skew-symmetric")
io.mmwrite(path("refused_complex.mtx"), golden("c16"))
io.mmwrite(path("refused_hermitian.mtx"), sparse.coo_matrix(np.array([[1, 2j], [-2j, 1]])), symmetry="hermitian")

labels = [1, -1, 0.5, 2]
dump_svmlight_file(golden("f8"), labels, path("from_zero.svm"), zero_based=True)
dump_svmlight_file(golden("f8"), labels, path("from_one.svm"), zero_based=False, comment="two\nlines")
dump_svmlight_file(golden("f4"), labels, path("queries.svm"), zero_based=False, query_id=[7, 7, -8, 9])
dump_svmlight_file(
    golden("f8"), sparse.csr_matrix([[1, 0, 1], [0, 1, 0], [0, 0, 0], [1, 1, 1]]), path("sets.svm"),
    zero_based=False, multilabel=True,
)
