//! A server of S3 on this machine, for as long as a value lives: the crate `s3s`, over a folder.

use std::fmt;
use std::path::Path;

use async_trait::async_trait;
use http_body_util::BodyExt;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector as Connector;
use hyper_util::rt::{TokioExecutor, TokioIo};
use object_store::aws::{AmazonS3, AmazonS3Builder};
use object_store::client::{
    ClientOptions, HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpRequestBody, HttpResponse,
    HttpResponseBody, HttpService,
};
use s3s::service::S3ServiceBuilder;
use s3s_fs::FileSystem;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

const BUCKET: &str = "tables";

/// A server that listens on a free port of this machine. It ends when it is dropped.
pub(crate) struct S3Server {
    endpoint: String,
    listener: JoinHandle<()>,
}

impl S3Server {
    /// Starts a server whose buckets are folders of `root`; it has one bucket.
    pub(crate) async fn start(root: &Path) -> Self {
        std::fs::create_dir(root.join(BUCKET)).unwrap();
        let service = S3ServiceBuilder::new(FileSystem::new(root).unwrap()).build();
        let socket = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let endpoint = format!("http://{}", socket.local_addr().unwrap());
        let listener = tokio::spawn(async move {
            loop {
                let (connection, _) = socket.accept().await.unwrap();
                let service = service.clone();
                tokio::spawn(async move {
                    let server = hyper_util::server::conn::auto::Builder::new(TokioExecutor::new());
                    // A client that goes away in the middle is no failure of the server.
                    let _ = server.serve_connection(TokioIo::new(connection), service).await;
                });
            }
        });
        Self { endpoint, listener }
    }

    /// Returns a client of the server's bucket.
    pub(crate) fn store(&self) -> AmazonS3 {
        AmazonS3Builder::new()
            .with_endpoint(&self.endpoint)
            .with_bucket_name(BUCKET)
            .with_allow_http(true)
            .with_skip_signature(true)
            .with_http_connector(Plain)
            .build()
            .unwrap()
    }
}

impl Drop for S3Server {
    fn drop(&mut self) {
        self.listener.abort();
    }
}

/// Connects without encryption.
#[derive(Debug)]
struct Plain;

impl HttpConnector for Plain {
    fn connect(&self, _: &ClientOptions) -> object_store::Result<HttpClient> {
        Ok(HttpClient::new(PlainClient(Client::builder(TokioExecutor::new()).build_http())))
    }
}

struct PlainClient(Client<Connector, HttpRequestBody>);

impl fmt::Debug for PlainClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PlainClient")
    }
}

#[async_trait]
impl HttpService for PlainClient {
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let answer = self.0.request(request).await.map_err(|error| HttpError::new(HttpErrorKind::Request, error))?;
        Ok(answer
            .map(|body| HttpResponseBody::new(body.map_err(|error| HttpError::new(HttpErrorKind::Interrupted, error)))))
    }
}
