//! `collect` and what stands between it and the keys: passwords, TLS, rights, servers that do not do what servers do.

mod rig;
