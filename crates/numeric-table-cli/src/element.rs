//! The one element type that holds columns of several.

use numeric_table::{DataDictionary, ElementType};

/// Returns the smallest type that holds every value of the columns: whole numbers of up to 53 bits among floats in
/// `f64`. Larger ones are errors of the conversion, unless the policy permits a loss.
pub(crate) fn common(dictionary: &DataDictionary) -> ElementType {
    let types: Vec<(ElementType, bool)> =
        dictionary.iter().map(|feature| (feature.element_type, feature.nullable)).collect();
    let has_missing = types.iter().any(|(element, nullable)| *nullable && !element.is_float());
    match types.split_first() {
        None => return ElementType::F64,
        Some((first, others)) if !has_missing && others.iter().all(|other| other.0 == first.0) => return first.0,
        _ => {}
    }
    let has_float = has_missing || types.iter().any(|(element, _)| element.is_float());
    let bits = |element: ElementType| element.size_in_bytes() * 8;
    if has_float {
        let is_small = |element: ElementType| match element.is_float() {
            true => bits(element) <= 32,
            false => bits(element) <= 16,
        };
        let all_small = types.iter().all(|(element, _)| is_small(*element));
        return if all_small { ElementType::F32 } else { ElementType::F64 };
    }
    let is_signed = |element: ElementType| {
        matches!(element, ElementType::I8 | ElementType::I16 | ElementType::I32 | ElementType::I64)
    };
    let any_signed = types.iter().any(|(element, _)| is_signed(*element));
    let widest = types.iter().map(
        |(element, _)| {
            if any_signed && !is_signed(*element) { bits(*element) + 1 } else { bits(*element) }
        },
    );
    match (any_signed, widest.max().unwrap_or(64)) {
        (true, ..=8) => ElementType::I8,
        (true, ..=16) => ElementType::I16,
        (true, ..=32) => ElementType::I32,
        (true, ..=64) => ElementType::I64,
        (true, _) => ElementType::F64,
        (false, ..=8) => ElementType::U8,
        (false, ..=16) => ElementType::U16,
        (false, ..=32) => ElementType::U32,
        (false, _) => ElementType::U64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use numeric_table::Feature;

    #[test]
    fn the_common_type_holds_all_values() {
        use ElementType::{F16, F32, F64, I8, I16, I64, U8, U16, U32, U64};
        let of = |types: &[ElementType]| common(&types.iter().map(|&element| Feature::new(element)).collect());
        assert_eq!(of(&[]), F64);
        assert_eq!(of(&[U8, U8]), U8);
        assert_eq!(of(&[U8, I8]), I16);
        assert_eq!(of(&[U16, U8]), U16);
        assert_eq!(of(&[U32, I8]), I64);
        assert_eq!(of(&[U64, I8]), F64);
        assert_eq!(of(&[F16, U8]), F32);
        assert_eq!(of(&[F32, U32]), F64);
        assert_eq!(of(&[F64, U8, I16]), F64);
        let nullable = common(&[Feature::new(U8).nullable(), Feature::new(U8)].into_iter().collect());
        assert_eq!(nullable, F32);
        assert_eq!(common(&[Feature::new(F16).nullable()].into_iter().collect()), F16);
    }
}
