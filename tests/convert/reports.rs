//! Reports of what a conversion loses.

use numeric_table::convert::{convert_slice, report_slice};
use numeric_table::prelude::*;
use numeric_table::{ConversionReport, f16};
use test_support::bits::{Random, special_values};
use test_support::for_each_element;

use super::{LAYOUTS, Table};

/// Small slices, so that many lose nothing, or nothing but precision.
#[test]
fn a_report_names_which_policies_would_refuse() {
    fn check<S: Element, D: Element>() {
        let mut random = Random::new(11);
        let values = [special_values::<S>(), random.values(40)].concat();
        for _ in 0..100 {
            let length = random.below(4);
            let source: Vec<S> = (0..length).map(|_| values[random.below(values.len())]).collect();
            let report = report_slice::<S, D>(&source);
            let unfit = report.nan_to_int + report.below_range + report.above_range + report.overflow_to_infinity;
            let fails = |policy| convert_slice(&source, &mut vec![D::default(); length], policy).is_err();
            assert!(!fails(ConversionPolicy::Saturate));
            assert_eq!(fails(ConversionPolicy::Checked), unfit > 0, "{source:?} from {} to {}", S::TYPE, D::TYPE);
            assert_eq!(fails(ConversionPolicy::Exact), report.lost() > 0, "{source:?} from {} to {}", S::TYPE, D::TYPE);
            assert_eq!(report.is_lossless(), report.first.is_none());
        }
    }
    for_each_element!(S => for_each_element!(D => check::<S, D>()));
}

#[test]
fn the_counts_of_two_reports_are_added() {
    let mut report = report_slice::<f64, i8>(&[1.0, 1.5, f64::NAN, 300.0]);
    report += report_slice::<f64, i8>(&[-300.0, 2.5, f64::INFINITY]);
    assert_eq!(
        (report.values, report.nan_to_int, report.below_range, report.above_range, report.inexact),
        (7, 1, 1, 2, 2)
    );
    let mut report = report_slice::<f64, f32>(&[1e39, 1.0]);
    report += report_slice::<f64, f32>(&[0.1, -1e39]);
    assert_eq!((report.values, report.overflow_to_infinity, report.inexact, report.lost()), (4, 2, 1, 3));
}

#[test]
fn of_two_reports_the_earlier_first_position_stays() {
    let at = |row: usize| report_slice::<f32, u8>(&[vec![0.0; row], vec![0.5]].concat());
    let nothing = report_slice::<f32, u8>(&[1.0]);
    for (left, right, first) in [
        (at(3), at(1), Some((1, 0))),
        (at(1), at(3), Some((1, 0))),
        (nothing, at(2), Some((2, 0))),
        (at(2), nothing, Some((2, 0))),
        (nothing, nothing, None),
    ] {
        let mut sum = left;
        sum += right;
        assert_eq!(sum.first, first);
    }
    let in_table = |rows: [[f32; 2]; 2]| Table::from_rows(&rows).unwrap().conversion_report::<u8>().unwrap();
    let mut sum = in_table([[0.0, 0.0], [0.5, 0.0]]);
    sum += in_table([[0.0, 0.5], [0.0, 0.0]]);
    assert_eq!(sum.first, Some((0, 1)));
}

#[test]
fn a_report_of_a_view_counts_only_what_the_view_shows() {
    for layout in LAYOUTS {
        let table = Table::from_rows(&[[0.5, 1.0, 2.0], [3.0, 4.0, 5.5], [300.0, 6.0, 7.0]]).unwrap();
        let table = table.to_layout(layout).unwrap();
        let view = table.view().unwrap().slice_columns(1..3).unwrap().slice_rows(0..2).unwrap();
        let report = view.conversion_report::<u8>();
        assert_eq!((report.values, report.lost(), report.first), (4, 1, Some((1, 1))));
        let report = table.slice_rows(1..3).unwrap().conversion_report::<u8>().unwrap();
        assert_eq!((report.values, report.inexact, report.above_range, report.first), (6, 1, 1, Some((0, 2))));
    }
}

#[test]
fn a_report_reads_as_a_sentence() {
    assert_eq!(report_slice::<u8, f32>(&[1, 2, 3]).to_string(), "0 of 3 values lose something");
    assert_eq!(ConversionReport::default().to_string(), "0 of 0 values lose something");
    assert_eq!(
        report_slice::<f64, u8>(&[1.0, 1.5]).to_string(),
        "1 of 2 values lose something, first at row 1, column 0: 1 inexact"
    );
    assert_eq!(
        report_slice::<f64, u8>(&[f64::NAN, -1.0, -2.0, 256.0, 1.5]).to_string(),
        "5 of 5 values lose something, first at row 0, column 0: 1 NaN to 0, 2 below range, 1 above range, 1 inexact"
    );
    assert_eq!(
        report_slice::<f64, f16>(&[0.0, 1e6, 0.1]).to_string(),
        "2 of 3 values lose something, first at row 1, column 0: 1 overflow to infinity, 1 inexact"
    );
}
