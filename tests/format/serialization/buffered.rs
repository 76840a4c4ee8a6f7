//! Tables within enums and structures that serde reads ahead: internally and adjacently tagged, untagged, flattened.
//!
//! serde keeps what it reads ahead in a buffer, and replays it from there as if every format were human-readable. In
//! formats that describe themselves, what is in the buffer comes back bit for bit (in JSON, number for number); in
//! others it fails with a sentence.

use numeric_table::prelude::*;
use numeric_table::{
    AnyArray, AosNumericTable, CsrNumericTable, PackedSymmetricMatrix, SoaNumericTable,
    table::{RecordLayout, Triangle},
};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use test_support::bits::special_values;
use test_support::for_each_element;

use super::{LAYOUTS, Table, five_columns, through_json, through_json_reader, through_json_value};
use test_support::tables::huge;

#[derive(Serialize, Deserialize)]
#[serde(tag = "case", bound = "V: Serialize + DeserializeOwned")]
enum Internal<V> {
    Other { count: u8 },
    Held(V),
}

#[derive(Serialize, Deserialize)]
#[serde(tag = "case", content = "held", bound = "V: Serialize + DeserializeOwned")]
enum Adjacent<V> {
    Held(V),
}

#[derive(Serialize, Deserialize)]
#[serde(untagged, bound = "V: Serialize + DeserializeOwned")]
enum Untagged<V> {
    Other { missing: u8 },
    Held(V),
}

#[derive(Serialize, Deserialize)]
#[serde(bound = "V: Serialize + DeserializeOwned")]
struct Flat<V> {
    before: String,
    #[serde(flatten)]
    held: V,
    after: u64,
}

fn through_cbor<V: Serialize + DeserializeOwned>(value: &V) -> V {
    let mut bytes = Vec::new();
    ciborium::into_writer(value, &mut bytes).unwrap();
    ciborium::from_reader(&bytes[..]).unwrap()
}

/// Structures are sequences.
fn through_messages<V: Serialize + DeserializeOwned>(value: &V) -> V {
    rmp_serde::from_slice(&rmp_serde::to_vec(value).unwrap()).unwrap()
}

/// Structures are maps, and the reader cannot lend its bytes.
fn through_named_messages<V: Serialize + DeserializeOwned>(value: &V) -> V {
    rmp_serde::from_read(&rmp_serde::to_vec_named(value).unwrap()[..]).unwrap()
}

/// Formats that keep every bit.
fn binary_formats<V: Serialize + DeserializeOwned>() -> [fn(&V) -> V; 3] {
    [through_cbor, through_messages, through_named_messages]
}

fn text_formats<V: Serialize + DeserializeOwned>() -> [fn(&V) -> V; 3] {
    [through_json, through_json_reader, through_json_value]
}

fn bits_of<V: Serialize>(value: &V) -> Vec<u8> {
    bincode::serde::encode_to_vec(value, bincode::config::standard()).unwrap()
}

fn text_of<V: Serialize>(value: &V) -> String {
    serde_json::to_string(value).unwrap()
}

/// Checks a value that `wrap` puts into something that is read ahead, and `unwrap` takes out again.
fn check_in<V, W>(make: &dyn Fn() -> V, wrap: fn(V) -> W, unwrap: fn(W) -> Option<V>)
where
    V: Serialize + DeserializeOwned,
    W: Serialize + DeserializeOwned,
{
    for through in binary_formats::<W>() {
        let found = unwrap(through(&wrap(make()))).unwrap();
        assert!(bits_of(&found) == bits_of(&make()), "{} was {}", text_of(&found), text_of(&make()));
    }
    for through in text_formats::<W>() {
        assert_eq!(text_of(&unwrap(through(&wrap(make()))).unwrap()), text_of(&make()));
    }
}

/// Checks a value in everything that can hold it; serde refuses sequences with a tag inside, or flattened.
fn check<V: Serialize + DeserializeOwned>(is_sequence: bool, make: impl Fn() -> V) {
    check_in::<V, V>(&make, |value| value, Some);
    check_in(&make, Adjacent::Held, |Adjacent::Held(value)| Some(value));
    check_in(&make, Untagged::Held, |found| match found {
        Untagged::Held(value) => Some(value),
        Untagged::Other { .. } => None,
    });
    if is_sequence {
        let refused = serde_json::to_string(&Internal::Held(make())).unwrap_err().to_string();
        assert!(refused.contains("cannot serialize tagged newtype variant"), "{refused}");
        assert!(ciborium::into_writer(&Internal::Held(make()), Vec::new()).is_err());
        assert!(rmp_serde::to_vec(&Internal::Held(make())).is_err());
        return;
    }
    check_in(&make, Internal::Held, |found| match found {
        Internal::Held(value) => Some(value),
        Internal::Other { .. } => None,
    });
    let flat = |held| Flat { before: "b".into(), held, after: u64::MAX };
    check_in(&make, flat, |found| (found.after == u64::MAX && found.before == "b").then_some(found.held));
}

fn described<T: Element>(mut table: Table<T>) -> Table<T> {
    let features = (0..5).map(|column| Feature::new(T::TYPE).named(format!("ä{column}")).categorical(column));
    table.set_dictionary(features.collect()).unwrap();
    table
}

#[test]
fn tables_of_every_element_type_survive_being_read_ahead() {
    for_each_element!(T => {
        for layout in LAYOUTS {
            let table = || five_columns(special_values::<T>(), layout);
            check(false, table);
            check(false, || described(table()));
        }
    });
    check(false, Table::<f32>::default);
    check(false, || Table::<u8>::new(Shape { rows: usize::MAX, columns: 0 }, AllocationFlag::DoAllocate).unwrap());
}

#[test]
fn arrays_of_every_element_type_survive_being_read_ahead() {
    for_each_element!(T => {
        check(true, || Array::from(special_values::<T>()));
        check(false, || AnyArray::from(special_values::<T>()));
        check(true, Array::<T>::new);
    });
    check(true, || Array::from(vec![u64::MAX, i64::MAX as u64 + 1, 0]));
    check(true, || Array::from(vec![f64::NAN, f64::INFINITY, -0.0, 0.1, 5e-324]));
}

#[test]
fn dictionaries_survive_being_read_ahead() {
    let feature = || Feature::new(ElementType::F32);
    check(false, || DataDictionary::uniform(feature().named("pixel").categorical(256), huge(40)));
    check(false, || DataDictionary::from_features([feature().named("é"), feature(), feature().ordinal()]));
    check(false, || DataDictionary::from_features([]));
}

#[test]
fn tables_of_every_kind_survive_being_read_ahead() {
    let soa = || {
        let columns = [("x", AnyArray::from(vec![1.5_f32, f32::NAN])), ("n", AnyArray::from(vec![u64::MAX, 1]))];
        SoaNumericTable::from_columns(columns).unwrap()
    };
    let layout = || RecordLayout::new(16).field("a", ElementType::U8, 0)?.field("b", ElementType::F64, 8);
    let aos = || AosNumericTable::zeros(&layout().unwrap(), 3).unwrap();
    let csr = || {
        let shape = Shape { rows: 2, columns: 4 };
        CsrNumericTable::try_new(shape, vec![0, 2, 3], vec![0, 3, 1], vec![1.5_f64, -0.0, 3.5]).unwrap()
    };
    let packed =
        || PackedSymmetricMatrix::from_packed(vec![1_i16, 2, 3], Triangle::Lower, DataLayout::RowMajor).unwrap();
    check_in(&soa, Untagged::Held, |found| if let Untagged::Held(table) = found { Some(table) } else { None });
    check(false, soa);
    check(false, aos);
    check(false, csr);
    check(false, packed);
    check::<Box<dyn NumericTable>>(false, || Box::new(soa()));
    check::<Box<dyn NumericTable>>(false, || Box::new(aos()));
    check::<Box<dyn NumericTable>>(false, || Box::new(csr()));
    check::<Box<dyn NumericTable>>(false, || Box::new(described(five_columns((0..50_i8).collect(), LAYOUTS[1]))));
}

#[test]
fn the_first_type_that_fits_is_taken_of_several() {
    #[derive(Serialize, Deserialize)]
    #[serde(untagged)]
    enum Found {
        Bytes(Table<u8>),
        Floats(Table<f32>),
        Any(Box<dyn NumericTable>),
        Numbers(Array<f64>),
    }
    fn kind(found: &Found) -> usize {
        match found {
            Found::Bytes(_) => 0,
            Found::Floats(_) => 1,
            Found::Any(_) => 2,
            Found::Numbers(_) => 3,
        }
    }
    let all = [
        Found::Bytes(Table::from_rows(&[[7_u8, 255]]).unwrap()),
        Found::Floats(Table::from_rows(&[[f32::INFINITY, 0.1]]).unwrap()),
        Found::Any(Box::new(SoaNumericTable::from_columns([("x", vec![1_u16])]).unwrap())),
        Found::Numbers(Array::from(vec![0.5])),
    ];
    for (index, one) in all.iter().enumerate() {
        for through in binary_formats().into_iter().chain(text_formats()) {
            let found = through(one);
            assert_eq!((kind(&found), text_of(&found)), (index, text_of(one)));
        }
    }
}

#[test]
fn several_flattened_parts_find_each_their_own() {
    #[derive(Serialize, Deserialize, Debug, PartialEq)]
    struct Other {
        count_of_others: u8,
    }
    #[derive(Serialize, Deserialize)]
    struct Two {
        #[serde(flatten)]
        other: Other,
        #[serde(flatten)]
        dictionary: DataDictionary,
    }
    let dictionary = DataDictionary::uniform(Feature::new(ElementType::I64).named("n"), 7);
    let two = Two { other: Other { count_of_others: 3 }, dictionary: dictionary.clone() };
    for through in binary_formats().into_iter().chain(text_formats()) {
        let found: Two = through(&two);
        assert_eq!((found.other, found.dictionary), (Other { count_of_others: 3 }, dictionary.clone()));
    }
}

#[test]
fn a_format_that_does_not_describe_itself_refuses_with_a_sentence() {
    fn refused<W: Serialize + DeserializeOwned>(value: W) -> String {
        match bincode::serde::encode_to_vec(&value, bincode::config::standard()) {
            Err(error) => error.to_string(),
            Ok(bytes) => {
                let found: Result<(W, _), _> = bincode::serde::decode_from_slice(&bytes, bincode::config::standard());
                found.map(drop).unwrap_err().to_string()
            }
        }
    }
    let table = || Table::from_rows(&[[1.5_f32, 2.5]]).unwrap();
    assert_eq!(refused(Internal::Held(table())), "Serde(AnyNotSupported)");
    assert_eq!(refused(Untagged::Held(table())), "Serde(AnyNotSupported)");
    assert_eq!(refused(Adjacent::Held(table())), "Serde(IdentifierNotSupported)");
    assert_eq!(refused(Flat { before: String::new(), held: table(), after: 0 }), "Serde(SequenceMustHaveLength)");
}

#[test]
fn what_is_wrong_in_the_buffer_is_said() {
    fn refusal<V: DeserializeOwned>(value: &impl Serialize) -> String {
        let mut bytes = Vec::new();
        ciborium::into_writer(&Adjacent2 { held: value, case: "Held" }, &mut bytes).unwrap();
        ciborium::from_reader::<Adjacent<Owned<V>>, _>(&bytes[..]).map(drop).unwrap_err().to_string()
    }
    /// The tag comes last, so that what it is the tag of is read ahead.
    #[derive(Serialize)]
    struct Adjacent2<'a, V> {
        held: &'a V,
        case: &'static str,
    }
    #[derive(Deserialize)]
    #[serde(bound = "V: DeserializeOwned", transparent)]
    struct Owned<V>(V);
    impl<V> Serialize for Owned<V> {
        fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            serializer.serialize_unit()
        }
    }
    let floats = Array::from(vec![1.5_f32]);
    assert!(refusal::<Array<f64>>(&floats).contains("the element type is f32, not f64"));
    assert!(refusal::<Array<u8>>(&vec![1, 300]).contains("300 is not a value of u8"));
    assert!(refusal::<Array<u8>>(&("u8",)).contains("an element type and values"));
    assert!(refusal::<Array<u8>>(&("u8", "x")).contains("invalid type"));
    assert!(refusal::<Array<f32>>(&(1.5, "f32")).contains("expected a value of f32"));
    assert!(refusal::<DataDictionary>(&std::collections::BTreeMap::from([("all", 3)])).contains("not a dictionary"));
    let table = Table::from_rows(&[[1.5_f32, 2.5]]).unwrap();
    assert!(refusal::<Table<f64>>(&table).contains("the element type is f32, not f64"));
    assert!(refusal::<SoaNumericTable>(&table).contains("unknown field `element_type`"));
}

/// Some formats drop the names of variants, and some say by themselves that something is a variant.
#[test]
fn a_dictionary_is_read_in_each_form_that_formats_give_it() {
    let feature = r#"{"element_type":"u8"}"#;
    let (one, two) = (DataDictionary::uniform(Feature::new(ElementType::U8), 2), Feature::new(ElementType::U8));
    let each = DataDictionary::from_features([two.clone(), two]);
    for (text, expected) in [
        (format!(r#"{{"uniform":{{"feature":{feature},"count":2}}}}"#), &one),
        (format!(r#"{{"feature":{feature},"count":2}}"#), &one),
        (format!(r#"{{"each":[{feature},{feature}]}}"#), &each),
        (format!("[{feature},{feature}]"), &each),
        (format!("[[{feature},{feature}]]"), &each),
    ] {
        let found: DataDictionary = serde_json::from_str(&text).unwrap();
        assert_eq!((&found, found.is_uniform()), (expected, expected.is_uniform()), "{text}");
    }
    let twice = format!(r#"{{"each":[{feature}],"uniform":{{"feature":{feature},"count":2}}}}"#);
    for (text, expected) in [
        (&twice[..], "two dictionaries in one"),
        ("{}", "this is not a dictionary"),
        (r#"{"other":1}"#, "this is not a dictionary"),
        ("[1]", "expected a feature, or whether all are equal"),
        ("[true]", "invalid length"),
        (r#"{"is_uniform":true}"#, "missing field `count`"),
        ("7", r#"expected a dictionary: "uniform" or "each""#),
    ] {
        let error = serde_json::from_str::<DataDictionary>(text).unwrap_err().to_string();
        assert!(error.contains(expected), "{text}: {error}");
    }
}

#[test]
fn a_tag_with_the_name_of_a_field_of_a_table_is_refused_by_name() {
    #[derive(Serialize, Deserialize)]
    #[serde(tag = "kind")]
    enum Clash {
        Held(SoaNumericTable),
    }
    let text = serde_json::to_string(&Clash::Held(SoaNumericTable::new())).unwrap();
    let error = serde_json::from_str::<Clash>(&text).map(drop).unwrap_err();
    assert!(error.to_string().contains("duplicate field `kind`"), "{error}");
}

/// Lengths that are only claimed: a sequence, bytes and a map of 2^32 - 1 items in MessagePack, and 2^62 in CBOR.
#[test]
fn claims_in_a_format_that_is_read_ahead_take_no_memory() {
    for start in [&[0xDD, 0xFF, 0xFF, 0xFF, 0xFF][..], &[0xC6, 0xFF, 0xFF, 0xFF, 0xFF], &[0xDF, 0xFF, 0xFF, 0xFF, 0xFF]]
    {
        for rest in [&[][..], &[0x01; 40]] {
            let bytes = [start, rest].concat();
            assert!(rmp_serde::from_slice::<Untagged<Table<f32>>>(&bytes).is_err());
            assert!(rmp_serde::from_slice::<Array<f32>>(&bytes).is_err());
            assert!(rmp_serde::from_slice::<Internal<DataDictionary>>(&bytes).is_err());
        }
    }
    for major in [0x9B, 0x5B, 0xBB] {
        let bytes = [&[major, 0x40, 0, 0, 0, 0, 0, 0, 0][..], &[0x01; 40]].concat();
        assert!(ciborium::from_reader::<Untagged<Array<f32>>, _>(&bytes[..]).is_err());
        assert!(ciborium::from_reader::<Box<dyn NumericTable>, _>(&bytes[..]).is_err());
    }
}
