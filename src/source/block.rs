//! Stage 1, BYTES: one recycled buffer a worker. Bytes of an input come in; a `Padded` view goes out,
//! which vector code may read 64 bytes before and after.

/// Bytes that may be read, never counted, on each side of a block: one 512-bit vector.
pub const PAD: usize = 64;

/// A buffer for a piece of an input, kept and refilled by its worker.
pub struct Block {
    buffer: Vec<u8>, // PAD zeros, the content, PAD zeros
}

impl Block {
    /// A buffer with room for `capacity` bytes of content.
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

    /// True where there is no content.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Makes the content `len` bytes long; what was there stays, what is new is unspecified.
    pub fn resize(&mut self, len: usize) {
        self.buffer.resize(len + 2 * PAD, 0);
    }

    /// Gives back memory that one giant line needed and the next block will not.
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

    /// The content, to be filled.
    pub fn content_mut(&mut self) -> &mut [u8] {
        let end = self.buffer.len() - PAD;
        &mut self.buffer[PAD..end]
    }

    /// The content with its padding.
    pub fn padded(&self) -> Padded<'_> {
        Padded { whole: &self.buffer }
    }
}

/// A view of bytes with `PAD` readable bytes before and after.
#[derive(Clone, Copy)]
pub struct Padded<'a> {
    whole: &'a [u8],
}

impl<'a> Padded<'a> {
    /// The bytes themselves, without the padding.
    pub fn bytes(self) -> &'a [u8] {
        &self.whole[PAD..self.whole.len() - PAD]
    }

    /// How many bytes there are, without the padding.
    pub fn len(self) -> usize {
        self.whole.len() - 2 * PAD
    }

    /// True where there are none.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// The byte before `at`; before the first one stands padding.
    #[inline(always)]
    pub fn byte_before(self, at: u32) -> u8 {
        self.whole[PAD - 1 + at as usize]
    }

    /// The sixteen bytes from `at` on, which may reach into the padding.
    ///
    /// # Panics
    /// Where `at` lies behind the bytes.
    #[inline(always)]
    pub fn sixteen_at(self, at: u32) -> u128 {
        let start = PAD + at as usize;
        assert!(start <= self.whole.len() - PAD);
        u128::from_le_bytes(self.whole[start..start + 16].try_into().expect("sixteen bytes"))
    }

    /// The first byte; reads from `PAD` bytes before it to `PAD` bytes after the last are in bounds.
    pub fn as_ptr(self) -> *const u8 {
        self.whole[PAD..].as_ptr()
    }
}

/// What of a block a worker owns.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Piece {
    /// Where the owned bytes start in the block; they reach to the block's end.
    pub from: u32,
    /// Offset of the block's first byte in the input.
    pub offset: u64,
    /// Whether the owned bytes are the start of the input.
    pub first: bool,
    /// Whether they are its end: then the last line may lack its separator.
    pub last: bool,
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
    fn a_giant_line_does_not_keep_its_memory() {
        let mut block = Block::with_capacity(1 << 10);
        block.resize(1 << 20);
        block.shrink(1 << 10);
        assert!(block.buffer.capacity() < 1 << 12);
    }
}
