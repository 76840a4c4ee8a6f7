//! An opened object of a store, and ranges of its bytes. Bytes of an object that replaced it are errors.

use std::fmt::Display;
use std::ops::Range;
use std::sync::Arc;

use futures_util::{StreamExt, stream};
use object_store::path::Path;
use object_store::{Error as StoreError, GetOptions, GetResult, GetResultPayload, ObjectMeta, ObjectStore};

use numeric_table::internal::Front;
use numeric_table::{Error, ErrorKind, Result};

use numeric_table::internal::with_room;

/// Number of bytes that are requested to open an object: usually the whole description of the file.
const FIRST_BYTES: u64 = 64 << 10;

/// An object as it was when it was opened.
#[derive(Clone, Debug)]
pub(crate) struct Object {
    store: Arc<dyn ObjectStore>,
    meta: ObjectMeta,
}

impl Object {
    /// Opens the object of a table file and reads its beginning, with a second request if that is long.
    ///
    /// # Errors
    /// [`ErrorKind::Foreign`]; [`ErrorKind::Format`]; [`ErrorKind::OutOfMemory`].
    pub(crate) async fn open(store: Arc<dyn ObjectStore>, path: &Path) -> Result<(Self, Front)> {
        let options = GetOptions::new().with_range(Some(0..FIRST_BYTES));
        let first = match store.get_opts(path, options).await {
            Ok(first) => first,
            Err(error) => return Err(Self::why_not_opened(&*store, path, error).await),
        };
        // The name is the caller's, even if the store returns another.
        let object = Self { store, meta: ObjectMeta { location: path.clone(), ..first.meta.clone() } };
        let range = 0..FIRST_BYTES.min(object.meta.size);
        let mut start = with_room(range.end as usize)?;
        object
            .take(first, range.clone(), |bytes| {
                start.extend_from_slice(bytes);
                Ok(())
            })
            .await?;
        let front = object.front(start).await.map_err(|error| error.in_file(path.as_ref()))?;
        Ok((object, front))
    }

    async fn front(&self, mut start: Vec<u8>) -> Result<Front> {
        let (length, found) = (Front::length(&start, self.meta.size)?, start.len());
        if found < length {
            start.try_reserve_exact(length - found).map_err(|_| Error::out_of_memory(length))?;
            self.get(found as u64..length as u64, |bytes| {
                start.extend_from_slice(bytes);
                Ok(())
            })
            .await?;
        }
        Front::decode(&start, self.meta.size)
    }

    /// Returns the error of an object whose first bytes were refused. Stores refuse to read bytes of an empty object.
    async fn why_not_opened(store: &dyn ObjectStore, path: &Path, source: StoreError) -> Error {
        if !matches!(source, StoreError::NotFound { .. }) {
            let found = store.get_opts(path, GetOptions::new().with_head(true)).await;
            if let (Ok(GetResult { meta: ObjectMeta { size: 0, .. }, .. }), Err(empty)) = (found, Front::length(&[], 0))
            {
                return empty.in_file(path.as_ref());
            }
        }
        failed(path, source)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.meta.location
    }

    /// Returns the size of the object in bytes.
    pub(crate) fn size(&self) -> u64 {
        self.meta.size
    }

    /// Names the object in an error.
    pub(crate) fn name(&self, error: Error) -> Error {
        error.in_file(self.path().as_ref())
    }

    /// Requests bytes, and calls `take` with all of them, in order, in pieces of any length.
    ///
    /// # Errors
    /// [`ErrorKind::Foreign`], also if the object was replaced; [`ErrorKind::Format`] if the store sends fewer bytes,
    /// or more.
    pub(crate) async fn get(&self, range: Range<u64>, take: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
        let mut options = GetOptions::new().with_range(Some(range.clone()));
        match (&self.meta.e_tag, &self.meta.version) {
            (Some(tag), _) if is_strong(tag) => options.if_match = Some(tag.clone()),
            (None, Some(version)) => options.version = Some(version.clone()),
            _ => {} // `check_same` compares the response
        }
        let found = self.store.get_opts(self.path(), options).await.map_err(|error| failed(self.path(), error))?;
        self.check_same(&found.meta)?;
        self.take(found, range, take).await
    }

    /// Checks that a response is about the object that was opened.
    ///
    /// # Errors
    /// [`ErrorKind::Foreign`].
    fn check_same(&self, found: &ObjectMeta) -> Result<()> {
        let replaced = |part: &str, expected: &dyn Display, now: &dyn Display| {
            let source = format!("its {part} was {expected}, and is {now}").into();
            Err(failed(self.path(), StoreError::Precondition { path: self.path().to_string(), source }))
        };
        let known = &self.meta;
        if known.size != found.size {
            return replaced("size in bytes", &known.size, &found.size);
        }
        if known.e_tag != found.e_tag {
            let text = |tag: &Option<String>| tag.clone().unwrap_or_else(|| "none".to_owned());
            return replaced("entity tag", &text(&known.e_tag), &text(&found.e_tag));
        }
        if known.e_tag.is_none() && known.last_modified != found.last_modified {
            return replaced("time of change", &known.last_modified, &found.last_modified);
        }
        Ok(())
    }

    async fn take(&self, found: GetResult, range: Range<u64>, mut take: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
        let wrong = |sent: Range<u64>| {
            let Range { start, end } = range;
            let reason = format!("bytes {start}..{end} were requested, and {}..{} sent", sent.start, sent.end);
            self.name(Error::new(ErrorKind::Format { offset: range.start, reason }))
        };
        if found.range != range {
            return Err(wrong(found.range));
        }
        let failed = |error| failed(self.path(), error);
        // A file is read at once: as a stream, it would come in many small pieces.
        let mut pieces = match matches!(found.payload, GetResultPayload::Stream(_)) {
            true => found.into_stream(),
            false => stream::iter([found.bytes().await]).boxed(),
        };
        let mut at = range.start;
        while let Some(bytes) = pieces.next().await {
            let bytes = bytes.map_err(failed)?;
            at = at.saturating_add(bytes.len() as u64);
            if at > range.end {
                return Err(wrong(range.start..at));
            }
            take(&bytes)?;
        }
        if at == range.end { Ok(()) } else { Err(wrong(range.start..at)) }
    }
}

/// Returns whether an entity tag can be a condition: weak tags never match.
fn is_strong(tag: &str) -> bool {
    !tag.starts_with("W/")
}

/// Returns the error of a store about an object.
pub(crate) fn failed(path: &Path, source: StoreError) -> Error {
    let reason = what_happened(&source);
    Error::new(ErrorKind::Foreign { reason, source: source.into() }).in_file(path.as_ref())
}

/// Returns the message of a store's error, reworded where the store's own is obscure.
fn what_happened(error: &StoreError) -> String {
    match error {
        StoreError::NotFound { .. } => "the object does not exist".to_owned(),
        StoreError::AlreadyExists { .. } => "the object already exists".to_owned(),
        StoreError::Precondition { source, .. } => format!("the object was replaced after it was opened: {source}"),
        other => other.to_string(),
    }
}
