//! RDB files (`snapshot/`), and the tables that tools make from them: one file a tool.

pub mod hdt_rdb;
pub mod rdb_tools;
pub mod redis_rdb_cli;
pub mod snapshot;
