//! A store in memory or elsewhere that fails, lies or waits on demand, and counts calls.

use std::fmt;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use futures_util::stream::BoxStream;
use object_store::path::Path;
use object_store::{
    CopyOptions, Error, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta, ObjectStore,
    PutMultipartOptions, PutOptions, PutPayload, PutResult, Result, UploadPart,
};

/// What goes wrong; nothing by default.
#[derive(Default)]
pub(crate) struct Faults {
    /// The calls of each kind, counted from 0, that fail.
    pub(crate) get: Option<usize>,
    pub(crate) put: Option<usize>,
    pub(crate) create: Option<usize>,
    pub(crate) part: Option<usize>,
    pub(crate) complete: Option<usize>,
    /// Changes an answer; the number is that of the request.
    pub(crate) answer: Option<fn(usize, GetResult) -> GetResult>,
    /// How long each request of bytes, or part, takes; a part that fails does so at once.
    pub(crate) delay: Duration,
}

#[derive(Debug, Default)]
struct Counts {
    get: AtomicUsize,
    put: AtomicUsize,
    create: AtomicUsize,
    part: AtomicUsize,
    complete: AtomicUsize,
    abort: AtomicUsize,
    now: AtomicUsize,
    most: AtomicUsize,
    ranges: Mutex<Vec<Range<u64>>>,
}

impl Counts {
    fn begin(&self) {
        let now = self.now.fetch_add(1, Ordering::SeqCst) + 1;
        self.most.fetch_max(now, Ordering::SeqCst);
    }

    fn end(&self) {
        self.now.fetch_sub(1, Ordering::SeqCst);
    }
}

/// A store over another one.
pub(crate) struct Faulty {
    inner: Arc<dyn ObjectStore>,
    faults: Faults,
    counts: Arc<Counts>,
}

impl Faulty {
    pub(crate) fn new(inner: Arc<dyn ObjectStore>, faults: Faults) -> Self {
        Self { inner, faults, counts: Arc::default() }
    }

    /// Returns the ranges that were requested, in the order of the requests.
    pub(crate) fn ranges(&self) -> Vec<Range<u64>> {
        self.counts.ranges.lock().unwrap().clone()
    }

    /// Returns how many requests, or parts, there were at a time at most.
    pub(crate) fn most_at_once(&self) -> usize {
        self.counts.most.load(Ordering::SeqCst)
    }

    /// Returns how many requests, or parts, were begun and have not ended.
    pub(crate) fn unfinished(&self) -> usize {
        self.counts.now.load(Ordering::SeqCst)
    }

    /// Returns how many parts were begun to be sent, and how many uploads were completed, and aborted.
    pub(crate) fn uploads(&self) -> [usize; 3] {
        [&self.counts.part, &self.counts.complete, &self.counts.abort].map(|count| count.load(Ordering::SeqCst))
    }
}

/// Counts a call, and fails if it is the one that shall.
fn call(count: &AtomicUsize, fails: Option<usize>) -> Result<usize> {
    let number = count.fetch_add(1, Ordering::SeqCst);
    match fails == Some(number) {
        true => Err(Error::Generic { store: "faulty", source: format!("call {number} fails").into() }),
        false => Ok(number),
    }
}

async fn wait(delay: Duration) {
    if !delay.is_zero() {
        tokio::time::sleep(delay).await;
    }
}

impl fmt::Debug for Faulty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Faulty")
    }
}

impl fmt::Display for Faulty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Faulty")
    }
}

#[async_trait]
impl ObjectStore for Faulty {
    async fn put_opts(&self, location: &Path, payload: PutPayload, options: PutOptions) -> Result<PutResult> {
        call(&self.counts.put, self.faults.put)?;
        self.inner.put_opts(location, payload, options).await
    }

    async fn put_multipart_opts(
        &self,
        location: &Path,
        options: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        call(&self.counts.create, self.faults.create)?;
        let inner = self.inner.put_multipart_opts(location, options).await?;
        let Faults { part, complete, delay, .. } = self.faults;
        Ok(Box::new(FaultyUpload { inner, part, complete, delay, counts: self.counts.clone() }))
    }

    async fn get_opts(&self, location: &Path, options: GetOptions) -> Result<GetResult> {
        if let Some(object_store::GetRange::Bounded(range)) = &options.range {
            self.counts.ranges.lock().unwrap().push(range.clone());
        }
        self.counts.begin();
        wait(self.faults.delay).await;
        let found = match call(&self.counts.get, self.faults.get) {
            Ok(number) => self.inner.get_opts(location, options).await.map(|found| (number, found)),
            Err(error) => Err(error),
        };
        self.counts.end();
        let (number, found) = found?;
        Ok(match self.faults.answer {
            Some(change) => change(number, found),
            None => found,
        })
    }

    fn delete_stream(&self, locations: BoxStream<'static, Result<Path>>) -> BoxStream<'static, Result<Path>> {
        self.inner.delete_stream(locations)
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        self.inner.list(prefix)
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        self.inner.list_with_delimiter(prefix).await
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        self.inner.copy_opts(from, to, options).await
    }
}

#[derive(Debug)]
struct FaultyUpload {
    inner: Box<dyn MultipartUpload>,
    part: Option<usize>,
    complete: Option<usize>,
    delay: Duration,
    counts: Arc<Counts>,
}

#[async_trait]
impl MultipartUpload for FaultyUpload {
    fn put_part(&mut self, data: PutPayload) -> UploadPart {
        let outcome = call(&self.counts.part, self.part);
        let (part, counts, delay) = (self.inner.put_part(data), self.counts.clone(), self.delay);
        Box::pin(async move {
            outcome?;
            counts.begin();
            wait(delay).await;
            let sent = part.await;
            counts.end();
            sent
        })
    }

    async fn complete(&mut self) -> Result<PutResult> {
        call(&self.counts.complete, self.complete)?;
        self.inner.complete().await
    }

    async fn abort(&mut self) -> Result<()> {
        call(&self.counts.abort, None)?;
        self.inner.abort().await
    }
}
