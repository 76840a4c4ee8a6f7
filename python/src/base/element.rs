//! Element types in Python's terms: NumPy's names, the formats of the buffer protocol.

use std::ffi::CStr;

use numeric_table::ElementType;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyString};

use crate::base::error::TableTypeError;

/// `with_type!(element_type, T => body)`: `body`, compiled for each element type and chosen at run time.
macro_rules! with_type {
    ($element_type:expr, $T:ident => $body:expr) => {
        match $element_type {
            ::numeric_table::ElementType::F32 => {
                type $T = f32;
                $body
            }
            ::numeric_table::ElementType::F64 => {
                type $T = f64;
                $body
            }
            ::numeric_table::ElementType::I8 => {
                type $T = i8;
                $body
            }
            ::numeric_table::ElementType::I16 => {
                type $T = i16;
                $body
            }
            ::numeric_table::ElementType::I32 => {
                type $T = i32;
                $body
            }
            ::numeric_table::ElementType::I64 => {
                type $T = i64;
                $body
            }
            ::numeric_table::ElementType::U8 => {
                type $T = u8;
                $body
            }
            ::numeric_table::ElementType::U16 => {
                type $T = u16;
                $body
            }
            ::numeric_table::ElementType::U32 => {
                type $T = u32;
                $body
            }
            ::numeric_table::ElementType::U64 => {
                type $T = u64;
                $body
            }
            ::numeric_table::ElementType::F16 => {
                type $T = ::half::f16;
                $body
            }
            // The twelfth and last one: `ElementType` may grow, and this list with it (a test of the package counts
            // them).
            _ => {
                type $T = ::half::bf16;
                $body
            }
        }
    };
}
pub(crate) use with_type;

/// The element types, their names and short names in NumPy, and their formats in the buffer protocol. Neither has
/// bfloat16: it has no short name, and is exported as an unsigned integer.
const NAMES: [(ElementType, &str, Option<&str>, &CStr); 12] = [
    (ElementType::F32, "float32", Some("f4"), c"f"),
    (ElementType::F64, "float64", Some("f8"), c"d"),
    (ElementType::I8, "int8", Some("i1"), c"b"),
    (ElementType::I16, "int16", Some("i2"), c"h"),
    (ElementType::I32, "int32", Some("i4"), c"i"),
    (ElementType::I64, "int64", Some("i8"), c"q"),
    (ElementType::U8, "uint8", Some("u1"), c"B"),
    (ElementType::U16, "uint16", Some("u2"), c"H"),
    (ElementType::U32, "uint32", Some("u4"), c"I"),
    (ElementType::U64, "uint64", Some("u8"), c"Q"),
    (ElementType::F16, "float16", Some("f2"), c"e"),
    (ElementType::Bf16, "bfloat16", None, c"H"),
];

fn of(element: ElementType) -> (&'static str, &'static CStr) {
    let found = NAMES.iter().find(|&&(of, ..)| of == element);
    found.map_or(("object", c"B"), |&(_, name, _, format)| (name, format))
}

/// Returns the NumPy name of a type.
pub(crate) fn name(element: ElementType) -> &'static str {
    of(element).0
}

/// Returns the buffer format of a type.
pub(crate) fn format(element: ElementType) -> &'static CStr {
    of(element).1
}

/// Returns the type of a buffer's items. Lengths of C integers depend on the platform, so the size counts.
pub(crate) fn of_format(format: &CStr, size: usize) -> Option<ElementType> {
    let code = match format.to_bytes() {
        [b'@' | b'=', code] => code,
        [b'<', code] if cfg!(target_endian = "little") => code,
        [b'>' | b'!', code] if cfg!(target_endian = "big") => code,
        [code] => code,
        _ => return None,
    };
    Some(match (code, size) {
        (b'f', 4) => ElementType::F32,
        (b'd', 8) => ElementType::F64,
        (b'e', 2) => ElementType::F16,
        (b'b' | b'h' | b'i' | b'l' | b'q' | b'n', _) => match size {
            1 => ElementType::I8,
            2 => ElementType::I16,
            4 => ElementType::I32,
            8 => ElementType::I64,
            _ => return None,
        },
        (b'B' | b'H' | b'I' | b'L' | b'Q' | b'N', _) => match size {
            1 => ElementType::U8,
            2 => ElementType::U16,
            4 => ElementType::U32,
            8 => ElementType::U64,
            _ => return None,
        },
        _ => return None,
    })
}

/// A type of values that NumPy itself has.
struct Known {
    element: ElementType,
    dtype: Py<PyAny>,
    /// The class of single values: `numpy.float64`.
    scalar: Py<PyAny>,
}

/// Returns the types of NumPy, all but bfloat16.
fn known(py: Python<'_>) -> PyResult<&[Known]> {
    static KNOWN: PyOnceLock<Vec<Known>> = PyOnceLock::new();
    let load = || {
        let numpy = py.import("numpy")?;
        let of = |(element, name)| {
            let dtype = numpy.call_method1("dtype", (name,))?;
            Ok(Known { element, scalar: dtype.getattr("type")?.unbind(), dtype: dtype.unbind() })
        };
        NAMES.iter().filter_map(|&(element, _, short, _)| Some((element, short?))).map(of).collect::<PyResult<Vec<_>>>()
    };
    KNOWN.get_or_try_init(py, load).map(|known| &known[..])
}

/// Returns the type for an argument that names it as in NumPy: `"float32"`, `"f4"`, `np.float32`,
/// `np.dtype("float32")`,
/// `float`; and `"bfloat16"`.
pub(crate) fn of_object(dtype: &Bound<'_, PyAny>) -> PyResult<ElementType> {
    let by_name = |text: &str| {
        let found = NAMES.iter().find(|&&(_, name, short, _)| name == text || short == Some(text));
        found.map(|&(element, ..)| element)
    };
    if let Ok(text) = dtype.cast::<PyString>() {
        let text = text.to_string_lossy();
        if let Some(element) = by_name(&text) {
            return Ok(element);
        }
    }
    let mut known = known(dtype.py())?.iter();
    if let Some(known) = known.find(|known| dtype.is(&known.dtype) || dtype.is(&known.scalar)) {
        return Ok(known.element);
    }
    if dtype.is_instance_of::<PyDict>() {
        return Err(TableTypeError::new_err(
            "dtype is one type for all columns, not a dict: Table({\"a\": np.asarray(values, \"float32\")}) has a type \
             for each column, and read_csv(path, dtypes={\"a\": \"float32\"})",
        ));
    }
    let described = match dtype.py().import("numpy")?.call_method1("dtype", (dtype,)) {
        Ok(described) => described,
        Err(error) if error.is_instance_of::<PyTypeError>(dtype.py()) => return Err(unknown(dtype)?),
        Err(error) => return Err(error),
    };
    let text: String = described.getattr("name")?.extract()?;
    let is_native: bool = described.getattr("isnative")?.extract()?;
    match by_name(&text).filter(|_| is_native) {
        Some(element) => Ok(element),
        None if described.getattr("kind")?.eq("U")? || described.getattr("kind")?.eq("T")? => Err(unknown(dtype)?),
        None => Err(TableTypeError::new_err(format!("tables do not support the type {described}"))),
    }
}

/// Returns the error for a type of words, or for one that NumPy does not have.
fn unknown(dtype: &Bound<'_, PyAny>) -> PyResult<PyErr> {
    let given = dtype.repr()?.to_string();
    let lower = dtype.str()?.to_string().to_lowercase();
    let advice = if NAMES.iter().any(|&(_, name, ..)| name == lower) {
        format!("{lower:?} is the type, in which columns may have missing values")
    } else {
        "columns of words become categories without it, and read_csv(path, categorical=\"a\") reads numbers as words"
            .to_owned()
    };
    Ok(TableTypeError::new_err(format!("a column has no type {given}: {advice}")))
}

/// Returns the NumPy dtype of a type; the dtype of bfloat16 comes from the package `ml_dtypes`.
pub(crate) fn dtype<'py>(py: Python<'py>, element: ElementType) -> PyResult<Bound<'py, PyAny>> {
    if let Some(known) = known(py)?.iter().find(|known| known.element == element) {
        return Ok(known.dtype.bind(py).clone());
    }
    let scalar = py.import("ml_dtypes").and_then(|module| module.getattr("bfloat16")).map_err(|_| {
        PyTypeError::new_err("NumPy has no bfloat16: install ml_dtypes, or request another type (dtype=\"float32\")")
    })?;
    py.import("numpy")?.call_method1("dtype", (scalar,))
}

/// Returns whether a type can represent all values of another one.
pub(crate) fn has_all(element: ElementType, of: ElementType) -> bool {
    use ElementType::{Bf16, F16, F32, F64, I8, I16, I32, I64, U8, U16, U32, U64};
    match of {
        _ if of == element => true,
        I8 => matches!(element, I16 | I32 | I64 | F16 | Bf16 | F32 | F64),
        U8 => matches!(element, I16 | U16 | I32 | U32 | I64 | U64 | F16 | Bf16 | F32 | F64),
        I16 => matches!(element, I32 | I64 | F32 | F64),
        U16 => matches!(element, I32 | U32 | I64 | U64 | F32 | F64),
        I32 => matches!(element, I64 | F64),
        U32 => matches!(element, I64 | U64 | F64),
        F16 | Bf16 => matches!(element, F32 | F64),
        F32 => element == F64,
        _ => false,
    }
}
