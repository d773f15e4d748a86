//! Line numbers for byte positions of a source, for messages.

use std::io::Read;

use crate::source::chunk::CHUNK;
use crate::source::{Source, stream};

/// The line number, from 1, of byte `at` of a rereadable source. Reads everything before it, so only for messages.
pub fn line_of(source: &dyn Source, at: u64) -> Option<u64> {
    line_ends(source, 0, at).map(|before| before + 1)
}

/// The number of line ends between two positions of a rereadable source; `from` is 0 if it is read from the front.
pub fn line_ends(source: &dyn Source, from: u64, to: u64) -> Option<u64> {
    if !source.is_rereadable() {
        return None;
    }
    let bytes = source.open_at().ok()?.filter(|_| from > 0);
    let mut buffer = vec![0; CHUNK];
    let mut lines = 0;
    let mut count = |bytes: &[u8]| lines += memchr::memchr_iter(b'\n', bytes).count() as u64;
    match bytes {
        Some(bytes) => {
            for at in (from..to).step_by(CHUNK) {
                let next = &mut buffer[..(to - at).min(CHUNK as u64) as usize];
                bytes.read_exact_at(next, at).ok()?;
                count(next);
            }
        }
        None => {
            let mut before = stream::open(source).ok()?.take(to);
            while before.limit() > 0 {
                let len = before.read(&mut buffer).ok().filter(|len| *len > 0)?;
                count(&buffer[..len]);
            }
        }
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
        assert_eq!(line_ends(&*source, 1, 4), Some(2));
        assert_eq!(line_ends(&*source, 2, 3), Some(0));
        assert_eq!(line_ends(&*source, 2, 9), None);
    }
}
