//! Directories of collections are analyzed without a flag.
