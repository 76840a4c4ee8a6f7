//! Modules, and which kernels there are: by their names, with the parameters that the adapter gives them.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use numeric_table::ElementType;

use crate::algorithms::Algorithm;
use crate::{Answer, INVALID_IMAGE, INVALID_VALUE, NOT_FOUND, Table};

pub(crate) static MODULES: Table<Module> = Table::new();
pub(crate) static FUNCTIONS: Table<Function> = Table::new();

/// A module: its entries, and the number of bytes of each of their parameters.
pub(crate) struct Module {
    pub(crate) device: usize,
    entries: HashMap<String, Vec<usize>>,
    /// Number of launches of its kernels that have not ended.
    pub(crate) running: Arc<AtomicUsize>,
}

/// A kernel of a module.
pub(crate) struct Function {
    pub(crate) module: usize,
    pub(crate) device: usize,
    pub(crate) kernel: Kernel,
    /// The number of bytes of each parameter.
    pub(crate) sizes: Vec<usize>,
}

/// A kernel that is known here. Widths are numbers of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kernel {
    /// `(in, out, count, policy, refused)`
    Convert(ElementType, ElementType),
    /// `(in, row stride, column stride, out, row stride, column stride, rows, columns, policy, refused)`
    ConvertStrided(ElementType, ElementType),
    /// `(in, out, rows, columns, policy, refused)`, from row-major to column-major order
    ConvertTransposed(ElementType, ElementType),
    /// `(out, count, bits)`
    Fill(usize),
    /// `(in, rows, columns, is_column_major, selected, selected_count, out)`
    GatherColumns(usize),
    /// `(in, rows, columns, is_column_major, first, count, out)`
    GatherRows(usize),
    /// `(out, count, start, step)`
    CountUp(usize),
    /// `(in, in_count, indices, count, out, refused)`
    Gather(usize),
    /// `(offsets, offset_width, indices, index_width, values, count, rows, columns, lanes, is_column_major, out,
    /// refused)`
    SparseToDense(usize),
    /// `(in, row_stride, column_stride, rows, columns, group_rows, is_scaled, moments)`
    Statistics(ElementType),
    /// `(moments, groups, columns, merged)`
    Merge,
    /// `(plain, scaled, columns, means_and_deviations)`
    Deviations,
    /// `(values, rows, columns, is_column_major, means_and_deviations)`
    Standardize(ElementType),
    Algorithm(Algorithm),
}

impl Kernel {
    /// Finds a kernel by its name: that of its form, and `_f32_i8` for a pair of types, or `_4` for a width.
    fn of_name(name: &str) -> Option<Self> {
        let types = |rest: &str| {
            let (source, target) = rest.split_once('_')?;
            Some((source.parse::<ElementType>().ok()?, target.parse::<ElementType>().ok()?))
        };
        let width = |rest: &str| rest.parse().ok().filter(|width| [1, 2, 4, 8].contains(width));
        if let Some(rest) = name.strip_prefix("convert_strided_") {
            return types(rest).map(|(source, target)| Self::ConvertStrided(source, target));
        }
        if let Some(rest) = name.strip_prefix("convert_transposed_") {
            return types(rest).map(|(source, target)| Self::ConvertTransposed(source, target));
        }
        if let Some(rest) = name.strip_prefix("convert_") {
            return types(rest).map(|(source, target)| Self::Convert(source, target));
        }
        if let Some(algorithm) = Algorithm::of_name(name) {
            return Some(Self::Algorithm(algorithm));
        }
        let (form, rest) = name.rsplit_once('_')?;
        match (form, rest) {
            ("statistics", "merge") => return Some(Self::Merge),
            ("statistics", element) => return Some(Self::Statistics(element.parse().ok()?)),
            ("means_and", "deviations") => return Some(Self::Deviations),
            ("standardize", element) => return Some(Self::Standardize(element.parse().ok()?)),
            _ => {}
        }
        let width = width(rest)?;
        match form {
            "fill" => Some(Self::Fill(width)),
            "gather_columns" => Some(Self::GatherColumns(width)),
            "gather_rows" => Some(Self::GatherRows(width)),
            "count_up" => Some(Self::CountUp(width)),
            "gather" => Some(Self::Gather(width)),
            "sparse_to_dense" => Some(Self::SparseToDense(width)),
            _ => None,
        }
    }

    /// The number of parameters.
    fn parameters(self) -> usize {
        match self {
            Self::Convert(..) | Self::Standardize(_) => 5,
            Self::ConvertStrided(..) => 10,
            Self::ConvertTransposed(..) => 6,
            Self::Fill(_) => 3,
            Self::Merge | Self::CountUp(_) | Self::Deviations => 4,
            Self::Gather(_) => 6,
            Self::Algorithm(algorithm) => algorithm.parameters(),
            Self::SparseToDense(_) => 12,
            Self::Statistics(_) => 8,
            Self::GatherColumns(_) | Self::GatherRows(_) => 7,
        }
    }
}

impl Module {
    /// Reads the entries of a PTX text.
    pub(crate) fn load(device: usize, text: &str) -> Answer<Self> {
        let mut entries = HashMap::new();
        for entry in text.split(".entry").skip(1) {
            let (name, rest) = entry.split_once('(').ok_or(INVALID_IMAGE)?;
            let (parameters, _) = rest.split_once(')').ok_or(INVALID_IMAGE)?;
            let sizes: Option<Vec<_>> = parameters.split(',').map(str::trim).map(size_of_parameter).collect();
            entries.insert(name.trim().to_owned(), sizes.ok_or(INVALID_IMAGE)?);
        }
        if entries.is_empty() { Err(INVALID_IMAGE) } else { Ok(Self { device, entries, running: Arc::default() }) }
    }

    pub(crate) fn function(&self, module: usize, name: &str) -> Answer<Function> {
        let sizes = self.entries.get(name).ok_or(NOT_FOUND)?.clone();
        let kernel = Kernel::of_name(name).ok_or(NOT_FOUND)?;
        if kernel.parameters() != sizes.len() {
            crate::control::violation(&format!("{name} has {} parameters", sizes.len()));
            return Err(INVALID_VALUE);
        }
        Ok(Function { module, device: self.device, kernel, sizes })
    }
}

/// The number of bytes of a parameter: `.param .u64 name`.
fn size_of_parameter(text: &str) -> Option<usize> {
    let kind = text.strip_prefix(".param")?.split_whitespace().find(|word| *word != ".ptr")?;
    match kind.trim_start_matches(['.', 'u', 's', 'b', 'f']) {
        "8" => Some(1),
        "16" => Some(2),
        "32" => Some(4),
        "64" => Some(8),
        _ => None,
    }
}
