//! stub
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
        None
    }
    pub(in crate::execution::cuda) fn entry(&self, form: &str) -> String {
        form.to_owned()
    }
    pub(in crate::execution::cuda) fn name_of_width(form: &str, width: usize) -> String {
        format!("{form}_{width}")
    }
}
