//! Tables that tools make from RDB files: one file a tool.

pub mod hdt_rdb;
pub mod rdb_tools;
pub mod redis_rdb_cli;
