//! Long keys are shortened to at most 2 KiB with the same CRC, without multiplications.
//!
//! Squaring keeps a polynomial's number of terms, so P^(2^k) is as sparse as P; with w bits a word, 16 words are
//! as many bits as P^w is high:
//! ```text
//! P^w = x^16w + x^12w + x^5w + 1, so a word 16 or more before the end may be removed
//! and XORed to those 4, 11 and 16 after it: three XORs a word of any width, no multiplication.
//!
//! word   t-16 ....... t-11 ............. t-4 ............. t
//!          +------------+-----------------+--------------->^    v[t] ^= v[t-4] ^ v[t-11] ^ v[t-16]
//! ```

/// A machine word or a vector: the unit of the recurrence.
pub(crate) trait Word: Copy {
    /// All zeros.
    ///
    /// # Safety
    /// The CPU must have the instructions.
    unsafe fn zero() -> Self;
    /// Reads the bytes at `from`.
    ///
    /// # Safety
    /// They must be readable, `from` aligned to their number, and the CPU must have the instructions.
    unsafe fn load(from: *const u8) -> Self;
    /// Sum without carries.
    fn xor(self, other: Self) -> Self;
    /// Writes the bytes.
    ///
    /// # Safety
    /// As for `load`.
    unsafe fn store(self, to: *mut u8);
}

/// Number of words that the recurrence looks back.
const BACK: usize = 16;

/// Room for the rest of a key, aligned for the widest word.
#[repr(align(64))]
pub(crate) struct Rest {
    bytes: [u8; 64 + 2048],
    end: usize,
}

impl Rest {
    /// The remaining bytes; 64 readable bytes lie before them.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes[64..self.end]
    }
}

/// Shortens `key` to at most twice `BACK` words with the same CRC.
///
/// # Safety
/// `key` must have at least `BACK` words and be preceded by a word of readable bytes, the CPU must have the
/// instructions.
#[inline(always)]
pub(crate) unsafe fn shorten<W: Word>(key: &[u8]) -> Rest {
    let width = size_of::<W>();
    let mut rest = Rest {
        bytes: [0; 64 + 2048],
        end: 0,
    };
    let buffer = rest.bytes.as_mut_ptr();
    // Words are aligned. The first may begin before the key: as v[-16] its foreign bytes cancel themselves.
    let foreign = key.as_ptr().addr() % width;
    let from = key.as_ptr().wrapping_sub(foreign);
    let len = foreign + key.len();
    // SAFETY: the CPU has the instructions, says the caller.
    let mut v = [unsafe { W::zero() }; BACK];
    // SAFETY: the word at `from` starts less than a word before the key, and the buffer is aligned and a word.
    unsafe {
        from.copy_to_nonoverlapping(buffer, foreign);
        v[0] = W::load(buffer);
    }
    let rounds = len / (BACK * width) - 1;
    for round in 0..rounds {
        for i in 0..BACK {
            // SAFETY: `len` covers one round more than is read; the caller guarantees the CPU.
            let word = unsafe { W::load(from.add((round * BACK + i) * width)) };
            v[i] = word
                .xor(v[i])
                .xor(v[(i + BACK - 11) % BACK].xor(v[(i + BACK - 4) % BACK]));
        }
    }
    let done = rounds * BACK * width;
    rest.end = 64 + len - done;
    // SAFETY: less than two rounds are left, and the buffer holds that many after its first 64 bytes.
    unsafe {
        let to = buffer.add(64);
        from.add(done).copy_to_nonoverlapping(to, len - done);
        for i in 0..BACK {
            // The last words take the terms of earlier rounds, but none of each other.
            let mut word = W::load(to.add(i * width)).xor(v[i]);
            if i < 11 {
                word = word.xor(v[i + BACK - 11]);
            }
            if i < 4 {
                word = word.xor(v[i + BACK - 4]);
            }
            word.store(to.add(i * width));
        }
    }
    rest
}

/// Sixteen bytes without intrinsics: compilers put the pair into one vector where the CPU has any.
// SAFETY of its unsafe methods: as the trait requires; any CPU will do.
impl Word for [u64; 2] {
    #[inline(always)]
    unsafe fn zero() -> Self {
        [0; 2]
    }

    #[inline(always)]
    unsafe fn load(from: *const u8) -> Self {
        // SAFETY: as the trait demands.
        unsafe { from.cast::<Self>().read() }
    }

    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        [self[0] ^ other[0], self[1] ^ other[1]]
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut u8) {
        // SAFETY: as the trait demands.
        unsafe { to.cast::<Self>().write(self) }
    }
}
