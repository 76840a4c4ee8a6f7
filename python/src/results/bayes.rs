//! Naive Bayes: multinomial, for counts, and Gaussian, for any numbers.

use std::sync::Arc;

use pyo3::prelude::*;

use crate::base::boundary::methods;
use crate::base::error::OrRaise;
use crate::base::lists;
use crate::base::numbers;
use crate::results::{Partial, Pickled, labels, matrix, number, object, on_table, properties, state, vector};

type Counts = numeric_table_learning::NaiveBayes;
type Gaussian = numeric_table_learning::GaussianNaiveBayes;

/// Multinomial naive Bayes, for counts such as word counts: learns the sum of each feature in each class. Like
/// scikit-learn's ``MultinomialNB``.
///
/// ``NaiveBayes(columns, by, classes)`` takes the number of columns of the tables, the index of the column that holds
/// the class, and the number of classes. Classes are integers from 0 to ``classes - 1``.
///
/// >>> import numeric_table as nt
/// >>> counts = nt.NaiveBayes(3, 2, 2)
/// >>> counts.update([[2, 1, 0], [3, 0, 0], [0, 1, 1]])
/// >>> counts.model().predict([[0.5, 0.0], [0.0, 4.0]])
/// array([0, 1], dtype=int32)
#[pyclass(frozen, extends = Partial, module = "numeric_table", name = "NaiveBayes")]
pub(crate) struct NaiveBayes;

#[methods]
impl NaiveBayes {
    #[new]
    fn new(
        #[pyo3(from_py_with = numbers::count)] columns: usize,
        #[pyo3(from_py_with = numbers::place)] by: usize,
        #[pyo3(from_py_with = numbers::count)] classes: usize,
    ) -> PyResult<PyClassInitializer<Self>> {
        Ok(Partial::new(Counts::new(columns, by, classes).or_raise()?).of_class(Self))
    }

    /// Returns a model. ``alpha`` is added to each count: 1 is Laplace smoothing.
    #[pyo3(signature = (alpha = 1.0))]
    fn model(slf: &Bound<'_, Self>, alpha: f64) -> PyResult<NaiveBayesModel> {
        let own = state::<Counts>(slf)?;
        let model = own.model(alpha).or_raise()?;
        Ok(NaiveBayesModel { own, alpha, model })
    }
}

properties! { NaiveBayes: |own: Counts, py|
    /// The number of features: all columns except the class.
    feature_count = number(py, own.feature_count());

    /// The number of classes.
    class_count = number(py, own.class_count());

    /// The number of rows of each class.
    class_rows = vector(py, own.class_rows().iter().copied());

    /// The sums of features: a row for each class.
    counts = matrix::<f64>(py, &own.counts().or_raise()?);
}

/// A multinomial naive Bayes model, returned by ``NaiveBayes.model()``.
#[pyclass(frozen, module = "numeric_table", name = "NaiveBayesModel")]
pub(crate) struct NaiveBayesModel {
    own: Arc<Counts>,
    alpha: f64,
    model: numeric_table_learning::NaiveBayesModel,
}

#[methods]
impl NaiveBayesModel {
    /// The natural logarithm of the share of rows of each class.
    #[getter]
    fn log_priors<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        vector(py, self.model.log_priors().iter().copied())
    }

    /// The natural logarithms of the probabilities of features: a row for each class.
    #[getter]
    fn log_probabilities<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        matrix::<f64>(py, &self.model.log_probabilities().or_raise()?)
    }

    /// Returns the class of each row of a table of features.
    fn predict<'py>(&self, table: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        labels(table.py(), &on_table(table, |table| self.model.predict(table))?)
    }

    /// Returns the natural logarithms of the probabilities of the classes of each row: a column for each class.
    fn predict_log_probabilities<'py>(&self, table: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        matrix::<f64>(table.py(), &on_table(table, |table| self.model.predict_log_probabilities(table))?)
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Pickled<'py, (f64,)>> {
        let own = object(py, self.own.clone())?;
        Ok((own.bind(py).getattr("model")?, (self.alpha,)))
    }
}

/// Gaussian naive Bayes, for any numbers: learns the mean and the variance of each feature in each class. Like
/// scikit-learn's ``GaussianNB``.
///
/// ``GaussianNaiveBayes(columns, by, classes)`` takes the arguments of :class:`NaiveBayes`. NaN is a missing value.
///
/// >>> import numeric_table as nt
/// >>> learned = nt.GaussianNaiveBayes(2, 1, 2)
/// >>> learned.update([[1.0, 0], [3.0, 0], [7.0, 1], [9.0, 1]])
/// >>> model = learned.model()
/// >>> model.means, model.predict([[4.0], [6.0]])
/// (array([[2.],
///        [8.]]), array([0, 1], dtype=int32))
#[pyclass(frozen, extends = Partial, module = "numeric_table", name = "GaussianNaiveBayes")]
pub(crate) struct GaussianNaiveBayes;

#[methods]
impl GaussianNaiveBayes {
    #[new]
    fn new(
        #[pyo3(from_py_with = numbers::count)] columns: usize,
        #[pyo3(from_py_with = numbers::place)] by: usize,
        #[pyo3(from_py_with = numbers::count)] classes: usize,
    ) -> PyResult<PyClassInitializer<Self>> {
        Ok(Partial::new(Gaussian::new(columns, by, classes).or_raise()?).of_class(Self))
    }

    /// The statistics of the rows of each class.
    #[getter]
    fn statistics(slf: &Bound<'_, Self>) -> PyResult<Py<PyAny>> {
        let own = state::<Gaussian>(slf)?;
        object(slf.py(), Arc::new(own.statistics().clone()))
    }

    /// Returns a model. ``var_smoothing`` times the largest variance of a feature is added to each variance; ``priors``
    /// are the probabilities of the classes, by default their shares of the rows.
    #[pyo3(signature = (var_smoothing = 1e-9, priors = None))]
    fn model(
        slf: &Bound<'_, Self>,
        var_smoothing: f64,
        #[pyo3(from_py_with = lists::items_or_none::<f64>)] priors: Option<Vec<f64>>,
    ) -> PyResult<GaussianNaiveBayesModel> {
        let own = state::<Gaussian>(slf)?;
        let model = match &priors {
            Some(priors) => own.model_with_priors(priors, var_smoothing),
            None => own.model(var_smoothing),
        };
        Ok(GaussianNaiveBayesModel { model: model.or_raise()?, own, var_smoothing, priors })
    }
}

properties! { GaussianNaiveBayes: |own: Gaussian, py|
    /// The number of features: all columns except the class.
    feature_count = number(py, own.feature_count());

    /// The number of classes.
    class_count = number(py, own.class_count());

    /// The number of rows of each class.
    class_rows = vector(py, own.class_rows().iter().copied());
}

/// A Gaussian naive Bayes model, returned by ``GaussianNaiveBayes.model()``.
#[pyclass(frozen, module = "numeric_table", name = "GaussianNaiveBayesModel")]
pub(crate) struct GaussianNaiveBayesModel {
    own: Arc<Gaussian>,
    var_smoothing: f64,
    priors: Option<Vec<f64>>,
    model: numeric_table_learning::GaussianNaiveBayesModel,
}

#[methods]
impl GaussianNaiveBayesModel {
    /// The natural logarithm of the prior probability of each class.
    #[getter]
    fn log_priors<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        vector(py, self.model.log_priors().iter().copied())
    }

    /// The means of the features: a row for each class, NaN for a class without rows.
    #[getter]
    fn means<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        matrix::<f64>(py, &self.model.means().or_raise()?)
    }

    /// The variances of the features, including smoothing: a row for each class.
    #[getter]
    fn variances<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        matrix::<f64>(py, &self.model.variances().or_raise()?)
    }

    /// Returns the class of each row of a table of features.
    fn predict<'py>(&self, table: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        labels(table.py(), &on_table(table, |table| self.model.predict(table))?)
    }

    /// Returns the natural logarithms of the probabilities of the classes of each row: a column for each class.
    fn predict_log_probabilities<'py>(&self, table: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        matrix::<f64>(table.py(), &on_table(table, |table| self.model.predict_log_probabilities(table))?)
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Pickled<'py, (f64, Option<Vec<f64>>)>> {
        let own = object(py, self.own.clone())?;
        Ok((own.bind(py).getattr("model")?, (self.var_smoothing, self.priors.clone())))
    }
}
