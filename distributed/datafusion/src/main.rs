//! Runs one SQL query on a table of many files: `numeric-table-datafusion [FOLDER SQL]`.
//!
//! Without arguments, it creates a folder of shards, queries the moments of each group of rows, and prints the plan and
//! the result, beside the result of the library itself. With a folder, it runs the given query on the table `shards`.

use std::path::Path;
use std::sync::Arc;

use datafusion::arrow::util::pretty::pretty_format_batches;
use datafusion::physical_plan::{collect, displayable};
use datafusion::prelude::SessionContext;
use numeric_table::prelude::*;
use numeric_table::{shards::Shards, statistics::GroupStatistics};
use numeric_table_datafusion::ShardsTable;

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

const USAGE: &str = "numeric-table-datafusion, or numeric-table-datafusion FOLDER SQL";
const GROUPS: usize = 3;
const BY_GROUP: &str = "SELECT species, count(*) AS rows, min(length), max(length), avg(length), stddev(length) \
                        FROM shards GROUP BY species ORDER BY species";

#[tokio::main]
async fn main() {
    if let Err(error) = run().await {
        eprintln!("{error}");
        std::process::exit(1);
    }
}

async fn run() -> Outcome<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match &words[..] {
        [] => {
            let folder = tempfile::tempdir()?;
            make(folder.path())?;
            let shards = Shards::open(folder.path())?;
            answer(shards.clone(), BY_GROUP).await?;
            beside(&shards)
        }
        [folder, sql] => answer(Shards::open(folder)?, sql).await,
        _ => Err(USAGE.into()),
    }
}

/// Creates 8 files of 50,000 rows: a species, and a length. The column-major half of them is not copied.
fn make(folder: &Path) -> Outcome<()> {
    let names = ["species", "length"].map(|name| Feature::new(ElementType::F64).named(name));
    for shard in 0..8 {
        let values = Table::from_fn(Shape { rows: 50_000, columns: 2 }, |row, column| match column {
            0 => ((row * 7 + shard) % GROUPS) as f64,
            _ => ((row * 7 + shard) % GROUPS) as f64 + (row % 1009) as f64 / 1009.0,
        })?;
        let layout = if shard % 2 == 0 { DataLayout::ColumnMajor } else { DataLayout::RowMajor };
        let table = values.with_dictionary(names.iter().cloned().collect())?.to_layout(layout)?;
        table.save(folder.join(format!("part-{shard}.ntb")))?;
    }
    Ok(())
}

/// Runs a query, and prints the plan and the result.
async fn answer(shards: Shards, sql: &str) -> Outcome<()> {
    println!("{} rows in {} files\n{sql}\n", shards.shape().rows, shards.shard_count());
    let context = SessionContext::new();
    context.register_table("shards", Arc::new(ShardsTable::new(shards)?))?;
    let plan = context.sql(sql).await?.create_physical_plan().await?;
    println!("{}", displayable(plan.as_ref()).indent(false));
    println!("{}", pretty_format_batches(&collect(plan, context.task_ctx()).await?)?);
    Ok(())
}

/// Prints the result of the library for the same rows.
fn beside(shards: &Shards) -> Outcome<()> {
    let groups = shards.reduce(&GroupStatistics::new(2, 0, GROUPS)?)?;
    println!("Shards::reduce:");
    for species in 0..GROUPS {
        let length = groups.column(species, 1)?;
        println!(
            "{species}: {} rows, from {} to {}, mean {}, standard deviation {}",
            groups.row_count_of(species)?,
            length.minimum(),
            length.maximum(),
            length.mean(),
            length.standard_deviation()
        );
    }
    Ok(())
}
