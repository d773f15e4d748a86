//! Where an input may be split into blocks without splitting a row. Formats define rows.
//!
//! Whether a byte ends a row may depend on all bytes before it, as with double quotes. This is never guessed: a
//! boundary is a state machine with at most four states, each chunk has an `Effect` on the state, and composing the
//! effects of all chunks in order yields the state at the start of each.

/// The parser state at a position; the default is the state at the start of an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct State(pub u8);

/// The state after a stretch of bytes, for each of the four states before it, two bits each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Effect(u8);

impl Effect {
    /// The identity.
    pub const NONE: Effect = Effect(0b11_10_01_00);

    /// The effect that maps each state as `behind` does.
    pub(crate) fn of(behind: impl Fn(State) -> State) -> Self {
        Effect((0..4).fold(0, |bits, state| {
            bits | behind(State(state)).0 << (2 * state)
        }))
    }

    /// The state after the stretch.
    pub fn on(self, before: State) -> State {
        State(self.0 >> (2 * before.0) & 3)
    }

    /// This effect followed by another.
    pub fn then(self, next: Effect) -> Effect {
        Effect::of(|state| next.on(self.on(state)))
    }

    /// The state after the stretch, if it does not depend on the state before.
    pub fn settled(self) -> Option<State> {
        let behind = self.on(State(0));
        (1..4)
            .all(|state| self.on(State(state)) == behind)
            .then_some(behind)
    }

    /// As one byte, so that effects can be stored for every chunk of a long input.
    pub fn to_bits(self) -> u8 {
        self.0
    }

    /// The effect stored as these bits.
    pub fn from_bits(bits: u8) -> Self {
        Effect(bits)
    }
}

/// How rows of an input end; called a few times per block.
pub trait Boundary: Send + Sync {
    /// Whether rows can only be found from the front, so that the input is read as a stream.
    fn is_sequential(&self) -> bool {
        false
    }

    fn has_states(&self) -> bool {
        false
    }

    /// The effect of a stretch ending with `tail`, if the tail alone determines it.
    fn effect_of_tail(&self, _tail: &[u8]) -> Option<Effect> {
        None
    }

    fn effect(&self, _bytes: &[u8]) -> Effect {
        Effect::NONE
    }

    /// The offset after the first row end at or after `from` in `bytes`, given the `state` at `from`; `None` if no
    /// row ends.
    fn first_end(&self, bytes: &[u8], from: usize, state: State) -> Option<usize>;

    /// The offset after the last row end in `bytes`, which start at a row. Its first `searched` bytes are known to have
    /// none.
    fn last_end(&self, bytes: &[u8], searched: usize) -> Option<usize>;
}

/// Every occurrence of this byte ends a row.
#[derive(Debug, Clone, Copy)]
pub(crate) struct EveryByte(pub u8);

impl Boundary for EveryByte {
    fn first_end(&self, bytes: &[u8], from: usize, _: State) -> Option<usize> {
        memchr::memchr(self.0, &bytes[from..]).map(|at| from + at + 1)
    }

    fn last_end(&self, bytes: &[u8], searched: usize) -> Option<usize> {
        memchr::memrchr(self.0, &bytes[searched..]).map(|at| searched + at + 1)
    }
}

/// The line at `start` without its LF, and the start of the next one.
pub fn line_at(bytes: &[u8], start: usize) -> (&[u8], usize) {
    let rest = &bytes[start..];
    let len = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
    (&rest[..len], bytes.len().min(start + len + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_effect_comes_back_from_its_bits_and_leads_where_it_was_meant() {
        for bits in 0..=u8::MAX {
            let effect = Effect::from_bits(bits);
            assert_eq!(Effect::of(|state| effect.on(state)).to_bits(), bits);
        }
        assert_eq!(Effect::of(|state| state), Effect::NONE);
    }

    #[test]
    fn a_line_is_followed_by_the_start_of_the_next() {
        assert_eq!(line_at(b"a\nbc", 0), (&b"a"[..], 2));
        assert_eq!(line_at(b"a\nbc", 2), (&b"bc"[..], 4));
    }
}
