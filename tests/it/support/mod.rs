//! Shared parts of the tests: one way to run the program, to scan, to start servers, and to draw random numbers.

pub(crate) mod chromium;
pub(crate) mod cluster;
pub(crate) mod dumps;
pub(crate) mod env;
pub(crate) mod forms;
pub(crate) mod hostile;
pub(crate) mod kinds;
pub(crate) mod planted;
pub(crate) mod redis;
pub(crate) mod rng;
pub(crate) mod run;
pub(crate) mod scan;
pub(crate) mod tls;
pub(crate) mod usage;
