//! RDB files (`snapshot/`), and the tables that tools make from them: one file a tool.

pub(crate) mod hdt_rdb;
pub mod rdb_tools;
pub(crate) mod redis_rdb_cli;
pub mod snapshot;
