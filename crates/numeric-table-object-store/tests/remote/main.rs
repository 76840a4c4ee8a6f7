//! Tables in object stores: in memory, in a folder, and of a server that speaks S3.

mod damage;
mod folders;
mod gaps;
mod reading;
mod s3;
mod saving;
mod stores;
mod support;
