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
        Some(match self {
            Self::Convert(..) => entry(self.entry("convert"), &["u64", "u64", "u64", "u32", "u64"]),
            Self::Memory => [1, 2, 4, 8]
                .map(|width| {
                    let value = ["u8", "u16", "u32", "u64"][width.ilog2() as usize];
                    [
                        entry(Self::name_of_width("fill", width), &["u64", "u64", value]),
                        entry(Self::name_of_width("transpose", width), &["u64"; 4]),
                        entry(Self::name_of_width("gather_columns", width), &["u64"; 7]),
                        entry(Self::name_of_width("gather_rows", width), &["u64"; 6]),
                    ]
                    .concat()
                })
                .concat(),
        })
    }

    pub(in crate::execution::cuda) fn entry(&self, form: &str) -> String {
        match self {
            Self::Convert(source, target) => format!("{form}_{source}_{target}"),
            Self::Memory => form.to_owned(),
        }
    }

    pub(in crate::execution::cuda) fn name_of_width(form: &str, width: usize) -> String {
        format!("{form}_{width}")
    }
}
