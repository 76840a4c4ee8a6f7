"""Estimators for scikit-learn that process tables block by block, and many files without loading them.

=========================  ===================================  =========================================
here                       like scikit-learn's                  computed by
=========================  ===================================  =========================================
:class:`TableScaler`       ``preprocessing.StandardScaler``     :func:`numeric_table.statistics`
:class:`TableKMeans`       ``cluster.KMeans``                   :class:`numeric_table.KMeansStep`
:class:`TableLinearRegression`  ``linear_model.LinearRegression``    :class:`numeric_table.LinearRegression`
:class:`TableGaussianNB`   ``naive_bayes.GaussianNB``           :class:`numeric_table.GaussianNaiveBayes`
:class:`TableMultinomialNB`     ``naive_bayes.MultinomialNB``        :class:`numeric_table.NaiveBayes`
=========================  ===================================  =========================================

Parameters and attributes have the names of scikit-learn. ``fit``, ``partial_fit``, ``predict`` and ``score`` accept
arrays, frames, tables, the readers that :func:`numeric_table.open` returns, and :class:`numeric_table.Shards`. For
tables, readers and ``Shards``, ``y`` may be the name of a column: the other columns are the features. The estimators do
not support sample weights.

>>> import os, tempfile, numeric_table as nt
>>> from numeric_table.sklearn import TableLinearRegression
>>> path = os.path.join(tempfile.mkdtemp(), "part-0.ntb")
>>> nt.save(nt.Table([[0.0, 1.0], [1.0, 3.0], [2.0, 5.0]], names=["x", "y"]), path)
>>> model = TableLinearRegression().fit(nt.Shards([path]), "y")
>>> model.coef_.round(9).tolist(), round(model.intercept_, 9), model.feature_names_in_.tolist()
([2.0], 1.0, ['x'])

Other estimators accept tables directly. With ``array_api_dispatch=True``, scikit-learn accepts only arrays with an
array API namespace, and tables have none: pass ``np.asarray(table)``, which copies nothing.
"""

from ._bayes import TableGaussianNB, TableMultinomialNB
from ._kmeans import TableKMeans
from ._linear import TableLinearRegression
from ._scaler import TableScaler

__all__ = ["TableGaussianNB", "TableKMeans", "TableLinearRegression", "TableMultinomialNB", "TableScaler"]
