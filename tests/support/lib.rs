//! Shared parts of the tests: running the program, scanning, starting servers, and random numbers.

pub mod cases;
pub mod chromium;
pub mod cluster;
pub mod dumps;
pub mod env;
pub mod fanout;
pub mod files;
pub mod forms;
pub mod history;
pub mod hostile;
pub mod json;
pub mod kinds;
pub mod limited;
pub mod planted;
pub mod prelude;
pub mod rdb;
pub mod redis;
pub mod rng;
pub mod run;
pub mod scan;
pub mod schema;
pub mod signals;
pub mod timeline;
pub mod tls;
pub mod usage;
pub mod workloads;
