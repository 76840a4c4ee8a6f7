//! Sequential reading of the records of a file, in batches of complete records of a few hundred kilobytes.

use super::input::Input;
use super::syntax::{Syntax, Walked, walk};
use crate::base::error::Result;

/// Reads a file batch by batch, from a position where a record begins.
#[derive(Debug)]
pub(super) struct Batches {
    /// Position of the current bytes.
    place: u64,
    /// Their end: the position of the next batch.
    next: u64,
    /// Bytes read from a file, unless the input is in memory, and their position.
    buffer: Vec<u8>,
    buffer_place: u64,
}

impl Batches {
    pub(super) fn new(start: u64) -> Self {
        Self { place: start, next: start, buffer: Vec::new(), buffer_place: start }
    }

    /// Returns the position of the current bytes.
    pub(super) fn place(&self) -> u64 {
        self.place
    }

    /// Returns the current bytes: complete records.
    pub(super) fn bytes<'a>(&'a self, input: &'a Input) -> &'a [u8] {
        input.held(self.place..self.next, &self.buffer, self.buffer_place)
    }

    /// Consumes some of the current bytes.
    pub(super) fn advance(&mut self, bytes: usize) {
        self.place = self.next.min(self.place + bytes as u64);
    }

    /// Advances to the next record, so that the current bytes begin with it. Returns `false` if there is none.
    pub(super) fn go_to_record(&mut self, syntax: &Syntax, input: &Input, step: usize) -> Result<bool> {
        while self.fill(syntax, input, step)? {
            let bytes = self.bytes(input);
            let blank = syntax.skip_blank(bytes, 0);
            let is_there = blank < bytes.len();
            self.advance(blank);
            if is_there {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Reads the next batch if the current one is used up. The batch holds at least one record, or the blank lines
    /// after the last one. Returns `false` at the end of the file. After an error, such as a record that is too long,
    /// the state is unchanged.
    pub(super) fn fill(&mut self, syntax: &Syntax, input: &Input, step: usize) -> Result<bool> {
        if self.place < self.next {
            return Ok(true);
        }
        let start = self.next;
        if start >= input.len() {
            return Ok(false);
        }
        let until = start.saturating_add(step as u64).min(input.len());
        let Walked { place: end, failure, .. } = walk(syntax, input, start, until, step)?;
        if let Some(failure) = failure
            && end == start
        {
            return Err(failure.into_error(input, None));
        }
        if matches!(input, Input::File { .. }) {
            input.read(start..end, &mut self.buffer)?;
            self.buffer_place = start;
        }
        self.next = end;
        Ok(true)
    }
}
