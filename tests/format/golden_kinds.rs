//! Files and archives of every kind of table: they stay readable, by the library and, files, by Python.
//!
//! `cargo test --test format golden_kinds -- --ignored` made them, which must not happen again for a kind that is
//! there: a change of what is written is a new name of a kind, or a new version.

use std::path::{Path, PathBuf};
use std::process::Command;

use numeric_table::{
    AosNumericTable, CsrNumericTable, PackedSymmetricMatrix, PackedTriangularMatrix, SoaNumericTable, bf16, f16,
    files::{self, SaveOptions, verify},
    prelude::*,
    table::{RecordLayout, Triangle},
};

/// The tables, with the names of their files and what they show.
fn tables() -> Vec<(&'static str, Box<dyn NumericTable>, Vec<f64>)> {
    let mut columns = SoaNumericTable::new();
    columns.push_column("länge", vec![1.5_f32, -0.0, 3.25]).unwrap();
    columns.push_feature(Feature::new(ElementType::U8).categorical(7), vec![6_u8, 0, 255]).unwrap();
    columns.push_column("half", [0.5, -2.0, 4.0].map(f16::from_f64).to_vec()).unwrap();
    columns.push_feature(Feature::new(ElementType::I64).ordinal(), vec![1_i64 << 60, -1, 7]).unwrap();

    let layout = RecordLayout::new(24).field("b", ElementType::F64, 8).unwrap();
    let layout = layout.field("a", ElementType::U16, 0).unwrap().field("c", ElementType::Bf16, 20).unwrap();
    let mut records = AosNumericTable::zeros(&layout, 2).unwrap();
    records
        .update_rows::<f64, _>(.., |block| {
            block.copy_from_slice(&[1.5, 65_535.0, -2.0, 1e300, 7.0, 0.5]);
            Ok(())
        })
        .unwrap();

    let shape = Shape { rows: 3, columns: 4 };
    let sparse =
        CsrNumericTable::try_new(shape, vec![0_u64, 2, 2, 3], vec![0_i32, 3, 1], vec![1.5_f32, -2.0, 0.0]).unwrap();

    let lower = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
    let symmetric = PackedSymmetricMatrix::from_packed(lower.to_vec(), Triangle::Lower, DataLayout::RowMajor).unwrap();
    let upper = lower.map(bf16::from_f64).to_vec();
    let triangular = PackedTriangularMatrix::from_lapack(Triangle::Upper, upper).unwrap();
    vec![
        (
            "structure-of-arrays",
            Box::new(columns),
            vec![1.5, 6.0, 0.5, (1_u64 << 60) as f64, -0.0, 0.0, -2.0, -1.0, 3.25, 255.0, 4.0, 7.0],
        ),
        ("array-of-structures", Box::new(records), vec![1.5, 65_535.0, -2.0, 1e300, 7.0, 0.5]),
        ("csr", Box::new(sparse), vec![1.5, 0.0, 0.0, -2.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]),
        ("packed-symmetric", Box::new(symmetric), vec![1.0, 2.0, 4.0, 2.0, 3.0, 5.0, 4.0, 5.0, 6.0]),
        ("packed-triangular", Box::new(triangular), vec![1.0, 2.0, 4.0, 0.0, 3.0, 5.0, 0.0, 0.0, 6.0]),
    ]
}

fn path_of(kind: &str, extension: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("data/golden/v2/{kind}.{extension}"))
}

fn save(table: &dyn NumericTable, path: &Path) {
    table.save_with(path, SaveOptions::new().checksums(Some(16))).unwrap();
}

#[test]
#[ignore = "the files are there, and stay as they are"]
fn make_the_golden_files() {
    for (kind, table, _) in tables() {
        let [file, archive] = ["ntb", "archive"].map(|extension| path_of(kind, extension));
        if !file.exists() {
            save(&*table, &file);
            std::fs::write(archive, table.to_bytes().unwrap()).unwrap();
        }
    }
}

#[test]
fn every_kind_is_read_and_written_today_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let new = folder.path().join("new.ntb");
    for (kind, table, values) in tables() {
        let [file, archive] = ["ntb", "archive"].map(|extension| path_of(kind, extension));
        save(&*table, &new);
        assert_eq!(std::fs::read(&new).unwrap(), std::fs::read(&file).unwrap(), "{kind}");
        assert_eq!(table.to_bytes().unwrap(), std::fs::read(&archive).unwrap(), "{kind}");
        assert!(verify(&file).unwrap());
        for found in [files::load(&file).unwrap(), files::from_bytes(&std::fs::read(&archive).unwrap()).unwrap()] {
            assert_eq!((found.kind().name(), found.dictionary()), (kind, table.dictionary()));
            let bits = |values: &[f64]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
            assert_eq!(bits(&found.rows::<f64>(..).unwrap()), bits(&values), "{kind}");
        }
    }
}

#[test]
fn python_reads_every_kind() {
    if Command::new("python3").arg("--version").output().is_err() {
        println!("skipped: there is no python3");
        return;
    }
    let reader = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/golden/read_ntb.py");
    for (kind, table, values) in tables() {
        let output = Command::new("python3").arg(&reader).arg(path_of(kind, "ntb")).output().unwrap();
        assert!(output.status.success(), "{kind}: {}", String::from_utf8_lossy(&output.stderr));
        let text = String::from_utf8(output.stdout).unwrap();
        let lines = text.lines().collect::<Vec<_>>();
        let Shape { rows, columns } = table.shape();
        assert_eq!(lines[0], format!("{kind} {rows} {columns}"));
        for (line, feature) in lines[1..=columns].iter().zip(table.dictionary()) {
            let name = feature.name.as_deref().unwrap_or("None");
            assert!(line.starts_with(&format!("{name}\t")) && line.ends_with(feature.element_type.name()), "{line}");
        }
        let found = lines[1 + columns..].iter().flat_map(|line| line.split(' ')).map(|value| value.parse::<f64>());
        assert_eq!(found.collect::<Result<Vec<_>, _>>().unwrap(), values, "{kind}");
    }
}
