//! The cursors of a scan. A correct server never repeats one; a server that does would never end the scan.

/// The cursors so far, of which one is kept: a circle of any length is found within twice its length.
#[derive(Debug, Default)]
pub(crate) struct Cursors {
    kept: Vec<u8>,
    seen: u64,
}

impl Cursors {
    /// Whether this cursor came before; not each is found at once.
    pub(crate) fn come_again(&mut self, cursor: &[u8]) -> bool {
        if self.kept == cursor {
            return true;
        }
        self.seen += 1;
        if self.seen.is_power_of_two() {
            self.kept = cursor.to_vec();
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_circle_is_found_and_nothing_else() {
        let cursor = |number: usize| number.to_string().into_bytes();
        let mut cursors = Cursors::default();
        assert!((1..10_000).all(|number| !cursors.come_again(&cursor(number))));
        for (before, length) in [(0, 1), (0, 2), (5, 1), (100, 77), (1, 1000)] {
            let mut cursors = Cursors::default();
            let circle = (0..).map(|at| {
                if at < before {
                    at
                } else {
                    before + (at - before) % length
                }
            });
            let pages = circle
                .take_while(|number| !cursors.come_again(&cursor(*number)))
                .count();
            assert!(
                pages < 4 * (before + length) + 4,
                "{before} {length}: {pages}"
            );
        }
    }
}
