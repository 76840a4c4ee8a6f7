//! The encoding beside bincode's, which it must equal byte for byte.

use std::collections::BTreeMap;

use bincode::config::{Configuration, Fixint, Limit, LittleEndian, legacy};
use proptest::prelude::*;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::{decode, encode};

/// With a limit, because bincode allocates what a damaged length claims; the library's encoding does not.
const CODEC: Configuration<LittleEndian, Fixint, Limit<{ 1 << 20 }>> = legacy().with_limit::<{ 1 << 20 }>();

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Unit;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Wrapped(u16);

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum Variants {
    Unit,
    Newtype(i64),
    Tuple(u8, char),
    Struct { text: String, flag: bool },
}

/// Everything that serde can be called with.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Everything {
    signed: (i8, i16, i32, i64, i128),
    unsigned: (u8, u16, u32, u64, u128),
    floating: (f32, f64),
    unit: (),
    unit_structure: Unit,
    wrapped: Wrapped,
    pair: (Wrapped, Option<Box<Wrapped>>),
    character: char,
    text: Option<String>,
    list: Vec<Variants>,
    map: BTreeMap<String, Vec<u32>>,
    array: [u8; 3],
}

fn variants() -> impl Strategy<Value = Variants> {
    prop_oneof![
        Just(Variants::Unit),
        any::<i64>().prop_map(Variants::Newtype),
        any::<(u8, char)>().prop_map(|(number, character)| Variants::Tuple(number, character)),
        (".{0,9}", any::<bool>()).prop_map(|(text, flag)| Variants::Struct { text, flag }),
    ]
}

prop_compose! {
    fn everything()(
        signed in any::<(i8, i16, i32, i64, i128)>(),
        unsigned in any::<(u8, u16, u32, u64, u128)>(),
        floating in (-1e9_f32..1e9, -1e99_f64..1e99),
        wrapped in any::<u16>(),
        boxed in any::<Option<u16>>(),
        character in any::<char>(),
        text in proptest::option::of(".{0,9}"),
        list in proptest::collection::vec(variants(), 0..5),
        map in proptest::collection::btree_map(".{0,3}", proptest::collection::vec(any::<u32>(), 0..3), 0..4),
        array in any::<[u8; 3]>(),
    ) -> Everything {
        Everything {
            signed,
            unsigned,
            floating,
            unit: (),
            unit_structure: Unit,
            wrapped: Wrapped(wrapped),
            pair: (Wrapped(!wrapped), boxed.map(Wrapped).map(Box::new)),
            character,
            text,
            list,
            map,
            array,
        }
    }
}

/// Decodes by both, and returns the value and the number of bytes if there is one.
fn by_both<V: DeserializeOwned + PartialEq + std::fmt::Debug>(bytes: &[u8]) -> Option<(V, usize)> {
    let expected: Option<(V, usize)> = bincode::serde::borrow_decode_from_slice(bytes, CODEC).ok();
    let found = decode(bytes, 0).ok();
    assert_eq!(found, expected);
    found
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn a_value_is_encoded_as_bincode_does(value in everything()) {
        let bytes = encode(0, &value).unwrap();
        prop_assert_eq!(&bytes, &bincode::serde::encode_to_vec(&value, CODEC).unwrap());
        prop_assert_eq!(by_both(&bytes), Some((value, bytes.len())));
    }

    #[test]
    fn damaged_bytes_are_read_or_refused_as_bincode_does(
        value in everything(),
        at in any::<prop::sample::Index>(),
        byte in any::<u8>(),
    ) {
        let mut bytes = encode(0, &value).unwrap();
        let at = at.index(bytes.len());
        prop_assert!(by_both::<Everything>(&bytes[..at]).is_none());
        bytes[at] = byte;
        let is_nan = |value: &Everything| value.floating.0.is_nan() || value.floating.1.is_nan(); // unequal to itself
        if !decode(&bytes, 0).is_ok_and(|(value, _)| is_nan(&value)) {
            by_both::<Everything>(&bytes);
        }
    }
}

#[test]
fn bytes_of_every_kind_of_damage_name_what_is_wrong() {
    fn reason<V: DeserializeOwned + std::fmt::Debug>(bytes: &[u8]) -> String {
        decode::<V>(bytes, 0).unwrap_err().to_string()
    }
    assert!(reason::<u32>(&[1, 2]).contains("the archive is cut off: missing bytes: 2 or more"));
    assert!(reason::<bool>(&[2]).contains("a boolean is 2; expected 0 or 1"));
    assert!(reason::<Option<u8>>(&[7, 1]).contains("the byte before an optional value is 7"));
    assert!(reason::<char>(&[0xff, 1, 1, 1]).contains("a character: invalid utf-8"));
    assert!(reason::<String>(&[1, 0, 0, 0, 0, 0, 0, 0, 0xff]).contains("a string: invalid utf-8"));
    assert!(reason::<String>(&[0xff; 8]).contains("a length in the archive exceeds the address space"));
    assert!(reason::<String>(&[9, 0, 0, 0, 0, 0, 0, 0, b'a']).contains("missing bytes: 8 or more"));
    assert!(reason::<Variants>(&[4, 0, 0, 0]).contains("variant"));
    assert!(reason::<serde_json::Value>(&[0]).contains("a value of any type cannot be read"));
}

#[test]
fn a_sequence_without_a_length_is_refused() {
    struct Endless;
    impl Serialize for Endless {
        fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            serde::ser::SerializeSeq::end(serializer.serialize_seq(None)?)
        }
    }
    assert!(encode(0, &Endless).unwrap_err().to_string().contains("no length before its values"));
}

#[test]
fn a_type_that_contains_itself_is_refused_before_the_stack_overflows() {
    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct List(Option<Box<List>>);
    #[derive(Debug, Serialize, Deserialize)]
    enum Tree {
        Leaf,
        Node(Vec<Tree>),
    }
    let list = (0..100).fold(List(None), |list, _| List(Some(Box::new(list))));
    assert_eq!(decode::<List>(&encode(0, &list).unwrap(), 0).unwrap().0, list);
    let deep = "values are nested more than 256 deep";
    assert!(decode::<List>(&[1; 1 << 20], 0).unwrap_err().to_string().contains(deep));
    let node = [1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0]; // a node with one child
    let list = (0..10_000).fold(List(None), |list, _| List(Some(Box::new(list))));
    assert!(encode(0, &list).unwrap_err().to_string().contains(deep));
    assert!(decode::<Tree>(&node.repeat(1 << 16), 0).unwrap_err().to_string().contains(deep));
}
