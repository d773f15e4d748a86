//! Load: a key that most of the reads go to.
