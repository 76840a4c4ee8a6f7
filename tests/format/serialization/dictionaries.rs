//! Dictionaries in every format.

use numeric_table::{dictionary::Categories, prelude::*};

use super::{Table, formats, from_json, through_archive};
use test_support::tables::huge;

fn dictionaries() -> Vec<DataDictionary> {
    let plain = || Feature::new(ElementType::F32);
    vec![
        DataDictionary::uniform(plain(), 3),
        DataDictionary::uniform(plain().named("pixel").categorical(256), 3),
        DataDictionary::from_features([plain().named("length"), plain(), plain().named("width")]),
        DataDictionary::from_features([
            plain().named(""),
            plain().named("Größe (µm) 長さ 🌸"),
            plain().named("\0\"\\\n"),
        ]),
        DataDictionary::from_features([plain().categorical(0), plain().categorical(usize::MAX), plain().ordinal()]),
        DataDictionary::from_features([
            plain().named("same").categorical(3),
            plain().named("same").ordinal(),
            Feature { categories: Some(Categories::new(5)), ..plain().named("n".repeat(10_000)).ordinal() },
        ]),
    ]
}

#[test]
fn the_dictionary_of_a_table_survives_every_format() {
    for dictionary in dictionaries() {
        let mut table = Table::from_rows(&[[1.0_f32, 2.0, 3.0]]).unwrap();
        table.set_dictionary(dictionary.clone()).unwrap();
        assert_eq!(through_archive(&table).dictionary(), &dictionary);
        for through in formats::<Table<f32>>() {
            assert_eq!(through(&table).dictionary(), &dictionary);
        }
    }
}

#[test]
fn a_dictionary_survives_every_format_by_itself() {
    for dictionary in dictionaries() {
        for through in formats::<DataDictionary>() {
            let found = through(&dictionary);
            assert_eq!(found, dictionary);
            assert_eq!(found.is_uniform(), dictionary.is_uniform());
        }
    }
}

#[test]
fn a_uniform_dictionary_of_any_number_of_columns_stays_one_feature() {
    let mut table = Table::<f32>::new(Shape { rows: 0, columns: huge(60) }, AllocationFlag::DoAllocate).unwrap();
    let dictionary = DataDictionary::uniform(Feature::new(ElementType::F32).named("pixel"), huge(60));
    table.set_dictionary(dictionary.clone()).unwrap();
    assert!(table.to_bytes().unwrap().len() <= 256);
    let found = through_archive(&table);
    assert!(found.dictionary().is_uniform());
    assert_eq!(found.dictionary(), &dictionary);
}

#[test]
fn a_feature_that_json_does_not_describe_further_is_continuous_and_without_a_name() {
    let found: Feature = from_json(r#"{"element_type": "bf16"}"#).unwrap();
    assert_eq!(found, Feature::new(ElementType::Bf16));
}

#[test]
fn element_types_are_written_by_name() {
    for &element in ElementType::ALL {
        let text = serde_json::to_string(&element).unwrap();
        assert_eq!(text, format!("\"{element}\""));
        assert_eq!(from_json::<ElementType>(&text).unwrap(), element);
    }
    assert!(from_json::<ElementType>("\"f80\"").is_err());
    assert!(from_json::<ElementType>("1").is_err());
}
