//! How rows end, for all formats.
//!
//! The byte that ends a row may also occur inside double quotes, where it does not end one. Whether a position is
//! quoted depends on all quotes before it.

use crate::source::boundary::{Boundary, Effect, EveryByte, State};

/// How the rows of an input end.
#[derive(Clone)]
pub enum RowBoundary {
    /// Every occurrence of this byte ends a row.
    Lines(u8),
    /// Every line end outside double quotes of CSV, which are doubled inside quotes and open only at the start of a field:
    /// after this delimiter or a line end.
    Quoted(u8),
    /// Rows can only be found from the front: returns the end of the first row, or `None` if incomplete. The input is
    /// read as a stream.
    Counted(fn(&[u8]) -> Option<usize>),
}

/// The quoting state at a position.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Quoting {
    /// Unquoted, at the possible start of a field.
    #[default]
    Start,
    /// Unquoted, within a field.
    Outside,
    /// Quoted.
    Inside,
    /// Quoted, after a quote that may be doubled.
    Pending,
}

impl Quoting {
    fn of(state: State) -> Self {
        [
            Quoting::Start,
            Quoting::Outside,
            Quoting::Inside,
            Quoting::Pending,
        ][usize::from(state.0)]
    }

    fn state(self) -> State {
        State(self as u8)
    }
}

/// Walks bytes from quote to quote: yields the offsets of unquoted line ends, if they are wanted, and tracks the state.
struct Walk<'a> {
    delimiter: u8,
    bytes: &'a [u8],
    at: usize,
    state: Quoting,
    with_ends: bool,
}

impl<'a> Walk<'a> {
    fn new(delimiter: u8, bytes: &'a [u8], at: usize, state: Quoting, with_ends: bool) -> Self {
        let mut walk = Walk {
            delimiter,
            bytes,
            at,
            state,
            with_ends,
        };
        match (state, bytes.get(at)) {
            (_, None) | (Quoting::Outside | Quoting::Inside, _) => {}
            (_, Some(b'"')) => (walk.state, walk.at) = (Quoting::Inside, at + 1),
            _ => walk.state = Quoting::Outside,
        }
        walk
    }

    /// Whether a quote after this byte opens.
    fn is_before_field(&self, byte: u8) -> bool {
        [self.delimiter, b'\n', b'\r'].contains(&byte)
    }

    /// The state after all bytes.
    fn behind(mut self) -> Quoting {
        while self.next().is_some() {}
        match (self.state, self.bytes.last()) {
            (Quoting::Outside, Some(last)) if self.is_before_field(*last) => Quoting::Start,
            (state, _) => state,
        }
    }

    /// The next quote, or line end if `with_ends`.
    fn search(&self, with_ends: bool) -> Option<usize> {
        let rest = &self.bytes[self.at.min(self.bytes.len())..];
        let position = if with_ends {
            memchr::memchr2(b'"', b'\n', rest)
        } else {
            memchr::memchr(b'"', rest)
        };
        position.map(|at| self.at + at)
    }
}

impl Iterator for Walk<'_> {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        loop {
            match self.state {
                Quoting::Start | Quoting::Outside => {
                    let at = self.search(self.with_ends)?;
                    self.at = at + 1;
                    if self.bytes[at] != b'"' {
                        return Some(at);
                    }
                    self.state = if at > 0 && self.is_before_field(self.bytes[at - 1]) {
                        Quoting::Inside
                    } else {
                        Quoting::Outside
                    };
                }
                Quoting::Inside => {
                    let at = self.search(false)?;
                    (self.state, self.at) = match self.bytes.get(at + 1) {
                        None => (Quoting::Pending, at + 1),
                        Some(b'"') => (Quoting::Inside, at + 2),
                        Some(_) => (Quoting::Outside, at + 1),
                    };
                }
                Quoting::Pending => return None,
            }
        }
    }
}

impl Boundary for RowBoundary {
    fn is_sequential(&self) -> bool {
        matches!(self, RowBoundary::Counted(_))
    }

    fn has_states(&self) -> bool {
        matches!(self, RowBoundary::Quoted(_))
    }

    /// A quote after a byte that neither starts a field nor is a quote opens nothing; unless followed by another quote,
    /// it closes an open one. The position after it is therefore unquoted, whatever comes before.
    fn effect_of_tail(&self, tail: &[u8]) -> Option<Effect> {
        let RowBoundary::Quoted(delimiter) = self else {
            return None;
        };
        let settles = |at: &usize| {
            let starts = |byte: u8| [*delimiter, b'\n', b'\r', b'"'].contains(&byte);
            *at > 0 && !starts(tail[at - 1]) && tail.get(at + 1).is_some_and(|next| *next != b'"')
        };
        let at = memchr::memrchr_iter(b'"', tail).find(settles)?;
        let behind = Walk::new(*delimiter, tail, at + 1, Quoting::Outside, false).behind();
        Some(Effect::of(|_| behind.state()))
    }

    fn effect(&self, bytes: &[u8]) -> Effect {
        match self {
            // Without a quote, only the last byte matters.
            RowBoundary::Quoted(_) if bytes.len() > 1 && memchr::memchr(b'"', bytes).is_none() => {
                self.effect(&bytes[bytes.len() - 1..])
            }
            RowBoundary::Quoted(delimiter) => Effect::of(|state| {
                let walk = Walk::new(*delimiter, bytes, 0, Quoting::of(state), false);
                walk.behind().state()
            }),
            _ => Effect::NONE,
        }
    }

    fn first_end(&self, bytes: &[u8], from: usize, state: State) -> Option<usize> {
        match self {
            RowBoundary::Lines(end) => EveryByte(*end).first_end(bytes, from, state),
            RowBoundary::Quoted(delimiter) => {
                Walk::new(*delimiter, bytes, from, Quoting::of(state), true)
                    .next()
                    .map(|at| at + 1)
            }
            RowBoundary::Counted(row) => row(&bytes[from..]).map(|end| from + end),
        }
    }

    fn last_end(&self, bytes: &[u8], searched: usize) -> Option<usize> {
        match self {
            RowBoundary::Lines(end) => EveryByte(*end).last_end(bytes, searched),
            RowBoundary::Quoted(delimiter) => Walk::new(*delimiter, bytes, 0, Quoting::Start, true)
                .last()
                .map(|at| at + 1),
            RowBoundary::Counted(row) => {
                let ends =
                    std::iter::successors(Some(0), |end| row(&bytes[*end..]).map(|len| end + len));
                ends.last().filter(|end| *end > 0)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The row ends by a byte-wise state machine that follows the definition.
    fn naive(bytes: &[u8]) -> Vec<usize> {
        let (mut ends, mut inside, mut skip) = (Vec::new(), false, false);
        for (at, byte) in bytes.iter().enumerate() {
            let before = at.checked_sub(1).map(|before| bytes[before]);
            match inside {
                _ if std::mem::take(&mut skip) => {}
                true if *byte == b'"' && bytes.get(at + 1) == Some(&b'"') => skip = true,
                true => inside = *byte != b'"',
                false if *byte == b'"' => {
                    inside = before.is_none_or(|before| b",\n\r".contains(&before));
                }
                false if *byte == b'\n' => ends.push(at),
                false => {}
            }
        }
        ends
    }

    proptest! {
        #[test]
        fn effects_of_pieces_give_the_ends_of_the_whole(
            bytes in prop::collection::vec(prop::sample::select(b"\"\\,\n\rab".to_vec()), 0..60),
            piece in 1usize..20,
        ) {
            let boundary = RowBoundary::Quoted(b',');
            let expected = naive(&bytes);
            prop_assert_eq!(boundary.last_end(&bytes, 0), expected.last().map(|at| at + 1));
            let (mut state, mut found) = (State::default(), Vec::new());
            for (i, part) in bytes.chunks(piece).enumerate() {
                // Walk from the piece to the end: the meaning of a quote at its start depends on what precedes it.
                let from = i * piece;
                let mut walk = Walk::new(b',', &bytes, from, Quoting::of(state), true);
                found.extend(walk.by_ref().take_while(|at| *at < from + part.len()));
                state = boundary.effect(part).on(state);
            }
            prop_assert_eq!(&found, &expected);
        }
    }

    proptest! {
        #[test]
        fn what_a_tail_settles_is_what_the_whole_does(
            bytes in prop::collection::vec(prop::sample::select(b"\"\",\n\rab".to_vec()), 0..40),
            tail in 0usize..40,
        ) {
            let boundary = RowBoundary::Quoted(b',');
            let settled = boundary.effect_of_tail(&bytes[tail.min(bytes.len())..]);
            prop_assert!(settled.is_none_or(|effect| effect == boundary.effect(&bytes)));
        }
    }
}
