//! How rows end, for all formats.
//!
//! The byte that ends a row may also occur inside double quotes, where it does not end one. Whether a position is
//! quoted depends on all quotes before it.

use std::sync::Arc;

use crate::source::boundary::{Boundary, Effect, EveryByte, State, line_at};

/// Decides whether a line is a complete row.
pub type IsRow = Arc<dyn Fn(&[u8]) -> bool + Send + Sync>;

/// How the rows of an input end.
#[derive(Clone)]
pub enum RowBoundary {
    /// Every occurrence of this byte ends a row.
    Lines(u8),
    /// Every occurrence of this byte outside double quotes.
    Quoted(u8, Quotes),
    /// A line end followed by a line that is a complete row: rows may contain unquoted line ends.
    Rows(IsRow),
    /// Rows are length-prefixed, so they can only be found from the front: returns the end of the first row, or `None`
    /// if incomplete. The input is read as a stream.
    Counted(fn(&[u8]) -> Option<usize>),
}

/// How a double quote is escaped inside double quotes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quotes {
    /// Doubled, as in CSV, where a quote opens only at the start of a field: after this delimiter or a line end.
    Doubled(u8),
    /// With a backslash, as in C and JSON.
    Escaped,
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
    /// Quoted, after a byte whose meaning depends on the next: a backslash, or a quote that may be doubled.
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

/// Walks bytes from quote to quote: yields the offsets of unquoted `end` bytes and tracks the final state.
struct Walk<'a> {
    quotes: Quotes,
    bytes: &'a [u8],
    at: usize,
    state: Quoting,
    end: Option<u8>,
}

impl<'a> Walk<'a> {
    fn new(quotes: Quotes, bytes: &'a [u8], at: usize, state: Quoting, end: Option<u8>) -> Self {
        let mut walk = Walk {
            quotes,
            bytes,
            at,
            state,
            end,
        };
        let next = bytes.get(at);
        match (quotes, state, next) {
            (_, _, None) | (_, Quoting::Outside | Quoting::Inside, _) => {}
            (Quotes::Escaped, Quoting::Pending, _) => {
                (walk.state, walk.at) = (Quoting::Inside, at + 1)
            }
            (_, _, Some(b'"')) => (walk.state, walk.at) = (Quoting::Inside, at + 1),
            _ => walk.state = Quoting::Outside,
        }
        walk
    }

    /// The state after all bytes.
    fn behind(mut self) -> Quoting {
        while self.next().is_some() {}
        let starts = |byte: &u8| matches!(self.quotes, Quotes::Doubled(delimiter) if [delimiter, b'\n', b'\r'].contains(byte));
        match (self.state, self.bytes.last()) {
            (Quoting::Outside, Some(last)) if starts(last) => Quoting::Start,
            (state, _) => state,
        }
    }

    /// Whether the unquoted quote at `at` opens.
    fn opens(&self, at: usize) -> bool {
        match self.quotes {
            Quotes::Escaped => true,
            Quotes::Doubled(delimiter) => {
                at > 0 && [delimiter, b'\n', b'\r'].contains(&self.bytes[at - 1])
            }
        }
    }

    fn search(&self, byte: u8, or: Option<u8>) -> Option<usize> {
        let rest = &self.bytes[self.at.min(self.bytes.len())..];
        let found = or.map_or_else(
            || memchr::memchr(byte, rest),
            |or| memchr::memchr2(byte, or, rest),
        );
        found.map(|at| self.at + at)
    }
}

impl Iterator for Walk<'_> {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        loop {
            match (self.state, self.quotes) {
                (Quoting::Start | Quoting::Outside, _) => {
                    let at = self.search(b'"', self.end)?;
                    self.at = at + 1;
                    if self.bytes[at] != b'"' {
                        return Some(at);
                    }
                    self.state = if self.opens(at) {
                        Quoting::Inside
                    } else {
                        Quoting::Outside
                    };
                }
                (Quoting::Inside, Quotes::Doubled(_)) => {
                    let at = self.search(b'"', None)?;
                    (self.state, self.at) = match self.bytes.get(at + 1) {
                        None => (Quoting::Pending, at + 1),
                        Some(b'"') => (Quoting::Inside, at + 2),
                        Some(_) => (Quoting::Outside, at + 1),
                    };
                }
                (Quoting::Inside, Quotes::Escaped) => {
                    let at = self.search(b'"', Some(b'\\'))?;
                    (self.state, self.at) = match (self.bytes[at], self.bytes.get(at + 1)) {
                        (b'"', _) => (Quoting::Outside, at + 1),
                        (_, None) => (Quoting::Pending, at + 1),
                        (_, Some(_)) => (Quoting::Inside, at + 2),
                    };
                }
                (Quoting::Pending, _) => return None,
            }
        }
    }
}

impl Boundary for RowBoundary {
    fn is_sequential(&self) -> bool {
        matches!(self, RowBoundary::Counted(_))
    }

    fn needs_next_line(&self) -> bool {
        matches!(self, RowBoundary::Rows(_))
    }

    fn has_states(&self) -> bool {
        matches!(self, RowBoundary::Quoted(..))
    }

    fn is_local(&self) -> bool {
        !matches!(self, RowBoundary::Quoted(_, Quotes::Escaped))
    }

    /// A quote after a byte that neither starts a field nor is a quote opens nothing; unless followed by another quote,
    /// it closes an open one. The position after it is therefore unquoted, whatever comes before.
    fn effect_of_tail(&self, tail: &[u8]) -> Option<Effect> {
        let RowBoundary::Quoted(_, quotes @ Quotes::Doubled(delimiter)) = self else {
            return None;
        };
        let settles = |at: &usize| {
            let starts = |byte: u8| [*delimiter, b'\n', b'\r', b'"'].contains(&byte);
            *at > 0 && !starts(tail[at - 1]) && tail.get(at + 1).is_some_and(|next| *next != b'"')
        };
        let at = memchr::memrchr_iter(b'"', tail).find(settles)?;
        let behind = Walk::new(*quotes, tail, at + 1, Quoting::Outside, None).behind();
        Some(Effect::of(|_| behind.state()))
    }

    fn effect(&self, bytes: &[u8]) -> Effect {
        match self {
            // Without a quote, only the last byte matters.
            RowBoundary::Quoted(_, Quotes::Doubled(_))
                if bytes.len() > 1 && memchr::memchr(b'"', bytes).is_none() =>
            {
                self.effect(&bytes[bytes.len() - 1..])
            }
            RowBoundary::Quoted(_, quotes) => Effect::of(|state| {
                let walk = Walk::new(*quotes, bytes, 0, Quoting::of(state), None);
                walk.behind().state()
            }),
            _ => Effect::NONE,
        }
    }

    fn first_end(&self, bytes: &[u8], from: usize, state: State, whole: bool) -> Option<usize> {
        match self {
            RowBoundary::Lines(end) => EveryByte(*end).first_end(bytes, from, state, whole),
            RowBoundary::Quoted(end, quotes) => {
                Walk::new(*quotes, bytes, from, Quoting::of(state), Some(*end))
                    .next()
                    .map(|at| at + 1)
            }
            RowBoundary::Rows(is_row) => memchr::memchr_iter(b'\n', &bytes[from..])
                .map(|at| from + at + 1)
                .find(|start| starts_row(bytes, *start, whole, is_row)),
            RowBoundary::Counted(row) => row(&bytes[from..]).map(|end| from + end),
        }
    }

    fn last_end(&self, bytes: &[u8], searched: usize) -> Option<usize> {
        match self {
            RowBoundary::Lines(end) => EveryByte(*end).last_end(bytes, searched),
            RowBoundary::Quoted(end, quotes) => {
                Walk::new(*quotes, bytes, 0, Quoting::Start, Some(*end))
                    .last()
                    .map(|at| at + 1)
            }
            RowBoundary::Rows(is_row) => memchr::memrchr_iter(b'\n', bytes)
                .map(|at| at + 1)
                .find(|start| starts_row(bytes, *start, false, is_row)),
            RowBoundary::Counted(row) => {
                let ends =
                    std::iter::successors(Some(0), |end| row(&bytes[*end..]).map(|len| end + len));
                ends.last().filter(|end| *end > 0)
            }
        }
    }
}

/// Whether the line at `start` is a row; an incomplete line never is.
fn starts_row(bytes: &[u8], start: usize, whole: bool, is_row: &IsRow) -> bool {
    let (line, _) = line_at(bytes, start);
    let has_ended = start + line.len() < bytes.len() || whole && !line.is_empty();
    has_ended && is_row(line)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The row ends by a byte-wise state machine that follows each format's definition.
    fn naive(quotes: Quotes, end: u8, bytes: &[u8]) -> Vec<usize> {
        let (mut ends, mut inside, mut skip) = (Vec::new(), false, false);
        for (at, byte) in bytes.iter().enumerate() {
            let before = at.checked_sub(1).map(|before| bytes[before]);
            let starts =
                |delimiter| before.is_none_or(|before| [delimiter, b'\n', b'\r'].contains(&before));
            match (inside, quotes) {
                _ if std::mem::take(&mut skip) => {}
                (true, Quotes::Escaped) if *byte == b'\\' => skip = true,
                (true, Quotes::Doubled(_)) if *byte == b'"' && bytes.get(at + 1) == Some(&b'"') => {
                    skip = true
                }
                (true, _) => inside = *byte != b'"',
                (false, Quotes::Escaped) if *byte == b'"' => inside = true,
                (false, Quotes::Doubled(delimiter)) if *byte == b'"' => inside = starts(delimiter),
                (false, _) if *byte == end => ends.push(at),
                _ => {}
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
            for (quotes, end) in [(Quotes::Doubled(b','), b'\n'), (Quotes::Escaped, b',')] {
                let boundary = RowBoundary::Quoted(end, quotes);
                let expected = naive(quotes, end, &bytes);
                prop_assert_eq!(boundary.last_end(&bytes, 0), expected.last().map(|at| at + 1));
                let (mut state, mut found) = (State::default(), Vec::new());
                for (i, part) in bytes.chunks(piece).enumerate() {
                    // Walk from the piece to the end: the meaning of a quote at its start depends on what precedes it.
                    let from = i * piece;
                    let mut walk = Walk::new(quotes, &bytes, from, Quoting::of(state), Some(end));
                    found.extend(walk.by_ref().take_while(|at| *at < from + part.len()));
                    state = boundary.effect(part).on(state);
                }
                prop_assert_eq!(&found, &expected, "{:?}", quotes);
            }
        }
    }

    proptest! {
        #[test]
        fn what_a_tail_settles_is_what_the_whole_does(
            bytes in prop::collection::vec(prop::sample::select(b"\"\",\n\rab".to_vec()), 0..40),
            tail in 0usize..40,
        ) {
            let boundary = RowBoundary::Quoted(b'\n', Quotes::Doubled(b','));
            let settled = boundary.effect_of_tail(&bytes[tail.min(bytes.len())..]);
            prop_assert!(settled.is_none_or(|effect| effect == boundary.effect(&bytes)));
        }
    }

    #[test]
    fn a_line_is_cut_off_only_where_a_row_follows() {
        let boundary = RowBoundary::Rows(Arc::new(|line| line.starts_with(b"0,")));
        let bytes = b"0,a\n0,b\nrest of b\n0,c\n0,d";
        assert_eq!(
            boundary.first_end(bytes, 0, State::default(), true),
            Some(4)
        );
        assert_eq!(
            boundary.first_end(bytes, 4, State::default(), true),
            Some(18)
        );
        assert_eq!(
            boundary.first_end(bytes, 18, State::default(), true),
            Some(22)
        );
        assert_eq!(
            boundary.first_end(bytes, 18, State::default(), false),
            None,
            "the next line may go on"
        );
        assert_eq!(boundary.last_end(bytes, 0), Some(18));
    }
}
