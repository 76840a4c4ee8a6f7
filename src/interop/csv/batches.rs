//! The records of a file, one after another: some hundred kilobytes of whole records at hand at a time.

use super::input::Input;
use super::syntax::{Syntax, Walked, walk};
use crate::base::error::Result;

/// Walks over a file from a place on, where a record begins.
#[derive(Debug)]
pub(super) struct Batches {
    /// Where what is at hand begins.
    place: u64,
    /// Where it ends, and the next bytes begin.
    next: u64,
    /// Bytes of a file, if they are not in memory anyway, and where they begin.
    buffer: Vec<u8>,
    buffer_place: u64,
}

impl Batches {
    pub(super) fn new(start: u64) -> Self {
        Self { place: start, next: start, buffer: Vec::new(), buffer_place: start }
    }

    /// Where the bytes at hand begin.
    pub(super) fn place(&self) -> u64 {
        self.place
    }

    /// The bytes at hand: whole records.
    pub(super) fn bytes<'a>(&'a self, input: &'a Input) -> &'a [u8] {
        input.held(self.place..self.next, &self.buffer, self.buffer_place)
    }

    /// Uses some of them up.
    pub(super) fn advance(&mut self, bytes: usize) {
        self.place = self.next.min(self.place + bytes as u64);
    }

    /// Goes on to the next record, so that the bytes at hand begin with it; `false` if there is none.
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

    /// Has at least one record at hand, or blank lines behind the last one; `false` at the end of the file. After an error,
    /// which may be that the record is too long, everything is as it was.
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
