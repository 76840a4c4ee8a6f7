//! Makes the seeds in `corpus/`, from the golden files and of texts that are written out here:
//! `cargo run --release --bin make_seeds`.

use std::error::Error;
use std::fs;
use std::path::Path;

use numeric_table::{
    DataDictionary, DataLayout, Element, ElementType, Feature, HomogenNumericTable, NumericTable, Partial, Shape,
    TableOutput,
    dictionary::Categories,
    shards::Shards,
    statistics::{BasicStatistics, Covariance, GramMatrix, GroupStatistics, Histogram, HistogramBins, QuantileSketch},
};

use numeric_table_fuzz::{files_of_manifests, partial_head, with_element};
use numeric_table_learning::{KMeansStep, LinearRegression, NaiveBayes};

type Table<T> = HomogenNumericTable<T>;
type Result<T = ()> = std::result::Result<T, Box<dyn Error>>;

/// First bytes of inputs of `table_file`: all is repaired; a file of version 1, 2, 3 or 4 is made, with chunks of 16
/// bytes.
const REPAIRED: u8 = 31;
const LAID_OUT: [u8; 4] = [32 + 16, 80 + 16, 144 + 16, 192 + 16];

fn main() -> Result {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (files, archives) = (root.join("corpus/table_file"), root.join("corpus/archive"));
    for (version, ending) in [("v1", ""), ("v2", "_v2"), ("v3", "_v3"), ("v4", "_v4")] {
        for entry in fs::read_dir(root.join("../../data/golden").join(version))? {
            let path = entry?.path();
            let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned() + ending;
            let bytes = fs::read(&path)?;
            if path.extension().is_some_and(|extension| extension == "archive") {
                fs::write(archives.join(format!("{name}.seed")), bytes)?;
                continue;
            }
            if path.extension().is_none_or(|extension| extension != "ntb") {
                continue;
            }
            fs::write(files.join(format!("laid_out_{name}.seed")), laid_out(&bytes))?;
            if name.starts_with("f32_row_major") || name.starts_with("u8_column_major") || !name.contains("_major") {
                fs::write(files.join(format!("repaired_{name}.seed")), [&[REPAIRED], &bytes[..]].concat())?;
            }
        }
    }
    // What the golden files have none of: tables without values, and without a dictionary of their own.
    let shape = |rows, columns| Shape { rows, columns };
    for (name, shape) in
        [("nothing", shape(0, 0)), ("no_rows", shape(0, 3)), ("no_columns", shape(3, 0)), ("tall", shape(40, 1))]
    {
        for layout in [DataLayout::RowMajor, DataLayout::ColumnMajor] {
            let table = Table::full_with_layout(shape, 1.5_f32, layout)?;
            save(
                &table,
                &files,
                &archives,
                &format!("{name}_{}", if layout == DataLayout::RowMajor { "rows" } else { "columns" }),
            )?;
        }
    }
    let mut one = Table::from_rows(&[[7_u16]])?;
    one.set_dictionary(DataDictionary::uniform(Feature::new(u16::TYPE).named("one").categorical(9), 1))?;
    save(&one, &files, &archives, "one")?;
    numpy_files(root)?;
    sparse_files(root)?;
    manifests(root)?;
    partials(root)?;
    texts(root)
}

/// The golden manifests and small ones, without their checksum behind a zero; and a whole one.
fn manifests(root: &Path) -> Result {
    let corpus = root.join("corpus/manifest");
    fs::create_dir_all(&corpus)?;
    let folder = tempfile::tempdir()?;
    let files = files_of_manifests(folder.path())?;
    let golden = fs::read(root.join("../../data/golden/shards/shards.ntm"))?;
    let gaps = fs::read(root.join("../../data/golden/v4/mixed.ntm"))?;
    let mut all = vec![("golden", golden), ("gaps", gaps)];
    for (name, files) in [("one", &files[1..2]), ("two", &files[1..]), ("three", &files[..])] {
        let path = folder.path().join(name);
        Shards::from_paths(files)?.save_manifest(&path)?;
        all.push((name, fs::read(path)?));
    }
    for (name, bytes) in all {
        fs::write(corpus.join(format!("{name}_whole.seed")), &bytes)?;
        fs::write(corpus.join(format!("{name}.seed")), [&[0], &bytes[..bytes.len() - 4]].concat())?;
    }
    Ok(())
}

/// Own bytes of partial results of a few rows, and of none, behind the number that the target gives them.
fn partials(root: &Path) -> Result {
    let corpus = root.join("corpus/partial");
    fs::create_dir_all(&corpus)?;
    let table = Table::from_rows(&[[0.0, 1.5, -2.0], [1.0, 2.5, 4.0], [1.0, 0.5, f64::NAN], [0.0, -3.0, 1e3]])?;
    let words = Categories::from_labels(["no", "yes"])?;
    let features = [
        Feature::new(ElementType::F64).named("answer").categorical(words),
        Feature::new(ElementType::F64).named("x"),
        Feature::new(ElementType::F64),
    ];
    let named = table.clone().with_dictionary(features.into_iter().collect())?;
    let bins = HistogramBins::uniform(-1.0, 3.0, 4)?;
    let edges = [vec![0.0, 1.0], vec![-1.0, 0.5, 7.0], vec![0.0, 2.0]].map(HistogramBins::with_edges);
    let edges = edges.into_iter().collect::<std::result::Result<Vec<_>, _>>()?;
    let centroids = Table::from_rows(&[[0.0, 1.0, 2.0], [1.0, -1.0, 0.0]])?;
    for (name, table) in [("plain", &table), ("named", &named)] {
        let save = |kind: &str, number: u8, own: &[u8]| {
            fs::write(corpus.join(format!("{kind}_{name}.seed")), [&[number], own].concat())
        };
        save("basic", 0, &own_of(&BasicStatistics::new(3)?, table)?)?;
        save("covariance", 1, &own_of(&Covariance::new(3)?, table)?)?;
        save("gram", 2, &own_of(&GramMatrix::new(3)?, table)?)?;
        save("histogram", 3, &own_of(&Histogram::new(3, &bins)?, table)?)?;
        save("edges", 3, &own_of(&Histogram::with_bins(edges.clone())?, table)?)?;
        save("sketch", 4, &own_of(&QuantileSketch::with_capacity(3, 8)?, table)?)?;
        save("groups", 5, &own_of(&GroupStatistics::new(3, 0, 2)?, table)?)?;
        save("k_means", 6, &own_of(&KMeansStep::new(&centroids)?, table)?)?;
        save("regression", 7, &own_of(&LinearRegression::new(2, 1)?, table)?)?;
        save("bayes", 8, &own_of(&NaiveBayes::new(3, 0, 2)?, &table.slice_rows(1..2)?)?)?; // no negative numbers
    }
    fs::write(corpus.join("whole.seed"), [&[128], &BasicStatistics::new(1)?.to_bytes()?[..]].concat())?;
    Ok(())
}

/// The own bytes of the result of a table, without head and checksum.
fn own_of<P: Partial>(empty: &P, table: &dyn NumericTable) -> Result<Vec<u8>> {
    let bytes = empty.compute_over(table)?.to_bytes()?;
    Ok(bytes[partial_head::<P>().len()..bytes.len() - 4].to_vec())
}

/// svmlight and MatrixMarket texts behind three bytes of options: the golden ones, in `f64`. SciPy's files behind a
/// byte that makes checksums right.
fn sparse_files(root: &Path) -> Result {
    fs::create_dir_all(root.join("corpus/sparse_text"))?;
    fs::create_dir_all(root.join("corpus/npz"))?;
    for entry in fs::read_dir(root.join("../../data/golden/sparse"))? {
        let path = entry?.path();
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let options = match path.extension().and_then(|extension| extension.to_str()) {
            Some("svm") if path.ends_with("sets.svm") => [0, 1, 15],
            Some("svm") => [0, 1, 6],
            Some("mtx") => [1, 1, 0],
            Some("npz") => {
                fs::write(root.join(format!("corpus/npz/{name}.seed")), [&[1], &fs::read(&path)?[..]].concat())?;
                continue;
            }
            _ => continue,
        };
        let file = root.join(format!("corpus/sparse_text/{name}.seed"));
        fs::write(file, [&options, &fs::read(&path)?[..]].concat())?;
    }
    // Files of several arrays, those that are not longer than inputs may be.
    for entry in fs::read_dir(root.join("../../data/golden/npz"))? {
        let path = entry?.path();
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let bytes = fs::read(&path)?;
        if path.extension().is_some_and(|extension| extension == "npz") && bytes.len() < 4096 {
            fs::write(root.join(format!("corpus/npz/arrays_{name}.seed")), [&[1], &bytes[..]].concat())?;
        }
    }
    Ok(())
}

/// `.npy` files of every type that has them, in both orders, and what others write in their headers.
fn numpy_files(root: &Path) -> Result {
    let folder = root.join("corpus/npy");
    for element_type in ElementType::ALL.iter().filter(|&&element_type| element_type != ElementType::Bf16) {
        let mut file = Vec::new();
        with_element!(*element_type, T => {
            Table::<T>::full_with_layout(Shape { rows: 2, columns: 3 }, T::default(), DataLayout::ColumnMajor)?.write_npy(&mut file)?;
        });
        fs::write(folder.join(format!("{element_type}.seed")), file)?;
    }
    for (name, version, header, values) in [
        ("big_endian", 1, "{'descr': '>i2', 'fortran_order': False, 'shape': (3,), }\n", &[0, 1, 0, 2, 0, 3][..]),
        ("version_2", 2, "{'descr': '<f4', 'fortran_order': True, 'shape': (1, 2), }\n", &[0; 8]),
        ("version_3", 3, "{\"shape\": (0, 5), \"fortran_order\": False, \"descr\": \"|u1\"}", &[]),
    ] {
        let mut file = [b"\x93NUMPY", &[version, 0][..]].concat();
        file.extend(&u32::try_from(header.len())?.to_le_bytes()[..if version == 1 { 2 } else { 4 }]);
        file.extend(header.as_bytes());
        file.extend(values);
        fs::write(folder.join(format!("{name}.seed")), file)?;
    }
    Ok(())
}

/// CSV texts behind six bytes of options.
fn texts(root: &Path) -> Result {
    const NUMBER: [u8; 6] = [240, 0, 0, 0, 0, 0];
    for (name, options, text) in [
        ("numbers", [0, 2, 0, 0, 0, 9], "1,-2.5,3e4\n5,.5,nan\n7,8,9\n"),
        ("header", [0, 0, 1, 0, 3, 17], "\u{FEFF}a,\"b\"\r\n1,2\r\n3,4"),
        ("words", [0, 3, 2, 0, 4, 21], "a,b\n1,red\n2,\"say \"\"so\"\"\nnow\"\n,NA\n4,red"),
        ("one_hot", [0, 6, 5, 2 + 32, 2, 12], "a,b\nx,1\ny,2\nx,3\n"),
        ("comments", [41, 12, 3, 0, 5, 5], "#c\na;b\n\n#\n1;2\r3;4\n"),
        ("gaps", [2, 36, 0, 0, 1, 8], "a\tb\n\t2\n3\t\n1\t4\n"),
        ("uneven", [0, 2, 0, 33, 2, 30], "1,2\n3\n4,5,6\n"),
        ("unclosed", [0, 2, 0, 0, 2, 31], "1,2\n\"3,4\n5,6\n"),
        ("inline_comments", [0, 0, 1, 0, 10, 7], "a,b # c\n1,\"2#\" # d\n #\n3,4#\n"),
        ("decimal_commas", [1, 0, 0, 0, 11, 9], "a;b\n1.234,5;-,5\n12.345.678;1,5e3\n"),
        ("thousands", [0, 0, 1, 0, 12, 9], "a,b\n\"1,234.5\",7\n\"12,345\",8\n"),
        ("first_rows", [0, 3, 0, 0, 13, 6], "a,b\n1,x\n2,y\n3.5,7\n"),
        ("spread_rows", [0, 3, 0, 0, 14 + 16, 6], "a,b\n1,x\n2,y\n3.5,z\n"),
        ("times", [0, 3, 0, 0, 15, 20], "day,b\n2024-02-29,1\n1969-12-31T00:00:00+00:00,2\n"),
        ("number", NUMBER, "-12345.678901234567e-12"),
        ("long_number", NUMBER, "9007199254740993.00000000000000000000001"),
        ("integer", NUMBER, "18446744073709551615"),
    ] {
        fs::write(root.join(format!("corpus/csv/{name}.seed")), [&options, text.as_bytes()].concat())?;
    }
    // `a,b\n1,2\n3,4\n` by `gzip -9 -n` and by `zstd --check`, as in `tests/csv/compressed.rs`.
    let gzip = b"\x1f\x8b\x08\0\0\0\0\0\x02\x03\x4b\xd4\x49\xe2\x32\xd4\x31\xe2\x32\xd6\x31\
        \xe1\x02\0\xe5\xe9\xd6\xce\x0c\0\0\0";
    let zstd = b"\x28\xb5\x2f\xfd\x24\x0c\x61\0\0a,b\n1,2\n3,4\n\xe1\xb3\xcb\x2e";
    for (name, bytes) in [("gzip", &gzip[..]), ("zstd", &zstd[..])] {
        fs::write(root.join(format!("corpus/csv/{name}.seed")), [&[0, 0, 0, 0, 0, 9], bytes].concat())?;
    }
    Ok(())
}

fn save<T: Element>(table: &Table<T>, files: &Path, archives: &Path, name: &str) -> Result {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("table.ntb");
    table.save(&path)?;
    fs::write(files.join(format!("laid_out_{name}.seed")), laid_out(&fs::read(&path)?))?;
    fs::write(archives.join(format!("{name}.seed")), table.to_bytes()?)?;
    Ok(())
}

/// Header and values of an honest file, as `table_file` takes them.
fn laid_out(file: &[u8]) -> Vec<u8> {
    let number = |at: usize| u64::from_le_bytes(std::array::from_fn(|i| file[at + i])) as usize;
    let header = &file[64..64 + (number(8) >> 32)]; // the upper half of bytes 8 to 16
    let values = &file[number(16)..number(16) + number(24)];
    let first = LAID_OUT[usize::from(file[8]) - 1]; // by version
    [&[first], &(header.len() as u16).to_le_bytes()[..], header, values].concat()
}
