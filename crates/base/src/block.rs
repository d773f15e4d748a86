//! A recycled buffer per worker, padded on both sides: vector code may read 64 bytes past either end.

pub use hashslot::{PAD, Padded};

/// A buffer for a piece of an input, refilled by its worker.
pub struct Block {
    buffer: Vec<u8>, // PAD zeros, the content, PAD zeros
}

impl Default for Block {
    fn default() -> Self {
        Block::with_capacity(0)
    }
}

impl Block {
    /// A buffer with capacity for `capacity` bytes of content.
    pub fn with_capacity(capacity: usize) -> Self {
        let mut buffer = Vec::with_capacity(capacity + 2 * PAD);
        buffer.resize(2 * PAD, 0);
        Block { buffer }
    }

    /// A block that holds `content`.
    pub fn from_bytes(content: &[u8]) -> Self {
        let mut block = Block::with_capacity(content.len());
        block.resize(content.len());
        block.content_mut().copy_from_slice(content);
        block
    }

    /// Length of the content in bytes.
    pub fn len(&self) -> usize {
        self.buffer.len() - 2 * PAD
    }

    /// Whether there is no content.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Resizes the content to `len` bytes; old bytes stay, new ones are unspecified.
    pub fn resize(&mut self, len: usize) {
        self.buffer.resize(len + 2 * PAD, 0);
    }

    /// Appends bytes to the content.
    #[inline]
    pub fn append(&mut self, bytes: &[u8]) {
        let end = self.buffer.len() - PAD;
        self.buffer.resize(self.buffer.len() + bytes.len(), 0);
        self.buffer[end..end + bytes.len()].copy_from_slice(bytes);
    }

    /// Its allocated bytes.
    #[doc(hidden)]
    pub fn capacity(&self) -> usize {
        self.buffer.capacity()
    }

    /// Frees memory that one giant line needed and the next block will not.
    pub fn shrink(&mut self, capacity: usize) {
        if self.buffer.capacity() > 2 * (capacity + 2 * PAD) {
            self.resize(0);
            self.buffer.shrink_to(capacity + 2 * PAD);
        }
    }

    /// The content.
    pub fn content(&self) -> &[u8] {
        &self.buffer[PAD..self.buffer.len() - PAD]
    }

    /// The content, for writing.
    pub fn content_mut(&mut self) -> &mut [u8] {
        let end = self.buffer.len() - PAD;
        &mut self.buffer[PAD..end]
    }

    /// The content with its padding.
    pub fn padded(&self) -> Padded<'_> {
        Padded::new(&self.buffer)
    }
}

/// The part of a block that a worker is responsible for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Piece {
    /// Where the owned bytes start in the block; they extend to its end.
    pub from: u32,
    /// Offset of the block's first byte in the input.
    pub offset: u64,
    /// Whether the owned bytes are the start of the input.
    pub first: bool,
    /// Whether they are its end; the last line may then lack its separator.
    pub last: bool,
    /// Whether they can be read again at their offset.
    pub is_rereadable: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_padding_is_around_the_content_and_not_in_it() {
        let block = Block::from_bytes(b"abc");
        assert_eq!(block.content(), b"abc");
        assert_eq!(block.padded().bytes(), b"abc");
        assert_eq!(block.padded().len(), 3);
        assert_eq!(block.buffer.len(), 3 + 2 * PAD);
    }

    #[test]
    fn what_is_appended_has_the_padding_behind_it() {
        let mut block = Block::from_bytes(b"a");
        for bytes in [&b"bc"[..], b"", &[b'd'; PAD], &[b'e'; 3 * PAD]] {
            let before = block.content().to_vec();
            block.append(bytes);
            assert_eq!(block.content(), [&before[..], bytes].concat());
            assert_eq!(block.buffer[block.buffer.len() - PAD..], [0; PAD]);
        }
    }

    #[test]
    fn a_giant_line_does_not_keep_its_memory() {
        let mut block = Block::with_capacity(1 << 10);
        block.resize(1 << 20);
        block.shrink(1 << 10);
        assert!(block.buffer.capacity() < 1 << 12);
    }
}
