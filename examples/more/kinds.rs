//! Every kind of table, created from real data, and one pipeline that works on all of them.
//!
//! ```text
//! cargo run --release -p more-examples --example kinds
//! ```

#[path = "../common/mod.rs"]
mod common;

use std::path::Path;

use common::{heading, load};
use numeric_table::table::{by_mut, by_ref};
use numeric_table::{
    AosNumericTable, CsrNumericTable, MergedNumericTable, PackedSymmetricMatrix, PackedTriangularMatrix,
    RowMergedNumericTable, SoaNumericTable,
    csv::{CsvOptions, CsvSource},
    impl_record,
    prelude::*,
    sparse::{LabeledRows, SvmlightOptions},
    statistics::BasicStatistics,
    table::{BorrowedTable, Triangle},
};
use numeric_table_arrow::prelude::*;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

const ROWS_PER_BLOCK: usize = 128;

/// A flower of `iris.csv`, as a program would store it.
#[derive(Clone, Copy)]
struct Flower {
    sepal: [f32; 2],
    petal: [f32; 2],
    species: u8,
}
impl_record!(Flower { sepal, petal, species });

fn main() -> Result<()> {
    let folder = tempfile::tempdir()?; // removed when `main` returns

    heading("Columns of several types: wine.csv, to Arrow and back");
    let wines = wines()?;
    heading("Records: a Vec of structures");
    let flowers = flowers()?;
    heading("Sparse rows: digits.csv as a svmlight file; the nearest mean, from stored values only");
    let digits = digits(&folder.path().join("digits.svm"))?;
    heading("Half of a matrix: the covariances of wine.csv, and their Cholesky factor");
    let covariances = covariances(&wines)?;
    let factor = cholesky(&covariances)?;

    heading("Two tables side by side, written through");
    let names = [Feature::new(ElementType::F32).named("score")];
    let scores = Table::<f32>::zeros(Shape { rows: wines.row_count(), columns: 1 })?;
    let mut scores = scores.with_dictionary(DataDictionary::from_features(names))?;
    let moments = BasicStatistics::compute(&wines)?;
    let mut scored = MergedNumericTable::new([by_ref(&wines), by_mut(&mut scores)])?; // both are borrowed
    let score = scored.column_count() - 1;
    scored.update_column::<f64, _>(score, .., |column| {
        for (row, score) in column.iter_mut().enumerate() {
            *score = distance(&wines.rows::<f64>(row..=row)?, &moments);
        }
        Ok(())
    })?;
    println!("{}", scored.display().max_rows(4));
    drop(scored);
    println!("the last wine scores {:.3}, in a table of its own", scores.value::<f64>(scores.row_count() - 1, 0)?);

    heading("One pipeline for all of them: the row farthest from the mean, saved and loaded again");
    let dense: Table<f64> = load("breast_cancer.csv")?;
    let halves = [dense.slice_rows(..300)?, dense.slice_rows(300..)?];
    let borrowed = BorrowedTable::new(dense.as_slice()?, dense.shape())?;
    let scored = MergedNumericTable::new([by_ref(&wines), by_ref(&scores)])?;
    let end_to_end = RowMergedNumericTable::new([by_ref(&halves[0]), by_ref(&halves[1])])?;
    println!("{:<21}{:<12}{:<6}{:>12}{:>11}  loaded as", "kind", "shape", "type", "farthest", "bytes");
    let kinds: [&dyn NumericTable; 9] =
        [&dense, &borrowed, &end_to_end, &wines, &scored, &flowers, &digits, &covariances, &factor];
    for (number, table) in kinds.into_iter().enumerate() {
        pipeline(table, &folder.path().join(format!("{number}.ntb")))?;
    }
    Ok(())
}

/// Computes statistics of a table, saves it, loads it without knowing its type, and compares. Nothing here depends on
/// the kind.
fn pipeline(table: &dyn NumericTable, path: &Path) -> Result<()> {
    let moments = BasicStatistics::compute(table)?;
    let (mut farthest, mut greatest) = (0, 0.0);
    for block in table.row_blocks::<f64>(ROWS_PER_BLOCK)? {
        let block = block?;
        for (row, values) in block.row_range().zip(block.iter_rows()) {
            let distance = distance(values, &moments);
            if distance > greatest {
                (farthest, greatest) = (row, distance);
            }
        }
    }
    table.save(path)?;
    let copy = files::load(path)?;
    let is_same = copy.dictionary() == table.dictionary() && copy.rows::<f64>(..)?[..] == table.rows::<f64>(..)?[..];
    println!(
        "{:<21}{:<12}{:<6}{:>12}{:>11}  {}, {}",
        table.kind(),
        table.shape().to_string(),
        table.uniform_type().map_or("mixed", ElementType::name),
        format!("row {farthest}"),
        path.metadata()?.len(),
        copy.kind(),
        if is_same { "the same" } else { "different" },
    );
    Ok(())
}

/// Returns the distance of a row from the means of the columns, in standard deviations of each.
fn distance(row: &[f64], moments: &BasicStatistics) -> f64 {
    let columns = row.iter().zip(moments.per_column()).filter(|(_, column)| column.standard_deviation() > 0.0);
    columns.map(|(value, column)| ((value - column.mean()) / column.standard_deviation()).powi(2)).sum::<f64>().sqrt()
}

/// Loads a file with the types that suit its columns, lends the table to Arrow, and takes it back on the same memory.
fn wines() -> Result<SoaNumericTable> {
    let options = CsvOptions::new().column_type("alcohol", ElementType::F32); // all others as inferred
    let wines = open("wine.csv", options)?.load_typed()?;
    for column in [0, 1, wines.column_count() - 2, wines.column_count() - 1] {
        let (name, element) = (wines.dictionary().feature(column)?.name.clone(), wines.column_type(column)?);
        println!("{:<14}{element:<5}{:?}", name.unwrap_or_default(), &wines.column::<f32>(column, ..4)?[..]);
    }
    let batch = wines.to_record_batch()?;
    let copy = SoaNumericTable::from_record_batch(&batch)?;
    let is_shared = copy.column_slice::<f32>(0)?.as_ptr() == wines.column_slice::<f32>(0)?.as_ptr();
    println!("{} columns in the batch; the same memory again: {is_shared}", batch.num_columns());
    Ok(wines)
}

/// Opens a file of `data/`.
fn open(file: &str, options: CsvOptions) -> Result<CsvSource> {
    Ok(CsvSource::open_with(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data").join(file), options)?)
}

/// Creates a table from a `Vec` of structures without moving them.
fn flowers() -> Result<AosNumericTable> {
    let values = open("iris.csv", CsvOptions::new())?.load::<f32>()?;
    let flowers = values.as_slice()?.chunks_exact(values.column_count()).map(|row| Flower {
        sepal: [row[0], row[1]],
        petal: [row[2], row[3]],
        species: row[4] as u8,
    });
    let mut table = AosNumericTable::from_records(flowers.collect::<Vec<_>>())?;
    table.update_column::<f32, _>(2, .., |lengths| {
        lengths.iter_mut().for_each(|length| *length *= 10.0); // millimeters
        Ok(())
    })?;
    println!("{}", table.display().max_rows(4));
    let longest = table.records::<Flower>()?.iter().max_by(|a, b| a.petal[0].total_cmp(&b.petal[0]));
    if let Some(flower) = longest {
        println!("the longest petal: {} mm by {} cm, of species {}", flower.petal[0], flower.petal[1], flower.species);
    }
    Ok(table)
}

/// Writes the images as an svmlight file, reads it, and assigns each image to the nearest of the means of the ten
/// digits: one step of k-means. A distance needs only the products of stored values: |x|² - 2 x·m + |m|².
fn digits(path: &Path) -> Result<CsrNumericTable> {
    let data = load("digits.csv")?;
    let pixels = BorrowedTable::from(data.view()?.slice_columns(..64)?); // the last column is the digit
    let labels = data.column::<f64>(64, ..)?.into_array()?;
    LabeledRows::new(CsrNumericTable::from_dense::<f64>(&pixels)?, labels)?.save(path)?;

    let LabeledRows { features: images, labels, .. } =
        LabeledRows::load_with::<f64>(path, SvmlightOptions::new().column_count(64))?;
    let stored = images.nnz() as f64 / images.shape().element_count()? as f64;
    println!("{} images, {:.1} % of the pixels are stored", images.row_count(), 100.0 * stored);

    let block = images.sparse_rows::<f64>(..)?; // the table's own memory
    let (mut means, mut counts) = ([[0.0; 64]; 10], [0.0; 10]);
    for (row, (columns, pixels)) in block.iter_rows().enumerate() {
        let digit = labels.row(row)[0] as usize;
        counts[digit] += 1.0;
        columns.iter().zip(pixels).for_each(|(column, pixel)| means[digit][column] += pixel);
    }
    means.iter_mut().zip(counts).for_each(|(mean, count)| mean.iter_mut().for_each(|pixel| *pixel /= count));
    let squares = means.map(|mean| mean.iter().map(|pixel| pixel * pixel).sum::<f64>());

    let mut right = 0;
    for (row, (columns, pixels)) in block.iter_rows().enumerate() {
        let product =
            |digit: usize| columns.iter().zip(pixels).map(|(at, pixel)| means[digit][at] * pixel).sum::<f64>();
        let distances: [f64; 10] = std::array::from_fn(|digit| squares[digit] - 2.0 * product(digit)); // without |x|²
        let nearest = (0..10).min_by(|&a, &b| distances[a].total_cmp(&distances[b]));
        right += usize::from(nearest == Some(labels.row(row)[0] as usize));
    }
    println!("{right} of them are nearest to the mean of their own digit");
    Ok(images)
}

/// Computes the covariances of all columns in one pass over the rows: the lower half, packed by rows.
fn covariances(table: &dyn NumericTable) -> Result<PackedSymmetricMatrix> {
    let (moments, count) = (BasicStatistics::compute(table)?, table.row_count() as f64);
    let (lower, by_rows) = (Triangle::Lower, DataLayout::RowMajor);
    let mut matrix = PackedSymmetricMatrix::zeros(table.column_count(), ElementType::F64, lower, by_rows)?;
    matrix.set_dictionary(table.dictionary().with_element_type(ElementType::F64)?)?;
    let sums = matrix.packed_mut::<f64>()?;
    for block in table.row_blocks::<f64>(ROWS_PER_BLOCK)? {
        for row in block?.iter_rows() {
            let centred: Vec<f64> = row.iter().zip(moments.per_column()).map(|(x, column)| x - column.mean()).collect();
            let mut sums = sums.iter_mut();
            for (i, x) in centred.iter().enumerate() {
                centred[..=i].iter().zip(sums.by_ref()).for_each(|(y, sum)| *sum += x * y / (count - 1.0));
            }
        }
    }
    println!("{} values are stored of {}", matrix.packed::<f64>()?.len(), matrix.shape().element_count()?);
    let (alcohol, proline) = (0, 12);
    println!("covariance of alcohol and proline: {:.4}", matrix.value::<f64>(alcohol, proline)?);
    Ok(matrix)
}

/// Factors a positive definite matrix into L times its transpose. Row i of L begins at i (i + 1) / 2.
fn cholesky(matrix: &PackedSymmetricMatrix) -> Result<PackedTriangularMatrix> {
    let mut factor = matrix.packed::<f64>()?.to_vec();
    let row = |i: usize| i * (i + 1) / 2..(i + 1) * (i + 2) / 2;
    for i in 0..matrix.dimension() {
        for j in 0..=i {
            let (of_i, of_j) = (&factor[row(i)], &factor[row(j)]);
            let rest = of_i[j] - of_i[..j].iter().zip(of_j).map(|(a, b)| a * b).sum::<f64>();
            factor[row(i).start + j] = if i == j { rest.sqrt() } else { rest / of_j[j] };
        }
    }
    let mut factor = PackedTriangularMatrix::from_packed(factor, Triangle::Lower, DataLayout::RowMajor)?;
    factor.set_dictionary(matrix.dictionary().clone())?;
    let log_determinant: f64 =
        (0..factor.dimension()).map(|i| Ok(2.0 * factor.value::<f64>(i, i)?.ln())).sum::<Result<_>>()?;
    println!("logarithm of the determinant: {log_determinant:.4}");
    Ok(factor)
}
