//! Names that users of pandas, polars and NumPy type first, and that have another name here: each with what to write
//! instead. Errors quote them. A name that costs nothing is an alias where the call is defined, and not in these lists.

use pyo3::exceptions::{PyAttributeError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

type Advice = (&'static [&'static str], &'static str);

/// Attributes of frames and arrays that tables do not have.
const OF_TABLES: [Advice; 24] = [
    (
        &["T", "transpose"],
        "its columns have types and names, which rows do not have; to_numpy().T is the transposed array, and \
         to_scipy().T that of a sparse table",
    ),
    (&["values", "array"], "to_numpy() has all values, and table[\"a\"] those of a column"),
    (&["loc", "at"], "table[rows, \"a\"] has values, and table[mask] rows; a row has no label"),
    (&["iloc", "iat"], "table[3], table[2:5] and table[[1, 2]] are rows, and table[3, \"a\"] is a value"),
    (&["index", "set_index", "reset_index"], "rows are numbered from 0, and a column can have their keys"),
    (
        &["mean", "sum", "std", "var", "min", "max", "median", "count", "quantile"],
        "nt.statistics(table)[\"a\"][\"mean\"] has statistics, and describe() a summary with quartiles",
    ),
    (&["corr", "cov"], "nt.Covariance(len(table.columns)) has covariances and correlations after update(table)"),
    (&["sort_values", "sort", "sort_index"], "sort_by([\"a\", \"b\"], descending=[True, False]) sorts rows"),
    (&["nlargest", "nsmallest", "top_k"], "sort_by(\"a\", descending=True).head(n) has the largest values"),
    (&["merge", "join"], "nt.hstack([table, other]) puts tables side by side; to_pandas() can be merged by keys"),
    (&["append", "concat"], "nt.vstack([table, other]) appends rows, and nt.hstack columns"),
    (&["to_csv"], "nt.write_csv(table, path) writes a CSV file"),
    (
        &["to_parquet", "to_feather", "write_parquet"],
        "nt.save(table, path) writes a table file, and pyarrow.parquet.write_table(table.to_arrow(), path) Parquet",
    ),
    (&["to_dict", "to_dicts", "to_records", "to_list", "tolist"], "{name: table[name] for name in table.columns}"),
    (&["unique", "nunique", "n_unique"], "value_counts(\"a\") has the distinct values, and np.unique(table[\"a\"])"),
    (&["drop_duplicates", "duplicated"], "value_counts(\"a\") has the distinct values of a column"),
    (&["isnull"], "isna() marks missing values"),
    (&["notnull"], "notna() marks values that are not missing"),
    (&["fill_null", "fill_nan", "ffill", "bfill"], "fillna(0) and fillna(method=\"ffill\") replace missing values"),
    (&["drop_nulls", "drop_nans"], "dropna() leaves out rows with missing values"),
    (&["group_by"], "groupby(\"a\") groups rows"),
    (&["filter", "query", "where"], "table[table[\"a\"] > 0] chooses rows"),
    (&["assign", "insert", "with_columns"], "with_column(\"a\", values) returns a table with another column"),
    (
        &["apply", "map", "agg", "aggregate", "pivot", "melt", "iterrows", "itertuples"],
        "for row in table has rows, par_map_blocks(f, n) calls a function with blocks, and to_pandas() has the others",
    ),
];

/// Options of `read_csv` and `open_csv` in other libraries.
const OF_CSV: [Advice; 13] = [
    (&["nrows", "n_rows", "chunksize", "iterator"], "next(nt.open_csv(path).row_blocks(n)) reads n rows at a time"),
    (&["names", "new_columns"], "header=None, and then table.columns = [\"a\", \"b\"]"),
    (&["index_col"], "rows are numbered from 0, and a column can have their keys"),
    (&["parse_dates", "try_parse_dates"], "dtypes={\"d\": \"datetime64[D]\"} reads dates"),
    (&["skiprows", "skip_rows", "skipfooter"], "comment=\"#\" leaves lines out that begin with it"),
    (&["encoding"], "files are UTF-8: convert others first"),
    (
        &["null_values", "na_filter"],
        "na_values= adds texts that mean a missing value, keep_default_na=False removes others",
    ),
    (&["true_values", "false_values"], "booleans are read as words"),
    (&["has_header"], "header=True or header=None"),
    (&["schema", "schema_overrides", "converters"], "dtypes={\"a\": \"float32\"} states types of columns"),
    (&["engine", "low_memory", "memory_map", "n_threads"], "files are read in parts, on all threads"),
    (&["quotechar", "quote_char", "quoting", "escapechar"], "quotes are \" around a field, and \"\" within one"),
    (&["skipinitialspace", "skip_blank_lines"], "spaces around a field and blank lines are left out"),
];

fn advice(list: &'static [Advice], name: &str) -> Option<&'static str> {
    list.iter().find(|(names, _)| names.contains(&name)).map(|&(_, advice)| advice)
}

/// Returns the error for an attribute that a table does not have.
pub(crate) fn no_attribute(table: &Bound<'_, PyAny>, name: &str) -> PyResult<PyErr> {
    let error = PyAttributeError::new_err(match advice(&OF_TABLES, name) {
        Some(advice) => format!("a table has no .{name}: {advice}"),
        None => format!("'numeric_table.Table' object has no attribute '{name}'"),
    });
    let value = error.value(table.py());
    value.setattr("name", name)?; // Python suggests similar names
    value.setattr("obj", table)?;
    Ok(error)
}

/// Refuses keywords that `read_csv` and `open_csv` do not have.
pub(crate) fn refuse_options(function: &str, options: Option<&Bound<'_, PyDict>>) -> PyResult<()> {
    let Some(name) = options.and_then(|options| options.keys().iter().next()) else { return Ok(()) };
    let name = name.str()?.to_string();
    Err(PyTypeError::new_err(match advice(&OF_CSV, &name) {
        Some(advice) => format!("{function}() has no {name}=: {advice}"),
        None => format!("{function}() got an unexpected keyword argument '{name}'"),
    }))
}
