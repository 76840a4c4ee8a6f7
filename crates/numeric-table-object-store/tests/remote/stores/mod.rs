//! Stores for the tests of tables in object stores: one that fails on demand, and an S3 server.

mod faulty;
mod s3;

pub(crate) use faulty::{Faults, Faulty};
pub(crate) use s3::S3Server;
