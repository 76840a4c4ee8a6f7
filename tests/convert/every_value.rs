//! Every value of small types, and telling values of the others, into every type in every way.

use numeric_table::convert::convert_slice;
use numeric_table::prelude::*;
use numeric_table::{bf16, f16};
use test_support::bits::{Random, bits, from_bits, special_values};
use test_support::for_each_element;

use super::{Case, LAYOUTS, all_bits, check_everything, every_value, telling_values};

#[test]
fn every_i8_becomes_what_the_rules_say_in_every_type() {
    check_everything(&every_value::<i8>());
}

#[test]
fn every_u8_becomes_what_the_rules_say_in_every_type() {
    check_everything(&every_value::<u8>());
}

#[test]
fn every_i16_becomes_what_the_rules_say_in_every_type() {
    check_everything(&every_value::<i16>());
}

#[test]
fn every_u16_becomes_what_the_rules_say_in_every_type() {
    check_everything(&every_value::<u16>());
}

#[test]
fn every_f16_becomes_what_the_rules_say_in_every_type() {
    check_everything(&every_value::<f16>());
}

#[test]
fn every_bf16_becomes_what_the_rules_say_in_every_type() {
    check_everything(&every_value::<bf16>());
}

#[test]
fn telling_values_of_i32_become_what_the_rules_say_in_every_type() {
    check_everything(&telling_values::<i32>(1));
}

#[test]
fn telling_values_of_u32_become_what_the_rules_say_in_every_type() {
    check_everything(&telling_values::<u32>(2));
}

#[test]
fn telling_values_of_i64_become_what_the_rules_say_in_every_type() {
    check_everything(&telling_values::<i64>(3));
}

#[test]
fn telling_values_of_u64_become_what_the_rules_say_in_every_type() {
    check_everything(&telling_values::<u64>(4));
}

#[test]
fn telling_values_of_f32_become_what_the_rules_say_in_every_type() {
    check_everything(&telling_values::<f32>(5));
}

#[test]
fn telling_values_of_f64_become_what_the_rules_say_in_every_type() {
    check_everything(&telling_values::<f64>(6));
}

#[test]
fn a_value_becomes_the_same_at_every_offset_and_in_every_length() {
    fn check<S: Element, D: Element>() {
        let mut values = special_values::<S>();
        let count = values.len();
        values.extend(Random::new(8).values::<S>(87 - count));
        let case = Case::new::<S, D>(&values, 1);
        let untouched = from_bits::<D>(0x2A2A_2A2A_2A2A_2A2A);
        let mut target = vec![untouched; 87];
        for offset in 0..=16 {
            for length in 0..=70 {
                let place = offset..offset + length;
                convert_slice(&values[place.clone()], &mut target[place.clone()], ConversionPolicy::Saturate).unwrap();
                for (index, found) in place.clone().zip(all_bits(&target[place.clone()])) {
                    case.assert_value(found, index);
                }
                target[place].fill(untouched);
                assert!(all_bits(&target).iter().all(|&value| value == bits(untouched)), "written outside");
            }
        }
    }
    for_each_element!(S => for_each_element!(D => check::<S, D>()));
}

#[test]
fn columns_are_read_the_same_at_every_distance() {
    fn check<S: Element, D: Element>() {
        let mut values = special_values::<S>();
        values.extend(Random::new(9).values::<S>(200));
        for columns in 1..=9 {
            let case = Case::new::<S, D>(&values, columns);
            let table = case.table::<S>(DataLayout::RowMajor);
            for column in 0..columns {
                let block = table.column::<D>(column, 1..case.rows()).unwrap();
                case.assert_outcome::<D>(Ok(&block), ConversionPolicy::Saturate, 1..case.rows(), column..column + 1);
            }
        }
    }
    for_each_element!(S => for_each_element!(D => check::<S, D>()));
}

#[test]
fn a_large_table_is_converted_as_the_rules_say() {
    fn check<S: Element, D: Element>() {
        let values = Random::new(10).values::<S>(300_007);
        let case = Case::new::<S, D>(&values, 7);
        for layout in LAYOUTS {
            let table = case.table::<S>(layout);
            let block = table.rows::<D>(0..case.rows()).unwrap();
            case.assert_outcome::<D>(Ok(&block), ConversionPolicy::Saturate, 0..case.rows(), 0..7);
            let converted = table.convert::<D>().unwrap();
            let block = converted.rows::<D>(0..case.rows()).unwrap();
            case.assert_outcome::<D>(Ok(&block), ConversionPolicy::Saturate, 0..case.rows(), 0..7);
            case.assert_report(&table.conversion_report::<D>().unwrap());
        }
    }
    check::<f64, f32>();
    check::<f32, f64>();
    check::<f32, i16>();
    check::<f16, f32>();
    check::<f64, bf16>();
    check::<i64, f32>();
    check::<u8, f32>();
}
