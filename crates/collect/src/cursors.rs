//! Detects repeated scan cursors. Correct servers never repeat one; a server that does would never end the scan.

/// Cycle detection with one remembered cursor: a cycle is detected within twice its length.
#[derive(Debug, Default)]
pub(crate) struct Cursors {
    kept: Vec<u8>,
    seen: u64,
}

impl Cursors {
    /// Whether this cursor repeats; not every repetition is detected immediately.
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
