//! Moving rows between processes, from memory to memory.

use mpi::Tag;
use mpi::request::scope;
use mpi::traits::*;
use numeric_table::prelude::*;
use numeric_table::{Array, Error, Result};

use crate::agree::{AbortOnPanic, all_or_none, broadcast};
use crate::wire::{MOST, Transfer, Wire, receive, receive_bytes, send, send_bytes, send_nothing};

/// Tag of values.
const ROWS: Tag = 7345;
/// Tag of the description of values.
const HEAD: Tag = 7346;

/// A table with columns and no rows, and a number of rows.
struct Head<T: Element> {
    rows: usize,
    table: HomogenNumericTable<T>,
}

impl<T: Transfer> Head<T> {
    fn of(table: &HomogenNumericTable<T>) -> Result<Self> {
        Ok(Self { rows: table.row_count(), table: table.slice_rows(0..0)? })
    }

    fn to_bytes(&self) -> Result<Vec<u8>> {
        let mut bytes = self.table.to_bytes()?;
        bytes.extend((self.rows as u64).to_le_bytes());
        Ok(bytes)
    }

    fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let (table, rows) = bytes.split_last_chunk::<8>().ok_or_else(|| Error::other("not a description of rows"))?;
        let rows = usize::try_from(u64::from_le_bytes(*rows)).map_err(Error::other)?;
        Ok(Self { rows, table: HomogenNumericTable::from_bytes(table)? })
    }

    /// Creates an array for the given number of rows.
    fn room(&self, rows: usize) -> Result<Array<T>> {
        let shape = Shape { rows, columns: self.table.column_count() };
        Array::zeros(shape.element_count()?)
    }

    /// Creates a table from the given number of received rows.
    fn into_table(self, rows: usize, values: Array<T>) -> Result<HomogenNumericTable<T>> {
        let shape = Shape { rows, columns: self.table.column_count() };
        HomogenNumericTable::from_array(values, shape)?.with_dictionary(self.table.dictionary().clone())
    }
}

/// Returns the range of `rows` rows that belongs to a rank. Ranks have equal numbers, or one more.
fn share(rows: usize, rank: usize, size: usize) -> std::ops::Range<usize> {
    let (each, rest) = (rows / size, rows % size);
    let start = each * rank + rank.min(rest);
    start..start + each + usize::from(rank < rest)
}

/// Distributes the rows of the table on `root` among all processes, including itself: consecutive rows in the order of
/// the ranks, the same number for each, or one more for the first ones. The other processes pass `None`. Collective.
///
/// The parts are row-major tables with the dictionary of the complete table. Values are sent from the table's memory to
/// that of the parts, in their own MPI type. A column-major table is copied, one part at a time.
///
/// # Errors
/// [`ErrorKind::Other`] if `root` passes `None`; those of reading the table; [`ErrorKind::OutOfMemory`] of any process;
/// [`RankError`](crate::RankError) on the processes that did not fail.
///
/// # Examples
/// ```no_run
/// use mpi::traits::*;
/// use numeric_table::prelude::*;
/// use numeric_table_mpi::{gather_rows, scatter_rows, shift_rows};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let universe = mpi::initialize().ok_or("MPI was initialized before")?;
/// let world = universe.world();
/// let whole = HomogenNumericTable::from_rows(&[[1.0_f32, 2.0], [3.0, 4.0], [5.0, 6.0]])?;
/// let mine = scatter_rows(&world, 0, (world.rank() == 0).then_some(&whole))?; // about 3 / size rows
/// let of_the_rank_before = shift_rows(&world, &mine, 1)?;
/// if let Some(all) = gather_rows(&world, 0, &mine)? {
///     assert_eq!(all, whole); // on rank 0
/// }
/// # Ok(())
/// # }
/// ```
pub fn scatter_rows<T: Transfer, C: Communicator>(
    world: &C,
    root: i32,
    table: Option<&HomogenNumericTable<T>>,
) -> Result<HomogenNumericTable<T>> {
    let world = &world.duplicate();
    let _guard = AbortOnPanic(world);
    let (rank, size) = (world.rank() as usize, world.size() as usize);
    let described = match table {
        Some(table) if world.rank() == root => Head::of(table).and_then(|head| head.to_bytes()),
        None if world.rank() == root => Err(Error::other("the root of a scatter must pass a table")),
        _ => Ok(Vec::new()),
    };
    let described = all_or_none(world, described)?;
    let head = broadcast(world, root, Some(described)).and_then(|bytes| Head::<T>::from_bytes(&bytes));
    let mine = head.and_then(|head| {
        let rows = share(head.rows, rank, size);
        let values = head.room(rows.len())?;
        Ok((head, rows, values))
    });
    let (head, rows, mut values) = all_or_none(world, mine)?;
    let mut outcome = Ok(());
    if let Some(table) = table.filter(|_| world.rank() == root) {
        for other in 0..size {
            let part = share(head.rows, other, size);
            match table.rows::<T>(part.clone()) {
                Ok(block) if other == rank => values.mutable_data()?.copy_from_slice(&block),
                Ok(block) => send(&world.process_at_rank(other as i32), ROWS, &block),
                Err(error) => {
                    // The waiting rank receives no rows, and then the error.
                    outcome = Err(error);
                    if other != rank {
                        let count = part.len() * head.table.column_count();
                        send_nothing::<T>(&world.process_at_rank(other as i32), ROWS, count);
                    }
                }
            }
        }
    } else {
        receive(&world.process_at_rank(root), ROWS, values.mutable_data()?);
    }
    all_or_none(world, outcome)?;
    head.into_table(rows.len(), values)
}

/// Joins the rows of all processes in the order of the ranks, in one table on `root`. Returns `None` on the others.
/// Collective.
///
/// The table is row-major, with the dictionary of the rows on `root`. Different names, labels or numbers of columns are
/// errors.
///
/// # Errors
/// [`ErrorKind::LengthMismatch`] if numbers of columns differ; [`ErrorKind::Other`] if dictionaries do; those of
/// reading the rows; [`ErrorKind::OutOfMemory`]; [`RankError`](crate::RankError) on the processes that did not fail.
///
/// # Examples
/// ```no_run
/// use mpi::traits::*;
/// use numeric_table::prelude::*;
/// use numeric_table_mpi::{gather_rows, scatter_rows, shift_rows};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let universe = mpi::initialize().ok_or("MPI was initialized before")?;
/// let world = universe.world();
/// let whole = HomogenNumericTable::from_rows(&[[1.0_f32, 2.0], [3.0, 4.0], [5.0, 6.0]])?;
/// let mine = scatter_rows(&world, 0, (world.rank() == 0).then_some(&whole))?; // about 3 / size rows
/// let of_the_rank_before = shift_rows(&world, &mine, 1)?;
/// if let Some(all) = gather_rows(&world, 0, &mine)? {
///     assert_eq!(all, whole); // on rank 0
/// }
/// # Ok(())
/// # }
/// ```
pub fn gather_rows<T: Transfer, C: Communicator>(
    world: &C,
    root: i32,
    rows: &HomogenNumericTable<T>,
) -> Result<Option<HomogenNumericTable<T>>> {
    let world = &world.duplicate();
    let _guard = AbortOnPanic(world);
    let (rank, size) = (world.rank(), world.size());
    let own = Head::of(rows).and_then(|head| Ok((rows.rows::<T>(..)?, head.to_bytes()?, head)));
    let (block, described, head) = all_or_none(world, own)?;
    if rank != root {
        send_bytes(&world.process_at_rank(root), HEAD, &described);
        all_or_none(world, Ok(()))?;
        send(&world.process_at_rank(root), ROWS, &block);
        return Ok(None);
    }
    let received: Vec<_> = (0..size)
        .map(
            |other| {
                if other == root { Ok(described.clone()) } else { receive_bytes(&world.process_at_rank(other), HEAD) }
            },
        )
        .collect();
    let room = (|| {
        let mut counts = Vec::new();
        for (other, bytes) in received.into_iter().enumerate() {
            let found = Head::<T>::from_bytes(&bytes?)?;
            let (expected, columns) = (head.table.column_count(), found.table.column_count());
            if expected != columns {
                return Err(Error::new(ErrorKind::LengthMismatch { expected, actual: columns }));
            }
            if found.table.dictionary() != head.table.dictionary() {
                return Err(Error::other(format!(
                    "rank {other} has columns of other names or meanings than rank {root}"
                )));
            }
            counts.push(found.rows);
        }
        let all = counts.iter().try_fold(0_usize, |all, &count| all.checked_add(count)).unwrap_or(usize::MAX);
        Ok((all, head.room(all)?, counts))
    })();
    let (all, mut values, counts) = all_or_none(world, room)?;
    let (mut rest, columns) = (values.mutable_data()?, head.table.column_count());
    for (other, count) in counts.into_iter().enumerate() {
        let (part, tail) = rest.split_at_mut(count * columns);
        match other as i32 == root {
            true => part.copy_from_slice(&block),
            false => receive(&world.process_at_rank(other as i32), ROWS, part),
        }
        rest = tail;
    }
    head.into_table(all, values).map(Some)
}

/// Sends the rows of each process `by` ranks forward around the ring, and returns the received rows, which belonged to
/// the rank `by` ranks before. With `by` 1, every process has seen all rows after one call per process. Collective,
/// with the same `by` everywhere.
///
/// # Errors
/// Those of reading the rows; [`ErrorKind::OutOfMemory`]; [`RankError`](crate::RankError) on the processes that did not
/// fail.
///
/// # Examples
/// ```no_run
/// use mpi::traits::*;
/// use numeric_table::prelude::*;
/// use numeric_table_mpi::{gather_rows, scatter_rows, shift_rows};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let universe = mpi::initialize().ok_or("MPI was initialized before")?;
/// let world = universe.world();
/// let whole = HomogenNumericTable::from_rows(&[[1.0_f32, 2.0], [3.0, 4.0], [5.0, 6.0]])?;
/// let mine = scatter_rows(&world, 0, (world.rank() == 0).then_some(&whole))?; // about 3 / size rows
/// let of_the_rank_before = shift_rows(&world, &mine, 1)?;
/// if let Some(all) = gather_rows(&world, 0, &mine)? {
///     assert_eq!(all, whole); // on rank 0
/// }
/// # Ok(())
/// # }
/// ```
pub fn shift_rows<T: Transfer, C: Communicator>(
    world: &C,
    rows: &HomogenNumericTable<T>,
    by: i32,
) -> Result<HomogenNumericTable<T>> {
    let world = &world.duplicate();
    let _guard = AbortOnPanic(world);
    let (rank, size) = (world.rank(), world.size());
    let by = by.rem_euclid(size);
    let (to, from) = ((rank + by) % size, (rank + size - by) % size);
    let (to, from) = (world.process_at_rank(to), world.process_at_rank(from));
    let own = Head::of(rows).and_then(|head| Ok((rows.rows::<T>(..)?, head.to_bytes()?)));
    let (block, described) = all_or_none(world, own)?;
    let mut length = 0_u64;
    exchange(&to, &[described.len() as u64], &from, std::slice::from_mut(&mut length), HEAD);
    let mut bytes = Vec::new();
    let room = bytes.try_reserve_exact(length as usize);
    all_or_none(world, room.map_err(|_| Error::out_of_memory(length as usize)))?;
    bytes.resize(length as usize, 0);
    exchange(&to, &described, &from, &mut bytes, HEAD);
    let room = Head::<T>::from_bytes(&bytes).and_then(|head| Ok((head.room(head.rows)?, head)));
    let (mut values, head) = all_or_none(world, room)?;
    exchange(&to, &block, &from, values.mutable_data()?, ROWS);
    let rows = head.rows;
    head.into_table(rows, values)
}

/// Sends values to one process while receiving values from another.
fn exchange<T: Transfer>(to: &impl Destination, sent: &[T], from: &impl Source, received: &mut [T], tag: Tag) {
    let mut sent = bytemuck::cast_slice::<T, <T as Wire>::Sent>(sent).chunks(MOST);
    let mut received = bytemuck::cast_slice_mut::<T, <T as Wire>::Sent>(received).chunks_mut(MOST);
    loop {
        let (out, into) = (sent.next(), received.next());
        if out.is_none() && into.is_none() {
            return;
        }
        // The receive is posted before any process waits for one elsewhere.
        scope(|scope| {
            let arriving = into.map(|into| from.immediate_receive_into_with_tag(scope, into, tag));
            if let Some(out) = out {
                to.send_with_tag(out, tag);
            }
            if let Some(arriving) = arriving {
                arriving.wait_without_status();
            }
        });
    }
}
