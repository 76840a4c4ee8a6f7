//! A table file in parts, in the order of its bytes, for destinations that require this order.

use std::ops::Range;

use super::plan::{FilePlan, checksums, front};
#[cfg(doc)]
use crate::base::error::ErrorKind;
use crate::base::error::{Error, Result};
use crate::base::progress::{Hook, Meter};
use crate::base::room::with_room;
use crate::base::trace::{self, CopyKind};
use crate::storage::checksum::RunSums;
use crate::storage::output::{Lines, for_each_piece};
use crate::table::NumericTable;

/// The bytes of a table's file, the same as those of saving.
pub struct FileParts<'t> {
    plan: FilePlan<'t>,
    front: Vec<u8>,
    /// Everything after the values, once these have been read.
    end: Vec<u8>,
    sums: Option<RunSums>,
    position: u64,
    meter: Meter,
}

impl<'t> FileParts<'t> {
    /// Parts, except the last one, have a multiple of this number of bytes, so that no value is divided.
    pub const MULTIPLE: usize = 64;

    /// Lays out the file of a table.
    ///
    /// # Errors
    /// The errors of a table that cannot be saved.
    pub fn new(table: &'t (dyn NumericTable + 't), chunk_size: u32, hook: &Hook) -> Result<Self> {
        let plan = FilePlan::new(table, chunk_size)?;
        let (preamble, header) = plan.parts();
        let front = front(preamble, header)?;
        let length = preamble.payload_length;
        let too_long = |_| Error::out_of_memory(usize::MAX);
        let sums = Some(RunSums::new(chunk_size, 0, usize::try_from(length).map_err(too_long)?)?);
        Ok(Self { plan, front, end: Vec::new(), sums, position: 0, meter: Meter::start(hook, length) })
    }

    /// Returns the size of the file in bytes.
    pub fn file_length(&self) -> u64 {
        self.plan.parts().0.file_length
    }

    /// Returns the next part, of `length` bytes or all that are left. `length` must be a multiple of
    /// [`MULTIPLE`](Self::MULTIPLE). After the last part, returns no bytes.
    ///
    /// # Errors
    /// The errors of reading the table; an error if its shape or types have changed; [`ErrorKind::OutOfMemory`].
    pub fn next_part(&mut self, length: usize) -> Result<Vec<u8>> {
        let start = self.position;
        let end = self.file_length().min(start.saturating_add(length as u64));
        let mut part = with_room((end - start) as usize)?;
        let preamble = self.plan.parts().0;
        let (values, values_end) = (preamble.payload_offset, preamble.payload_end());
        if start < values {
            part.extend_from_slice(&self.front[start as usize..end.min(values) as usize]);
        }
        if start < values_end && values < end {
            self.append_values(&mut part, start.max(values) - values..end.min(values_end) - values)?;
        }
        if values_end < end {
            if let Some(sums) = self.sums.take() {
                self.end = checksums(self.plan.parts().0, vec![sums])?;
            }
            part.extend_from_slice(
                &self.end[(start.max(values_end) - values_end) as usize..(end - values_end) as usize],
            );
        }
        self.position = end;
        Ok(part)
    }

    /// Appends bytes of the values.
    fn append_values(&mut self, part: &mut Vec<u8>, range: Range<u64>) -> Result<()> {
        let payload_length = self.plan.parts().0.payload_length;
        let (sums, meter, is_last) = (&mut self.sums, &self.meter, range.end == payload_length);
        if is_last {
            trace::record_long(CopyKind::Saved, payload_length);
        }
        let mut take = |bytes: &[u8]| {
            if let Some(sums) = sums {
                sums.update(bytes);
            }
            part.extend_from_slice(bytes);
            meter.add(bytes.len() as u64);
        };
        match &self.plan {
            FilePlan::Arrays(plan) => plan.read(range, take),
            FilePlan::Lines { element, lines, .. } => {
                let size = element.size_in_bytes() as u64;
                let run = (range.start / size) as usize..(range.end / size) as usize;
                for_each_piece(lines, *element, run, &mut |bytes| {
                    take(bytes);
                    Ok(())
                })?;
                if is_last { lines.check_unchanged(*element) } else { Ok(()) }
            }
        }
    }
}
