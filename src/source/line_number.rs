//! The line that a byte of a source is in, for messages.

use std::io::Read;

use crate::source::chunk::CHUNK;
use crate::source::{Source, stream};

/// Line number, from 1, of byte `at` of a source that can be read again; for messages, so it may read all that lies
/// before.
pub fn line_of(source: &dyn Source, at: u64) -> Option<u64> {
    if !source.is_rereadable() {
        return None;
    }
    source.open_at().ok()?;
    let mut before = stream::open(source).ok()?.take(at);
    let mut buffer = vec![0; CHUNK];
    let mut lines = 1;
    while before.limit() > 0 {
        let len = before.read(&mut buffer).ok().filter(|len| *len > 0)?;
        lines += memchr::memchr_iter(b'\n', &buffer[..len]).count() as u64;
    }
    Some(lines)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::memory::memory;

    #[test]
    fn the_line_of_a_byte_counts_from_one() {
        let source = memory("test", b"a\nb\nc");
        assert_eq!(
            [0, 1, 2, 4].map(|at| line_of(&*source, at).unwrap()),
            [1, 1, 2, 3]
        );
    }
}
