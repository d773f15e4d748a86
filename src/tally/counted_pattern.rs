//! The names under which patterns are counted.

/// A pattern as it is counted: keys with and without a hash tag apart, for a policy may find tags in some keys of a
/// pattern alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counted<'a> {
    /// The pattern.
    pub name: &'a [u8],
    /// Whether its keys have a hash tag.
    pub is_tagged: bool,
}

impl<'a> Counted<'a> {
    /// The pattern that `written` is.
    pub fn of(written: &'a [u8]) -> Self {
        let (is_tagged, name) = written.split_last().unwrap_or((&0, b""));
        Counted {
            name,
            is_tagged: *is_tagged == 1,
        }
    }

    /// The name under which it is counted.
    pub fn written(name: &[u8], is_tagged: bool) -> Vec<u8> {
        [name, &[u8::from(is_tagged)]].concat()
    }
}
