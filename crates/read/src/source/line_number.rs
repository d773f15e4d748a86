//! Line numbers for byte positions of a source, for messages.

use crate::source::Source;
use crate::source::forward::Forward;

/// The line number, from 1, of byte `at` of a rereadable source. Reads everything before it, so only for messages.
pub fn line_of(source: &dyn Source, at: u64) -> Option<u64> {
    if !source.is_rereadable() {
        return None;
    }
    let mut input = Forward::open(source).ok()?;
    let (mut left, mut line) = (at, 1);
    while left > 0 && !input.peek(1).ok()?.is_empty() {
        let ahead = input.ahead();
        let bytes = &ahead[..ahead.len().min(left as usize)];
        let len = bytes.len();
        line += memchr::memchr_iter(b'\n', bytes).count() as u64;
        left -= len as u64;
        input.pass(len);
    }
    (left == 0).then_some(line)
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
        assert_eq!(line_of(&*source, 9), None);
    }
}
