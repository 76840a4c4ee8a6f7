//! Reading values of an object: concurrent requests of limited size, whose values are converted as they arrive.

use std::ops::Range;

use futures_util::TryStreamExt;
use futures_util::stream::FuturesOrdered;
use numeric_table::internal::{Arriving, Meter, RunSums, StoredValues, match_element};
use numeric_table::{
    AnyArray, Array, DataLayout, Element, ElementType, NumericTable, Result, Shape,
    table::{TableView, TableViewMut},
};

use crate::RemoteTable;
use numeric_table::internal::with_room;

/// Largest number of bytes between two columns that one request reads. More bytes cost more than a second request.
const GAP_BYTES: u64 = 256 << 10;

/// The bytes of one request: `count` wanted pieces of `length` bytes, each `stride` bytes after the previous one.
#[derive(Clone, Copy)]
struct Request {
    start: u64,
    length: u64,
    stride: u64,
    count: u64,
}

impl Request {
    fn range(&self) -> Range<u64> {
        self.start..self.start + self.count.saturating_sub(1) * self.stride + self.length
    }

    /// Calls `take` with the wanted bytes of those that have arrived. The first arrived byte is at position `at` of the
    /// request.
    fn wanted(&self, mut at: u64, mut bytes: &[u8], mut take: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
        while !bytes.is_empty() {
            let place = at % self.stride;
            let end = if place < self.length { self.length } else { self.stride };
            let count = usize::try_from(end - place).map_or(bytes.len(), |room| room.min(bytes.len()));
            let (now, later) = bytes.split_at(count);
            if place < self.length {
                take(now)?;
            }
            (at, bytes) = (at + count as u64, later);
        }
        Ok(())
    }
}

/// The properties that all requests of a call share.
#[derive(Clone, Copy)]
struct Call<'a> {
    element_type: ElementType,
    /// The position in the object of the first byte with a checksum. `None`: compute no checksums.
    summed_from: Option<u64>,
    meter: &'a Meter,
}

impl RemoteTable {
    /// Reads rows of a homogeneous table, which must be in range, into a row-major target of their size.
    pub(crate) async fn read_rows<U: Element>(
        &self,
        values: StoredValues,
        rows: Range<usize>,
        target: &mut [U],
        meter: &Meter,
    ) -> Result<()> {
        let StoredValues { element_type, layout, shape: Shape { rows: row_count, columns }, offset } = values;
        let shape = Shape { rows: rows.len(), columns };
        let (size, call) = (element_type.size_in_bytes(), Call { element_type, summed_from: None, meter });
        if layout == DataLayout::RowMajor || columns <= 1 || row_count <= 1 {
            self.fill(call, offset + (rows.start * columns * size) as u64, target).await?;
            return Ok(());
        }
        let mut array = Array::<U>::zeros(target.len())?;
        let columns = array.mutable_data()?;
        if rows.len() == row_count {
            self.fill(call, offset, columns).await?;
        } else if !rows.is_empty() {
            self.fill_columns(call, offset + (rows.start * size) as u64, row_count, rows.len(), columns).await?;
        }
        TableViewMut::new(target, shape, DataLayout::RowMajor)?.copy_from(TableView::new(&array, shape, layout)?)
    }

    /// Reads all values into a target, in the order of the file, and compares their checksums.
    pub(crate) async fn read_all<U: Element>(
        &self,
        values: StoredValues,
        target: &mut [U],
        meter: &Meter,
    ) -> Result<()> {
        let StoredValues { element_type, offset, .. } = values;
        let call = Call { element_type, summed_from: Some(offset), meter };
        let runs = self.fill(call, offset, target).await?;
        self.check_sums(runs).await
    }

    /// Loads a table that is not homogeneous, and compares the checksums of its values.
    pub(crate) async fn load_arrays(&self, meter: &Meter) -> Result<Box<dyn NumericTable>> {
        let payload = self.front.payload();
        let (mut arrays, mut runs, mut end) = (Vec::new(), Vec::new(), payload.start);
        for (element_type, position, count) in self.front.arrays() {
            let start = payload.start + position;
            runs.extend(self.skip(end..start, meter).await?);
            let call = Call { element_type, summed_from: Some(payload.start), meter };
            match_element!(element_type, T => {
                let mut array = Array::<T>::zeros(count)?;
                runs.extend(self.fill(call, start, array.mutable_data()?).await?);
                arrays.push(AnyArray::new(array));
            });
            end = start + (count * element_type.size_in_bytes()) as u64;
        }
        self.check_sums(runs).await?;
        self.front.table_of(arrays)
    }

    /// Reads the bytes of all values and compares their checksums, if the object has any. Returns whether it has.
    pub(crate) async fn compare(&self, meter: &Meter) -> Result<bool> {
        let payload = self.front.payload();
        if self.front.chunk_size() == 0 {
            meter.add(payload.end - payload.start); // nothing to do
            return Ok(false);
        }
        let runs = self.skip(payload, meter).await?;
        self.check_sums(runs).await?;
        Ok(true)
    }

    /// Reads consecutive values, beginning at a position in the object.
    async fn fill<U: Element>(&self, call: Call<'_>, start: u64, target: &mut [U]) -> Result<Vec<RunSums>> {
        let size = call.element_type.size_in_bytes();
        let step = (self.request_bytes / size).max(1);
        let mut requests = with_room(target.len().div_ceil(step))?;
        for (index, target) in target.chunks_mut(step).enumerate() {
            let length = (target.len() * size) as u64;
            let start = start + (index * step * size) as u64;
            requests.push((Request { start, length, stride: length, count: 1 }, target));
        }
        self.request_all(call, requests).await
    }

    /// Reads `rows` values of each column, column by column, beginning at a position in the first column. One request
    /// reads several columns if the values are few; several requests read one column if they are many.
    async fn fill_columns<U: Element>(
        &self,
        call: Call<'_>,
        start: u64,
        row_count: usize,
        rows: usize,
        target: &mut [U],
    ) -> Result<()> {
        let size = call.element_type.size_in_bytes();
        let (length, stride) = ((rows * size) as u64, (row_count * size) as u64);
        let most = self.request_bytes as u64;
        if length > most {
            for (column, target) in target.chunks_mut(rows).enumerate() {
                self.fill(call, start + column as u64 * stride, target).await?;
            }
            return Ok(());
        }
        let columns = if stride - length > GAP_BYTES { 1 } else { 1 + (most - length) / stride };
        let columns = usize::try_from(columns).unwrap_or(usize::MAX).min(target.len() / rows);
        let mut requests = with_room(target.len().div_ceil(columns * rows))?;
        for (index, target) in target.chunks_mut(columns * rows).enumerate() {
            let start = start + (index * columns) as u64 * stride;
            requests.push((Request { start, length, stride, count: (target.len() / rows) as u64 }, target));
        }
        self.request_all(call, requests).await.map(drop)
    }

    /// Makes several requests at a time. Returns the checksums of the values of each request.
    async fn request_all<U: Element>(
        &self,
        call: Call<'_>,
        requests: Vec<(Request, &mut [U])>,
    ) -> Result<Vec<RunSums>> {
        let (mut runs, mut coming) = (with_room(requests.len())?, FuturesOrdered::new());
        let mut requests = requests.into_iter();
        loop {
            let room = self.requests_at_once - coming.len();
            coming.extend(requests.by_ref().take(room).map(|(request, target)| self.request(call, request, target)));
            match coming.try_next().await? {
                Some(run) => runs.push(run),
                None => return Ok(runs),
            }
        }
    }

    async fn request<U: Element>(&self, call: Call<'_>, request: Request, target: &mut [U]) -> Result<RunSums> {
        let (position, chunk_size) = match call.summed_from {
            Some(first) => (request.start - first, self.front.chunk_size()),
            None => (0, 0),
        };
        let mut values = Arriving::new(target, call.element_type, position, chunk_size)?;
        let mut at = 0;
        self.object
            .get(request.range(), |bytes| {
                request.wanted(at, bytes, |wanted| {
                    call.meter.add(wanted.len() as u64);
                    values.put(wanted)
                })?;
                at += bytes.len() as u64;
                Ok(())
            })
            .await?;
        Ok(values.finish())
    }

    /// Reads bytes of values only for their checksums.
    async fn skip(&self, bytes: Range<u64>, meter: &Meter) -> Result<Vec<RunSums>> {
        let (step, mut start) = (self.request_bytes as u64, bytes.start);
        let (mut runs, mut coming) = (Vec::new(), FuturesOrdered::new());
        loop {
            while start < bytes.end && coming.len() < self.requests_at_once {
                let end = bytes.end.min(start.saturating_add(step));
                coming.push_back(self.sum(start..end, meter));
                start = end;
            }
            match coming.try_next().await? {
                Some(run) => runs.push(run),
                None => return Ok(runs),
            }
        }
    }

    async fn sum(&self, bytes: Range<u64>, meter: &Meter) -> Result<RunSums> {
        let length = (bytes.end - bytes.start) as usize; // at most that of a request
        let position = bytes.start - self.front.payload().start;
        let mut sums = RunSums::new(self.front.chunk_size(), position, length)?;
        self.object
            .get(bytes, |bytes| {
                meter.add(bytes.len() as u64);
                sums.update(bytes);
                Ok(())
            })
            .await?;
        Ok(sums)
    }

    /// Reads the checksums of the object, of 4 bytes each, and compares those of all values with them.
    async fn check_sums(&self, runs: Vec<RunSums>) -> Result<()> {
        if self.front.chunk_size() == 0 {
            return Ok(());
        }
        let (start, words) = self.front.sums();
        let words = usize::try_from(words).unwrap_or(usize::MAX);
        let mut stated = with_room(words)?;
        stated.resize(words, 0_u32);
        let silent = Meter::start(&Default::default(), None);
        let call = Call { element_type: ElementType::U32, summed_from: None, meter: &silent };
        self.fill(call, start, &mut stated).await?;
        self.front.check_sums(runs, &stated)
    }
}
