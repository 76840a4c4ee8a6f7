//! A stub: the entries of the kernels without their code, which is enough for the fake driver.

use crate::base::element::ElementType;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::execution::cuda) enum Unit {
    Convert(ElementType, ElementType),
    Memory,
}

impl Unit {
    pub(in crate::execution::cuda) fn source(&self) -> String {
        String::new()
    }

    pub(in crate::execution::cuda) fn ptx(&self) -> Option<String> {
        let entry = |name: String, parameters: &[&str]| {
            let parameters: Vec<_> = parameters.iter().map(|kind| format!(".param .{kind} x")).collect();
            format!(".visible .entry {name}({}) {{ ret; }}\n", parameters.join(", "))
        };
        let moved = ["u64", "u64", "u64", "u32", "u64", "u64", "u64"];
        Some(match self {
            Self::Convert(..) => [
                entry(self.entry("convert"), &["u64", "u64", "u64", "u32", "u64"]),
                entry(self.entry("convert_transposed"), &["u64", "u64", "u64", "u64", "u32", "u64"]),
            ]
            .concat(),
            Self::Memory => [1_usize, 2, 4, 8]
                .map(|width| {
                    let entries = [("fill", &["u64"; 3][..]), ("gather_columns", &moved), ("gather_rows", &moved)];
                    entries.map(|(form, kinds)| entry(Self::name_of_width(form, width), kinds)).concat()
                })
                .concat(),
        })
    }

    /// The name of a kernel of a pair. Pairs of equal types move bits.
    pub(in crate::execution::cuda) fn entry(&self, form: &str) -> String {
        match self {
            Self::Convert(source, target) if source == target => {
                let bits = 8 * source.size_in_bytes();
                format!("{form}_u{bits}_u{bits}")
            }
            Self::Convert(source, target) => format!("{form}_{source}_{target}"),
            Self::Memory => form.to_owned(),
        }
    }

    pub(in crate::execution::cuda) fn name_of_width(form: &str, width: usize) -> String {
        format!("{form}_{width}")
    }
}
