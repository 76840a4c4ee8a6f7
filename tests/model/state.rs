//! The model: tables as lists of numbers, memory as reference-counted lists, and the faults that each call may report.
//!
//! Where several faults apply to one call, any of them may be reported; nothing may have changed then.
//! Semantics: life cycle, blocks and sharing as the pages of `NumericTable`, `HomogenNumericTable` and
//! `BlockDescriptor` state them.

use std::cell::RefCell;
use std::ops::Range;
use std::rc::{Rc, Weak};
use std::sync::atomic::{AtomicU64, Ordering};

use numeric_table::prelude::*;
use numeric_table::table::spi::Region;

use super::number::{Number, number_of};
use super::real::{Cut, Shown};

/// The variant of an error, with as much of it as the model foretells.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Fault {
    Rows,
    Column,
    NotAllocated,
    Outstanding,
    WrongTable,
    WrongKind,
    NoBlock,
    NotWritable,
    TooShort,
    TooLong,
    SizeOverflow,
    NotContiguous,
    Dictionary,
    Value { row: usize, column: usize, value: Number, target: ElementType },
    Unforeseen(String),
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        match *error.kind() {
            ErrorKind::RowsOutOfRange { .. } => Self::Rows,
            ErrorKind::ColumnOutOfRange { .. } => Self::Column,
            ErrorKind::NotAllocated => Self::NotAllocated,
            ErrorKind::BlockOutstanding { .. } => Self::Outstanding,
            ErrorKind::WrongTable => Self::WrongTable,
            ErrorKind::WrongBlockKind { actual: None, .. } => Self::NoBlock,
            ErrorKind::WrongBlockKind { .. } => Self::WrongKind,
            ErrorKind::NotWritable { .. } => Self::NotWritable,
            ErrorKind::ArrayLength { have, need } if have < need => Self::TooShort,
            ErrorKind::ArrayLength { .. } => Self::TooLong,
            ErrorKind::SizeOverflow { .. } => Self::SizeOverflow,
            ErrorKind::MemoryLayout { .. } => Self::NotContiguous,
            ErrorKind::DictionaryMismatch { .. } => Self::Dictionary,
            ErrorKind::ValueNotRepresentable { row, column, value, target } => {
                Self::Value { row, column, value: number_of(value), target }
            }
            _ => Self::Unforeseen(error.to_string()),
        }
    }
}

/// The faults that apply to one call, if there are any.
pub(crate) type Expected<T> = Result<T, Vec<Fault>>;

pub(crate) fn unless(faults: Vec<Fault>) -> Expected<()> {
    if faults.is_empty() { Ok(()) } else { Err(faults) }
}

/// One block of memory. Everybody who shares it holds an `Rc` of it.
pub(crate) struct Storage {
    pub(crate) values: RefCell<Vec<Number>>,
    pub(crate) is_mutable: bool,
}

impl Storage {
    pub(crate) fn new(values: Vec<Number>, is_mutable: bool) -> Rc<Self> {
        Rc::new(Self { values: RefCell::new(values), is_mutable })
    }
}

/// A window on a block of memory.
#[derive(Clone)]
pub(crate) struct Memory {
    pub(crate) storage: Rc<Storage>,
    pub(crate) start: usize,
    pub(crate) count: usize,
}

impl Memory {
    pub(crate) fn new(values: Vec<Number>, is_mutable: bool) -> Self {
        Self { start: 0, count: values.len(), storage: Storage::new(values, is_mutable) }
    }

    fn zeros(element: ElementType, shape: Shape) -> Self {
        let count = if shape.columns == 0 { 0 } else { shape.rows * shape.columns };
        Self::new(vec![Number::zero(element); count], true)
    }
}

/// While this lives, the table that it was made of is leased.
pub(crate) struct Lease {
    _token: Rc<()>,
    pub(crate) storage: Rc<Storage>,
}

#[derive(Clone)]
pub(crate) struct Table {
    pub(crate) id: u64,
    pub(crate) element: ElementType,
    pub(crate) shape: Shape,
    pub(crate) layout: DataLayout,
    pub(crate) status: MemoryStatus,
    /// What the features are called, if anything. A new dictionary has no names.
    pub(crate) name: Option<String>,
    memory: Memory,
    /// Values from one column to the next in a column-major table.
    stride: usize,
    /// Rows that fit in the memory.
    capacity: usize,
    /// Rows of the memory that were ever shown: the others are spare.
    shown: usize,
    /// Whether the memory was already too small once: the next time, it has room for half as many rows again.
    has_grown: bool,
    lease: Weak<()>,
}

fn next_id() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

impl Table {
    pub(crate) fn new(
        element: ElementType,
        shape: Shape,
        layout: DataLayout,
        memory: Memory,
        status: MemoryStatus,
    ) -> Self {
        let id = next_id();
        let none = Memory::new(Vec::new(), false);
        let mut table = Self {
            id,
            element,
            shape,
            layout,
            status,
            name: None,
            memory: none,
            stride: 0,
            capacity: 0,
            shown: 0,
            has_grown: false,
            lease: Weak::new(),
        };
        table.install(memory, shape, status);
        table
    }

    pub(crate) fn unallocated(element: ElementType, shape: Shape, layout: DataLayout) -> Self {
        Self::new(element, shape, layout, Memory::new(Vec::new(), false), MemoryStatus::NotAllocated)
    }

    pub(crate) fn zeros(element: ElementType, shape: Shape, layout: DataLayout) -> Self {
        Self::new(element, shape, layout, Memory::zeros(element, shape), MemoryStatus::InternallyAllocated)
    }

    /// A table on memory of the user, unless that has not the right length.
    pub(crate) fn from_array(
        element: ElementType,
        shape: Shape,
        layout: DataLayout,
        memory: Memory,
        may_have_spare_rows: bool,
    ) -> Expected<Self> {
        unless(length_faults(memory.count, shape, layout, may_have_spare_rows))?;
        Ok(Self::new(element, shape, layout, memory, MemoryStatus::UserAllocated))
    }

    /// Takes memory in which the values are contiguous.
    fn install(&mut self, memory: Memory, shape: Shape, status: MemoryStatus) {
        self.capacity = match self.layout {
            _ if shape.columns == 0 => usize::MAX,
            DataLayout::RowMajor => memory.count / shape.columns,
            _ => shape.rows,
        };
        (self.stride, self.shape, self.status, self.memory) = (shape.rows, shape, status, memory);
        (self.shown, self.has_grown) = (shape.rows, false);
    }

    /// Lends the memory: the table is leased as long as the lease lives.
    pub(crate) fn lend(&mut self) -> Lease {
        let token = Rc::new(());
        self.lease = Rc::downgrade(&token);
        Lease { _token: token, storage: Rc::clone(&self.memory.storage) }
    }

    /// Shares the memory.
    pub(crate) fn storage(&self) -> Rc<Storage> {
        Rc::clone(&self.memory.storage)
    }

    pub(crate) fn is_leased(&self) -> bool {
        self.lease.strong_count() > 0
    }

    pub(crate) fn is_allocated(&self) -> bool {
        self.status != MemoryStatus::NotAllocated
    }

    pub(crate) fn shares_memory_with(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.memory.storage, &other.memory.storage)
    }

    fn lease_faults(&self) -> Vec<Fault> {
        if self.is_leased() { vec![Fault::Outstanding] } else { Vec::new() }
    }

    fn access_faults(&self) -> Vec<Fault> {
        let mut faults = self.lease_faults();
        if !self.is_allocated() && self.shape.rows > 0 {
            faults.push(Fault::NotAllocated);
        }
        faults
    }

    /// The columns of a cut, if the table has them; none if not.
    fn columns(&self, cut: Cut, faults: &mut Vec<Fault>) -> Range<usize> {
        match cut {
            Cut::AllColumns => 0..self.shape.columns,
            Cut::Column(column) if column < self.shape.columns => column..column + 1,
            Cut::Column(_) => {
                faults.push(Fault::Column);
                0..0
            }
        }
    }

    pub(crate) fn region(&self, cut: Cut, rows: Range<usize>) -> Expected<Region> {
        let mut faults = self.access_faults();
        if rows.start > rows.end || rows.end > self.shape.rows {
            faults.push(Fault::Rows);
        }
        let columns = self.columns(cut, &mut faults);
        unless(faults)?;
        Ok(Region { rows, columns })
    }

    fn position(&self, row: usize, column: usize) -> Expected<Region> {
        if row < self.shape.rows {
            return self.region(Cut::Column(column), row..row + 1);
        }
        let mut faults = self.region(Cut::Column(column), 0..0).err().unwrap_or_default();
        faults.push(Fault::Rows);
        Err(faults)
    }

    fn offset(&self, row: usize, column: usize) -> usize {
        self.memory.start
            + match self.layout {
                DataLayout::RowMajor => row * self.shape.columns + column,
                _ => row + column * self.stride,
            }
    }

    /// Where the values of a region lie in the storage, row by row.
    pub(crate) fn offsets(&self, region: &Region) -> Vec<usize> {
        let rows = if region.columns.is_empty() { 0..0 } else { region.rows.clone() }; // too many to walk over, maybe
        rows.flat_map(|row| region.columns.clone().map(move |column| self.offset(row, column))).collect()
    }

    fn whole(&self) -> Region {
        Region { rows: 0..self.shape.rows, columns: 0..self.shape.columns }
    }

    fn offsets_in_layout_order(&self) -> Vec<usize> {
        let mut offsets = self.offsets(&self.whole());
        if self.layout == DataLayout::ColumnMajor {
            offsets.sort_unstable();
        }
        offsets
    }

    pub(crate) fn at(&self, offsets: &[usize]) -> Vec<Number> {
        let values = self.memory.storage.values.borrow();
        offsets.iter().map(|&offset| values[offset]).collect()
    }

    pub(crate) fn is_one_piece(offsets: &[usize]) -> bool {
        offsets.windows(2).all(|pair| pair[0] + 1 == pair[1])
    }

    pub(crate) fn values(&self) -> Expected<Vec<Number>> {
        unless(self.access_faults())?;
        Ok(self.at(&self.offsets(&self.whole())))
    }

    fn is_writable(&self) -> bool {
        self.memory.storage.is_mutable && Rc::strong_count(&self.memory.storage) == 1
    }

    /// Copy on write: memory that is shared or immutable is replaced by a copy of what the table shows, and its spare
    /// rows.
    pub(crate) fn detach(&mut self) {
        if self.shape.columns > 0 && self.shape.rows > 0 && !self.is_writable() {
            self.move_to_room_for(self.shape.rows);
        }
    }

    /// Moves to memory for more rows. From the second time on it is for half as many again, at least.
    fn grow(&mut self, rows: usize) {
        let room = rows.max(if self.has_grown { self.shape.rows + self.shape.rows / 2 } else { 0 });
        let has_spare_rows = self.layout == DataLayout::RowMajor && self.shown < self.capacity;
        let shown = if has_spare_rows { self.shown.max(rows) } else { room };
        self.move_to_room_for(room);
        self.shape.rows = rows;
        (self.shown, self.has_grown) = (shown, true);
    }

    /// Changes the number of rows, and moves to new memory: what the table showed, zeros, the spare rows.
    fn move_to_room_for(&mut self, rows: usize) {
        let old = if self.is_allocated() { self.at(&self.offsets(&self.whole())) } else { Vec::new() };
        let has_spare = self.is_allocated() && self.layout == DataLayout::RowMajor && self.shape.columns > 0;
        let spare = if has_spare { self.shown.min(self.capacity)..self.capacity } else { 0..0 };
        let spare_values = self.at(&self.offsets(&Region { rows: spare.clone(), ..self.whole() }));
        let room = Shape { rows: if spare.is_empty() { rows } else { rows.max(spare.end) }, ..self.shape };
        let memory = Memory::zeros(self.element, room);
        self.install(memory, Shape { rows, ..self.shape }, MemoryStatus::InternallyAllocated);
        let kept = self.offsets(&self.whole());
        self.put(&kept[..old.len()], &old);
        self.put(&self.offsets(&Region { rows: spare, ..self.whole() }), &spare_values);
    }

    pub(crate) fn share(&self) -> Self {
        Self { id: next_id(), ..self.clone() }
    }

    pub(crate) fn slice_rows(&self, rows: Range<usize>) -> Expected<Self> {
        let region = self.region(Cut::AllColumns, rows)?;
        let mut slice = self.share();
        slice.memory.start = self.offsets(&region).first().copied().unwrap_or(self.memory.start);
        slice.memory.count = match self.offsets(&region).last() {
            Some(last) => last + 1 - slice.memory.start,
            None => 0,
        };
        slice.shape.rows = region.rows.len();
        slice.capacity = region.rows.len();
        slice.shown = region.rows.len();
        Ok(slice)
    }

    pub(crate) fn to_layout(&self, layout: DataLayout) -> Expected<Self> {
        unless(self.access_faults())?;
        if layout == self.layout { Ok(self.share()) } else { self.copy_as(self.element, layout) }
    }

    pub(crate) fn convert(&self, element: ElementType) -> Expected<Self> {
        unless(self.access_faults())?;
        if element == self.element { Ok(self.share()) } else { self.copy_as(element, self.layout) }
    }

    pub(crate) fn through_archive(&self) -> Expected<Self> {
        let mut copy = self.copy_as(self.element, self.layout)?;
        copy.status = MemoryStatus::InternallyAllocated;
        Ok(copy)
    }

    fn copy_as(&self, element: ElementType, layout: DataLayout) -> Expected<Self> {
        unless(self.access_faults())?;
        if !self.is_allocated() {
            return Ok(Self { name: self.name.clone(), ..Self::unallocated(element, self.shape, layout) });
        }
        let copy = Self { name: self.name.clone(), ..Self::zeros(element, self.shape, layout) };
        let values = self.at(&self.offsets(&self.whole()));
        let mut target = copy.memory.storage.values.borrow_mut();
        for (offset, value) in copy.offsets(&copy.whole()).into_iter().zip(values) {
            target[offset] = if element == self.element { value } else { value.saturate(element) };
        }
        drop(target);
        Ok(copy)
    }

    /// The array that the table would hand out.
    pub(crate) fn array(&self) -> Expected<Memory> {
        let mut faults = self.lease_faults();
        if !self.is_allocated() {
            faults.push(Fault::NotAllocated);
        }
        unless(faults)?;
        Ok(self.memory.clone())
    }

    pub(crate) fn set_array(&mut self, memory: Memory, rows: usize, may_have_spare_rows: bool) -> Expected<()> {
        let mut faults = self.lease_faults();
        let shape = Shape { rows, ..self.shape };
        faults.extend(length_faults(memory.count, shape, self.layout, may_have_spare_rows));
        unless(faults)?;
        self.install(memory, shape, MemoryStatus::UserAllocated);
        Ok(())
    }

    pub(crate) fn resize(&mut self, rows: usize) -> Expected<()> {
        let mut faults = self.lease_faults();
        let bytes = rows as u128 * self.shape.columns as u128 * self.element.size_in_bytes() as u128;
        if bytes > isize::MAX as u128 {
            faults.push(Fault::SizeOverflow);
        }
        unless(faults)?;
        let cut_off = self.offsets(&Region { rows: self.shape.rows..rows.min(self.shown), ..self.whole() });
        if self.is_allocated() && rows <= self.capacity && (cut_off.is_empty() || self.is_writable()) {
            self.put(&cut_off, &vec![Number::zero(self.element); cut_off.len()]);
            self.shape.rows = rows;
            self.shown = self.shown.max(rows);
        } else if self.is_allocated() && rows > self.capacity {
            self.grow(rows);
        } else {
            self.move_to_room_for(rows);
        }
        Ok(())
    }

    pub(crate) fn free_data_memory(&mut self) -> Expected<()> {
        unless(self.lease_faults())?;
        self.install(Memory::new(Vec::new(), false), self.shape, MemoryStatus::NotAllocated);
        Ok(())
    }

    /// `shape` must be small, unless there are no columns.
    pub(crate) fn allocate_data_memory(&mut self) -> Expected<()> {
        unless(self.lease_faults())?;
        self.install(Memory::zeros(self.element, self.shape), self.shape, MemoryStatus::InternallyAllocated);
        Ok(())
    }

    pub(crate) fn set_dictionary(&mut self, element: ElementType, columns: usize, name: String) -> Expected<()> {
        if columns != self.shape.columns || (columns > 0 && element != self.element) {
            return Err(vec![Fault::Dictionary]);
        }
        self.name = Some(name);
        Ok(())
    }

    pub(crate) fn edit_slice(&mut self, edits: &[(usize, Number)]) -> Expected<()> {
        unless(self.access_faults())?;
        if !Self::is_one_piece(&self.offsets_in_layout_order()) {
            return Err(vec![Fault::NotContiguous]);
        }
        self.detach();
        let mut values = self.at(&self.offsets_in_layout_order());
        edit(&mut values, edits, self.element);
        self.put(&self.offsets_in_layout_order(), &values);
        Ok(())
    }

    fn put(&self, offsets: &[usize], values: &[Number]) {
        let mut storage = self.memory.storage.values.borrow_mut();
        for (&offset, &value) in offsets.iter().zip(values) {
            storage[offset] = value;
        }
    }

    pub(crate) fn converted(&self, region: &Region, element: ElementType) -> Vec<Number> {
        let values = self.at(&self.offsets(region));
        if element == self.element {
            return values;
        }
        values.into_iter().map(|value| value.saturate(element)).collect()
    }

    fn shown(&self, region: &Region, element: ElementType, values: Vec<Number>) -> Shown {
        let is_zero_copy = element == self.element && Self::is_one_piece(&self.offsets(region));
        Shown { values, rows: region.rows.clone(), columns: region.columns.clone(), is_zero_copy }
    }

    pub(crate) fn read(&self, element: ElementType, cut: Cut, rows: Range<usize>) -> Expected<Shown> {
        let region = self.region(cut, rows)?;
        Ok(self.shown(&region, element, self.converted(&region, element)))
    }

    /// Lends a region that borrows the table. The memory is the table's own from then on.
    pub(crate) fn write(&mut self, element: ElementType, cut: Cut, rows: Range<usize>) -> Expected<(Shown, Region)> {
        let region = self.region(cut, rows)?;
        self.detach();
        Ok((self.shown(&region, element, self.converted(&region, element)), region))
    }

    /// Writes a block back: all of it, or nothing.
    pub(crate) fn write_back(
        &self,
        region: &Region,
        values: &[Number],
        element: ElementType,
        policy: ConversionPolicy,
        keeps_unchanged: bool,
    ) -> Expected<()> {
        let offsets = self.offsets(region);
        if element == self.element {
            self.put(&offsets, values);
            return Ok(());
        }
        let mut written = self.at(&offsets);
        for (i, (old, &new)) in written.iter_mut().zip(values).enumerate() {
            if keeps_unchanged && old.saturate(element) == new {
                continue;
            }
            if policy == ConversionPolicy::Checked && !new.fits(self.element) {
                let (row, column) = (i / region.columns.len(), i % region.columns.len());
                let (row, column) = (region.rows.start + row, region.columns.start + column);
                return Err(vec![Fault::Value { row, column, value: new, target: self.element }]);
            }
            *old = new.saturate(self.element);
        }
        self.put(&offsets, &written);
        Ok(())
    }

    pub(crate) fn value(&self, element: ElementType, row: usize, column: usize) -> Expected<Number> {
        let region = self.position(row, column)?;
        Ok(self.converted(&region, element)[0])
    }

    pub(crate) fn set_value(&mut self, element: ElementType, row: usize, column: usize, value: Number) -> Expected<()> {
        let region = self.position(row, column)?;
        self.fill(&region, element, value)
    }

    pub(crate) fn assign(&mut self, element: ElementType, value: Number) -> Expected<()> {
        unless(self.access_faults())?;
        self.fill(&self.whole(), element, value)
    }

    fn fill(&mut self, region: &Region, element: ElementType, value: Number) -> Expected<()> {
        let target = self.element;
        if !region.shape().is_empty() && element != target && !value.fits(target) {
            let (row, column) = (region.rows.start, region.columns.start);
            return Err(vec![Fault::Value { row, column, value, target }]);
        }
        self.detach();
        let offsets = self.offsets(region);
        let value = if element == target { value } else { value.saturate(target) };
        self.put(&offsets, &vec![value; offsets.len()]);
        Ok(())
    }
}

/// What is wrong with the length of an array of the user.
fn length_faults(count: usize, shape: Shape, layout: DataLayout, may_have_spare_rows: bool) -> Vec<Fault> {
    let need = shape.rows * shape.columns;
    let is_whole = may_have_spare_rows
        && layout == DataLayout::RowMajor
        && shape.columns > 0
        && count.is_multiple_of(shape.columns);
    match count {
        _ if count < need => vec![Fault::TooShort],
        _ if count > need && !is_whole => vec![Fault::TooLong],
        _ => Vec::new(),
    }
}

/// Writes values; positions past the end count on from the start.
pub(crate) fn edit(values: &mut [Number], edits: &[(usize, Number)], element: ElementType) {
    for &(position, value) in edits {
        if !values.is_empty() {
            let position = position % values.len();
            values[position] = value.saturate(element);
        }
    }
}
