//! Compressed text: gzip and zstd, recognized by their first bytes and decompressed into memory.
//!
//! Several gzip members or zstd frames may follow each other. Skippable frames of zstd are skipped. Checksums are
//! verified. Memory grows with the bytes actually decompressed, up to a limit, not with the size that a header claims.
//! The limit depends on the number of compressed bytes, and zstd's window is never larger than it.

use std::path::Path;

use super::input::MemoryLimits;
use crate::array::Array;
use crate::base::error::{Error, ErrorKind, Hint, Result};

/// A compression format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Compression {
    Gzip,
    Zstd,
}

/// Text of up to this many bytes may have any compression ratio.
#[cfg(feature = "csv-compressed")]
const FREE_BYTES: u64 = 4 << 20;

/// Number of bytes that [`Compression::of`] looks at.
pub(super) const MAGIC: usize = 4;

impl Compression {
    /// Recognizes the first bytes of compressed data. None of them begin UTF-8 text with printable characters.
    pub(super) fn of(start: &[u8]) -> Option<Self> {
        match start {
            [0x1F, 0x8B, ..] => Some(Self::Gzip),
            [0x28, 0xB5, 0x2F, 0xFD, ..] | [0x50..=0x5F, 0x2A, 0x4D, 0x18, ..] => Some(Self::Zstd),
            _ => None,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
        }
    }

    /// Returns the error for a compressed file without the feature that reads it.
    #[cfg(not(feature = "csv-compressed"))]
    pub(super) fn read(
        self,
        _: impl std::io::BufRead,
        _: u64,
        _: MemoryLimits,
        path: Option<&Path>,
    ) -> Result<Array<u8>> {
        let reason = format!("begins a file compressed with {}", self.name());
        let text = String::new();
        Err(Error::new(ErrorKind::Text { line: 1, column: None, name: None, text, reason, byte: None })
            .in_some_file(path)
            .with_hint(Hint::new("csv-compressed", "enables reading it")))
    }

    /// Decompresses a source of `length` bytes to its end. `path` is its path in errors.
    #[cfg(feature = "csv-compressed")]
    pub(super) fn read(
        self,
        source: impl std::io::BufRead,
        length: u64,
        limits: MemoryLimits,
        path: Option<&Path>,
    ) -> Result<Array<u8>> {
        let by_ratio = limits.ratio.saturating_mul(length).max(FREE_BYTES);
        let most_bytes = limits.decompressed.min(by_ratio);
        let ratio = (by_ratio < limits.decompressed).then_some(limits.ratio);
        let mut text = Text { bytes: Vec::new(), most_bytes, ratio, compression: self, path };
        match self {
            Self::Gzip => text.append(&mut flate2::bufread::MultiGzDecoder::new(source))?,
            Self::Zstd => zstd::read(source, &mut text)?,
        }
        Ok(text.bytes.into())
    }
}

/// The decompressed bytes.
#[cfg(feature = "csv-compressed")]
struct Text<'a> {
    bytes: Vec<u8>,
    most_bytes: u64,
    /// The ratio from which the limit of bytes is computed; `None` if the option for the number of bytes sets it.
    ratio: Option<u64>,
    compression: Compression,
    path: Option<&'a Path>,
}

#[cfg(feature = "csv-compressed")]
impl Text<'_> {
    /// Appends everything a decoder returns.
    fn append(&mut self, decoder: &mut dyn std::io::Read) -> Result<()> {
        let mut buffer = vec![0; 64 << 10];
        loop {
            let count = match decoder.read(&mut buffer) {
                Ok(0) => return Ok(()),
                Ok(count) => count,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(self.damaged(error)),
            };
            if count as u64 > self.room() {
                return Err(self.too_long());
            }
            self.reserve(count)?;
            self.bytes.extend_from_slice(&buffer[..count]);
        }
    }

    /// Returns the number of bytes that may still be appended.
    fn room(&self) -> u64 {
        self.most_bytes.saturating_sub(self.bytes.len() as u64)
    }

    /// Makes room for more bytes: doubles the capacity, up to the limit.
    fn reserve(&mut self, count: usize) -> Result<()> {
        let length = self.bytes.len();
        if self.bytes.capacity() - length < count {
            let most = usize::try_from(self.room()).unwrap_or(usize::MAX);
            let more = length.max(count).min(most.max(count));
            self.bytes.try_reserve_exact(more).map_err(|_| Error::out_of_memory(length.saturating_add(more)))?;
        }
        Ok(())
    }

    /// Returns the error for text that is too long.
    fn too_long(&self) -> Error {
        let (name, most) = (self.compression.name(), self.most_bytes);
        let (each, hint) = match self.ratio {
            Some(ratio) => {
                let hint = Hint::new("CsvOptions::max_decompression_ratio", "permits more");
                (format!(", {ratio} for each compressed byte"), hint)
            }
            None => (String::new(), Hint::new("CsvOptions::max_decompressed_bytes", "permits more")),
        };
        let reason = format!("the text, decompressed from {name}, is more than the limit of {most} bytes{each}");
        Error::new(ErrorKind::CsvOption { reason }).in_some_file(self.path).with_hint(hint)
    }

    /// Returns the error for data that cannot be read or decompressed.
    fn damaged(&self, error: std::io::Error) -> Error {
        let name = self.compression.name();
        let source = match error.kind() {
            std::io::ErrorKind::UnexpectedEof => {
                std::io::Error::new(error.kind(), format!("the {name} data ends too early"))
            }
            std::io::ErrorKind::InvalidInput | std::io::ErrorKind::InvalidData | std::io::ErrorKind::Other => {
                std::io::Error::new(std::io::ErrorKind::InvalidData, format!("the {name} data is damaged: {error}"))
            }
            _ => error,
        };
        Error::stream(source).in_some_file(self.path)
    }
}

/// The frames of zstd.
#[cfg(feature = "csv-compressed")]
mod zstd {
    use std::io::{self, BufRead, Read};

    use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
    use ruzstd::decoding::{FrameDecoder, StreamingDecoder};

    use super::Text;
    use crate::base::error::Result;

    /// The largest accepted window, which is that of the `zstd` tool.
    const WINDOW: u64 = 128 << 20;

    /// The largest size of a block. A smaller window would require smaller blocks.
    const BLOCK: u64 = 128 << 10;

    /// The first bytes of a frame: its magic number, a descriptor, and the size of the window unless the descriptor
    /// declares none. A skippable frame is also longer than this.
    const START: usize = 6;

    /// Reduces the window of a frame to the size that `room` bytes of text need: no match reaches further back than the
    /// text does.
    fn shrink_window(start: &mut [u8; START], room: u64) {
        const SINGLE_SEGMENT: u8 = 1 << 5;
        let [magic @ .., descriptor, window] = start;
        if *magic != [0x28, 0xB5, 0x2F, 0xFD] || *descriptor & SINGLE_SEGMENT != 0 {
            return;
        }
        // The window is a power of two from 1 KiB on, its exponent in the upper five bits, plus some eighths of it.
        let exponent = room.clamp(BLOCK, WINDOW).next_power_of_two().ilog2() - 10;
        *window = (*window).min((exponent as u8) << 3);
    }

    pub(super) fn read(mut source: impl BufRead, text: &mut Text<'_>) -> Result<()> {
        loop {
            match source.fill_buf() {
                Ok([]) => return Ok(()),
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(text.damaged(error)),
            }
            // A reused decoder would allocate the window that a header claims before it is filled.
            let mut decoder = FrameDecoder::new();
            decoder.set_max_window_size(WINDOW);
            let mut start = [0; START];
            source.read_exact(&mut start).map_err(|error| text.damaged(error))?;
            shrink_window(&mut start, text.room());
            let mut frame = match StreamingDecoder::new_with_decoder(start.chain(&mut source), &mut decoder) {
                Ok(frame) => frame,
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame { length, .. })) => {
                    let skipped = io::copy(&mut source.by_ref().take(length.into()), &mut io::sink());
                    match skipped {
                        Ok(skipped) if skipped == u64::from(length) => continue,
                        Ok(_) => return Err(text.damaged(io::ErrorKind::UnexpectedEof.into())),
                        Err(error) => return Err(text.damaged(error)),
                    }
                }
                Err(error) => return Err(text.damaged(io::Error::other(error.to_string()))),
            };
            if frame.decoder.content_size() > text.room() {
                return Err(text.too_long());
            }
            text.append(&mut frame)?;
            let (stored, found) = (decoder.get_checksum_from_data(), decoder.get_calculated_checksum());
            if stored.is_some() && stored != found {
                return Err(text.damaged(io::Error::other("its checksum differs")));
            }
        }
    }
}
