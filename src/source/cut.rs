//! Stage 1, BYTES: where an input may be cut into blocks, so that no key is in two of them.
//!
//! A row ends with a byte that may also stand inside double quotes, where it ends nothing. Whether a place is inside
//! is never guessed: it follows from all quotes before it. A chunk tells what it does to that state (`Effect`); the
//! effects of all chunks in order give the state that each of them starts in.

use std::sync::Arc;

/// What tells whether a line is a row of its own.
pub type IsRow = Arc<dyn Fn(&[u8]) -> bool + Send + Sync>;

/// How the rows of an input end.
#[derive(Clone)]
pub enum Cut {
    /// Every one of this byte ends a row.
    Lines(u8),
    /// Every one of this byte outside double quotes.
    Quoted(u8, Quotes),
    /// A line end behind which stands a line that is a row of its own: rows may hold line ends without saying so.
    Rows(IsRow),
    /// Rows tell their length, so they are only found from the front: where the row at the start ends, `None` where it
    /// is not all there. The input is read as a stream.
    Counted(fn(&[u8]) -> Option<usize>),
}

/// How a double quote is written inside double quotes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quotes {
    /// Twice, as in CSV, where a quote opens only at the start of a field, behind this delimiter or a line end.
    Doubled(u8),
    /// Behind a backslash, as in C and JSON.
    Escaped,
}

/// Where in the quoting a place is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum State {
    /// Outside double quotes, where a field may start.
    #[default]
    Start,
    /// Outside, in a field.
    Outside,
    /// Inside.
    Inside,
    /// Inside, behind a byte whose meaning the next one decides: a backslash, or a quote that may be doubled.
    Pending,
}

const STATES: [State; 4] = [State::Start, State::Outside, State::Inside, State::Pending];

/// What a stretch of bytes does to the state: the state behind it, for each state before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Effect([State; 4]);

impl Effect {
    /// The state behind the stretch.
    pub fn on(self, before: State) -> State {
        self.0[before as usize]
    }

    /// Two bits a state, so that effects can be kept for every chunk of a long input.
    pub fn to_bits(self) -> u8 {
        self.0.iter().rev().fold(0, |bits, state| bits << 2 | *state as u8)
    }

    /// The effect that gave these bits.
    pub fn from_bits(bits: u8) -> Self {
        Effect([0, 1, 2, 3].map(|state| STATES[usize::from(bits >> (2 * state) & 3)]))
    }
}

/// A walk over bytes from quote to quote: yields the offsets of `end` outside quotes, and knows the state behind.
struct Walk<'a> {
    quotes: Quotes,
    bytes: &'a [u8],
    at: usize,
    state: State,
    end: Option<u8>,
}

impl<'a> Walk<'a> {
    fn new(quotes: Quotes, bytes: &'a [u8], at: usize, state: State, end: Option<u8>) -> Self {
        let mut walk = Walk { quotes, bytes, at, state, end };
        let next = bytes.get(at);
        match (quotes, state, next) {
            (_, _, None) | (_, State::Outside | State::Inside, _) => {}
            (Quotes::Escaped, State::Pending, _) => (walk.state, walk.at) = (State::Inside, at + 1),
            (_, _, Some(b'"')) => (walk.state, walk.at) = (State::Inside, at + 1),
            _ => walk.state = State::Outside,
        }
        walk
    }

    /// The state behind all bytes, once the walk is at its end.
    fn behind(mut self) -> State {
        while self.next().is_some() {}
        let starts =
            |byte: &u8| matches!(self.quotes, Quotes::Doubled(delimiter) if [delimiter, b'\n', b'\r'].contains(byte));
        match (self.state, self.bytes.last()) {
            (State::Outside, Some(last)) if starts(last) => State::Start,
            (state, _) => state,
        }
    }

    /// Whether the quote at `at`, outside quotes, opens.
    fn opens(&self, at: usize) -> bool {
        match self.quotes {
            Quotes::Escaped => true,
            Quotes::Doubled(delimiter) => at > 0 && [delimiter, b'\n', b'\r'].contains(&self.bytes[at - 1]),
        }
    }

    fn search(&self, byte: u8, or: Option<u8>) -> Option<usize> {
        let rest = &self.bytes[self.at.min(self.bytes.len())..];
        let found = or.map_or_else(|| memchr::memchr(byte, rest), |or| memchr::memchr2(byte, or, rest));
        found.map(|at| self.at + at)
    }
}

impl Iterator for Walk<'_> {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        loop {
            match (self.state, self.quotes) {
                (State::Start | State::Outside, _) => {
                    let at = self.search(b'"', self.end)?;
                    self.at = at + 1;
                    if self.bytes[at] != b'"' {
                        return Some(at);
                    }
                    self.state = if self.opens(at) { State::Inside } else { State::Outside };
                }
                (State::Inside, Quotes::Doubled(_)) => {
                    let at = self.search(b'"', None)?;
                    (self.state, self.at) = match self.bytes.get(at + 1) {
                        None => (State::Pending, at + 1),
                        Some(b'"') => (State::Inside, at + 2),
                        Some(_) => (State::Outside, at + 1),
                    };
                }
                (State::Inside, Quotes::Escaped) => {
                    let at = self.search(b'"', Some(b'\\'))?;
                    (self.state, self.at) = match (self.bytes[at], self.bytes.get(at + 1)) {
                        (b'"', _) => (State::Outside, at + 1),
                        (_, None) => (State::Pending, at + 1),
                        (_, Some(_)) => (State::Inside, at + 2),
                    };
                }
                (State::Pending, _) => return None,
            }
        }
    }
}

impl Cut {
    /// Whether a place's state depends on what stands before it.
    pub fn needs_states(&self) -> bool {
        matches!(self, Cut::Quoted(..))
    }

    /// What a stretch that ends with `tail` does to the state, where the tail alone settles it.
    ///
    /// A quote behind a byte that starts no field, and is no quote, opens nothing; and where no second quote follows,
    /// it ends what is open. So the place behind it is outside, whatever stands before.
    pub fn settled_effect(&self, tail: &[u8]) -> Option<Effect> {
        let Cut::Quoted(_, quotes @ Quotes::Doubled(delimiter)) = self else { return None };
        let settles = |at: &usize| {
            let starts = |byte: u8| [*delimiter, b'\n', b'\r', b'"'].contains(&byte);
            *at > 0 && !starts(tail[at - 1]) && tail.get(at + 1).is_some_and(|next| *next != b'"')
        };
        let at = memchr::memrchr_iter(b'"', tail).find(settles)?;
        Some(Effect([Walk::new(*quotes, tail, at + 1, State::Outside, None).behind(); 4]))
    }

    /// What `bytes` do to the state.
    pub fn effect(&self, bytes: &[u8]) -> Effect {
        match self {
            // Without a quote only the last byte counts.
            Cut::Quoted(_, Quotes::Doubled(_)) if bytes.len() > 1 && memchr::memchr(b'"', bytes).is_none() => {
                self.effect(&bytes[bytes.len() - 1..])
            }
            Cut::Quoted(_, quotes) => Effect(STATES.map(|state| Walk::new(*quotes, bytes, 0, state, None).behind())),
            _ => Effect(STATES),
        }
    }

    /// Offset behind the first row end at or after `from` in `bytes`, where `state` holds at `from`. `None`: there is
    /// none, as far as these bytes tell. `whole` says that nothing follows them.
    pub fn first_end(&self, bytes: &[u8], from: usize, state: State, whole: bool) -> Option<usize> {
        match self {
            Cut::Lines(end) => memchr::memchr(*end, &bytes[from..]).map(|at| from + at + 1),
            Cut::Quoted(end, quotes) => Walk::new(*quotes, bytes, from, state, Some(*end)).next().map(|at| at + 1),
            Cut::Rows(is_row) => {
                let mut ends = memchr::memchr_iter(b'\n', &bytes[from..]).map(|at| from + at + 1);
                ends.find(|start| line_at(bytes, *start, whole).is_some_and(|line| is_row(line)))
            }
            Cut::Counted(row) => row(&bytes[from..]).map(|end| from + end),
        }
    }

    /// Offset behind the last row end in `bytes`, which start where a row starts. `searched` bytes at their start
    /// were searched before, in vain.
    pub fn last_end(&self, bytes: &[u8], searched: usize) -> Option<usize> {
        match self {
            Cut::Lines(end) => memchr::memrchr(*end, &bytes[searched..]).map(|at| searched + at + 1),
            Cut::Quoted(end, quotes) => Walk::new(*quotes, bytes, 0, State::Start, Some(*end)).last().map(|at| at + 1),
            Cut::Rows(is_row) => {
                let mut ends = memchr::memrchr_iter(b'\n', bytes).map(|at| at + 1);
                ends.find(|start| line_at(bytes, *start, false).is_some_and(|line| is_row(line)))
            }
            Cut::Counted(row) => {
                let ends = std::iter::successors(Some(0), |end| row(&bytes[*end..]).map(|len| end + len));
                ends.last().filter(|end| *end > 0)
            }
        }
    }
}

/// The line that starts at `start`, if its end is there too.
fn line_at(bytes: &[u8], start: usize, whole: bool) -> Option<&[u8]> {
    let rest = &bytes[start..];
    match memchr::memchr(b'\n', rest) {
        Some(end) => Some(&rest[..end]),
        None => (whole && !rest.is_empty()).then_some(rest),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The row ends by a state machine of one byte a step, as the definition of each form has it.
    fn naive(quotes: Quotes, end: u8, bytes: &[u8]) -> Vec<usize> {
        let (mut ends, mut inside, mut skip) = (Vec::new(), false, false);
        for (at, byte) in bytes.iter().enumerate() {
            let before = at.checked_sub(1).map(|before| bytes[before]);
            let starts = |delimiter| before.is_none_or(|before| [delimiter, b'\n', b'\r'].contains(&before));
            match (inside, quotes) {
                _ if std::mem::take(&mut skip) => {}
                (true, Quotes::Escaped) if *byte == b'\\' => skip = true,
                (true, Quotes::Doubled(_)) if *byte == b'"' && bytes.get(at + 1) == Some(&b'"') => skip = true,
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
                let cut = Cut::Quoted(end, quotes);
                let expected = naive(quotes, end, &bytes);
                prop_assert_eq!(cut.last_end(&bytes, 0), expected.last().map(|at| at + 1));
                let (mut state, mut found) = (State::Start, Vec::new());
                for (i, part) in bytes.chunks(piece).enumerate() {
                    // The whole is walked from the piece on: what a quote at its start means, stands before it.
                    let from = i * piece;
                    let mut walk = Walk::new(quotes, &bytes, from, state, Some(end));
                    found.extend(walk.by_ref().take_while(|at| *at < from + part.len()));
                    state = cut.effect(part).on(state);
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
            let cut = Cut::Quoted(b'\n', Quotes::Doubled(b','));
            let settled = cut.settled_effect(&bytes[tail.min(bytes.len())..]);
            prop_assert!(settled.is_none_or(|effect| effect == cut.effect(&bytes)));
        }
    }

    #[test]
    fn an_effect_comes_back_from_its_bits() {
        for bits in 0..=u8::MAX {
            assert_eq!(Effect::from_bits(bits).to_bits(), bits);
        }
    }

    #[test]
    fn a_line_is_cut_off_only_where_a_row_of_its_own_follows() {
        let cut = Cut::Rows(Arc::new(|line| line.starts_with(b"0,")));
        let bytes = b"0,a\n0,b\nrest of b\n0,c\n0,d";
        assert_eq!(cut.first_end(bytes, 0, State::Start, true), Some(4));
        assert_eq!(cut.first_end(bytes, 4, State::Start, true), Some(18));
        assert_eq!(cut.first_end(bytes, 18, State::Start, true), Some(22));
        assert_eq!(cut.first_end(bytes, 18, State::Start, false), None, "the next line may go on");
        assert_eq!(cut.last_end(bytes, 0), Some(18));
    }
}
