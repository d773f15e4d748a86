//! Where an input may be split into blocks, so that no row is in two of them. What a row is, the formats know.
//!
//! Whether a byte ends a row may depend on all bytes before it, as it does inside double quotes. That is never guessed:
//! a boundary is a machine of at most four states, each chunk has an `Effect` on the state, and the effects of all
//! chunks in order give the state that each of them starts in.

/// The meaning of the bytes before a place for the row ends after it; the default is the state at the start of an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct State(pub u8);

/// The state after a stretch of bytes for each of the four states before it, two bits each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Effect(u8);

impl Effect {
    /// Every state stays as it is.
    pub(crate) const NONE: Effect = Effect(0b11_10_01_00);

    /// The effect that leads from each state to the one that `behind` returns for it.
    pub(crate) fn of(behind: impl Fn(State) -> State) -> Self {
        Effect((0..4).fold(0, |bits, state| {
            bits | behind(State(state)).0 << (2 * state)
        }))
    }

    /// The state after the stretch.
    pub(crate) fn on(self, before: State) -> State {
        State(self.0 >> (2 * before.0) & 3)
    }

    /// The effect of this and what follows it.
    pub(crate) fn then(self, next: Effect) -> Effect {
        Effect::of(|state| next.on(self.on(state)))
    }

    /// The state after the stretch, where it is the same whatever was before.
    pub(crate) fn settled(self) -> Option<State> {
        let behind = self.on(State(0));
        (1..4)
            .all(|state| self.on(State(state)) == behind)
            .then_some(behind)
    }

    /// One byte, so that effects can be kept for every chunk of a long input.
    pub(crate) fn to_bits(self) -> u8 {
        self.0
    }

    /// The effect that has these bits.
    pub(crate) fn from_bits(bits: u8) -> Self {
        Effect(bits)
    }
}

/// How the rows of an input end; asked a few times a block.
pub(crate) trait Boundary: Send + Sync {
    /// Whether rows are only found from the front: the input is read as a stream.
    fn is_sequential(&self) -> bool {
        false
    }

    /// Whether the line after a line end decides if that ends a row.
    fn needs_next_line(&self) -> bool {
        false
    }

    /// Whether row ends depend on the state.
    fn has_states(&self) -> bool {
        false
    }

    /// Whether the bytes a little before a place nearly always decide the state there.
    fn is_local(&self) -> bool {
        true
    }

    /// The effect of a stretch that ends with `tail`, where the tail alone determines it.
    fn effect_of_tail(&self, _tail: &[u8]) -> Option<Effect> {
        None
    }

    /// The effect of `bytes`.
    fn effect(&self, _bytes: &[u8]) -> Effect {
        Effect::NONE
    }

    /// Offset after the first row end at or after `from` in `bytes`, where `state` holds at `from`. `None`: these bytes
    /// show none. `whole` says that nothing follows them.
    fn first_end(&self, bytes: &[u8], from: usize, state: State, whole: bool) -> Option<usize>;

    /// Offset after the last row end in `bytes`, which start where a row starts. `searched` bytes at their start
    /// were already searched without a match.
    fn last_end(&self, bytes: &[u8], searched: usize) -> Option<usize>;
}

/// Every one of this byte ends a row.
#[derive(Debug, Clone, Copy)]
pub(crate) struct EveryByte(pub u8);

impl Boundary for EveryByte {
    fn first_end(&self, bytes: &[u8], from: usize, _: State, _: bool) -> Option<usize> {
        memchr::memchr(self.0, &bytes[from..]).map(|at| from + at + 1)
    }

    fn last_end(&self, bytes: &[u8], searched: usize) -> Option<usize> {
        memchr::memrchr(self.0, &bytes[searched..]).map(|at| searched + at + 1)
    }
}

/// The line that starts at `start`, without its LF, and where the next one starts.
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
