//! RDB files (`snapshot/`), and tables that tools produce from them: one file per tool.

pub(crate) mod hdt_rdb;
pub mod rdb_tools;
pub(crate) mod redis_rdb_cli;
pub mod snapshot;
