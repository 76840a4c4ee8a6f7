//! Stores for the tests of tables in object stores: one that fails as it is told to, and a server of S3.

mod faulty;
mod s3;

pub(crate) use faulty::{Faults, Faulty};
pub(crate) use s3::S3Server;
