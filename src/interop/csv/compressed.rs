//! Compressed text: gzip and zstd, recognized by their first bytes, decompressed into memory.
//!
//! Members of gzip and frames of zstd may follow each other; zstd's skippable frames are skipped. Checksums are
//! compared. Memory grows with what is really decompressed, up to a limit, not with what a header claims; zstd fills
//! its window, of at most 128 MiB, before the limit is compared.

use std::path::Path;

use crate::array::Array;
use crate::base::error::{Error, Result};

/// A way to compress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Compression {
    Gzip,
    Zstd,
}

/// Number of bytes that [`Compression::of`] looks at.
pub(super) const MAGIC: usize = 4;

impl Compression {
    /// Recognizes the first bytes of compressed data, none of which begin a text in UTF-8 with printable characters.
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
    pub(super) fn read(self, _: impl std::io::BufRead, _: u64, path: Option<&Path>, _: &str) -> Result<Array<u8>> {
        let reason = format!("begins a file compressed with {}, which the feature `csv-compressed` reads", self.name());
        let (path, text) = (path.map(Into::into), String::new());
        Err(Error::Csv { path, line: 1, column: None, name: None, text, reason })
    }

    /// Decompresses a source to its end. `path` is its path in errors, or `name` if it has none.
    #[cfg(feature = "csv-compressed")]
    pub(super) fn read(
        self,
        source: impl std::io::BufRead,
        most_bytes: u64,
        path: Option<&Path>,
        name: &str,
    ) -> Result<Array<u8>> {
        let mut text = Text { bytes: Vec::new(), most_bytes, compression: self, path, name };
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
    compression: Compression,
    path: Option<&'a Path>,
    name: &'a str,
}

#[cfg(feature = "csv-compressed")]
impl Text<'_> {
    /// Appends all that a decoder has.
    fn append(&mut self, decoder: &mut dyn std::io::Read) -> Result<()> {
        let mut buffer = vec![0; 64 << 10];
        loop {
            let count = match decoder.read(&mut buffer) {
                Ok(0) => return Ok(()),
                Ok(count) => count,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(self.damaged(error)),
            };
            let length = self.bytes.len() + count;
            if length as u64 > self.most_bytes {
                let reason = format!(
                    "the text, decompressed from {}, is more than {} bytes, the most that \
                     CsvOptions::max_decompressed_bytes permits",
                    self.compression.name(),
                    self.most_bytes
                );
                return Err(Error::CsvOption { path: self.path.map(Into::into), reason });
            }
            self.bytes.try_reserve(count).map_err(|_| Error::OutOfMemory { bytes: length })?;
            self.bytes.extend_from_slice(&buffer[..count]);
        }
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
        Error::Io { path: self.path.unwrap_or(Path::new(self.name)).to_owned(), source }
    }
}

/// The frames of zstd.
#[cfg(feature = "csv-compressed")]
mod zstd {
    use std::io::{self, BufRead, ErrorKind, Read};

    use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
    use ruzstd::decoding::{FrameDecoder, StreamingDecoder};

    use super::Text;
    use crate::base::error::Result;

    /// The largest window that is accepted, which is that of the `zstd` tool.
    const WINDOW: u64 = 128 << 20;

    pub(super) fn read(mut source: impl BufRead, text: &mut Text<'_>) -> Result<()> {
        loop {
            match source.fill_buf() {
                Ok([]) => return Ok(()),
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(text.damaged(error)),
            }
            // One that is used again would take memory for the window that a header claims, before it is filled.
            let mut decoder = FrameDecoder::new();
            decoder.set_max_window_size(WINDOW);
            let mut frame = match StreamingDecoder::new_with_decoder(&mut source, &mut decoder) {
                Ok(frame) => frame,
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame { length, .. })) => {
                    let skipped = io::copy(&mut source.by_ref().take(length.into()), &mut io::sink());
                    match skipped {
                        Ok(skipped) if skipped == u64::from(length) => continue,
                        Ok(_) => return Err(text.damaged(ErrorKind::UnexpectedEof.into())),
                        Err(error) => return Err(text.damaged(error)),
                    }
                }
                Err(error) => return Err(text.damaged(io::Error::other(error.to_string()))),
            };
            text.append(&mut frame)?;
            let (stored, found) = (decoder.get_checksum_from_data(), decoder.get_calculated_checksum());
            if stored.is_some() && stored != found {
                return Err(text.damaged(io::Error::other("its checksum differs")));
            }
        }
    }
}
