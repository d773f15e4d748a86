//! Byte sets as lookup tables: one load per byte instead of several comparisons.

/// A set of bytes.
pub(crate) struct ByteSet([bool; 256]);

impl ByteSet {
    /// The set of these bytes.
    pub(crate) const fn of(bytes: &[u8]) -> ByteSet {
        let mut set = [false; 256];
        let mut at = 0;
        while at < bytes.len() {
            set[bytes[at] as usize] = true;
            at += 1;
        }
        ByteSet(set)
    }

    /// Adds the digits.
    pub(crate) const fn and_digits(mut self) -> ByteSet {
        let mut byte = b'0';
        while byte <= b'9' {
            self.0[byte as usize] = true;
            byte += 1;
        }
        self
    }

    /// Adds the ASCII letters in both cases.
    pub(crate) const fn and_letters(mut self) -> ByteSet {
        let mut byte = b'a';
        while byte <= b'z' {
            self.0[byte as usize] = true;
            self.0[byte.to_ascii_uppercase() as usize] = true;
            byte += 1;
        }
        self
    }

    #[inline(always)]
    pub(crate) fn has(&self, byte: u8) -> bool {
        self.0[usize::from(byte)]
    }

    #[inline(always)]
    pub(crate) fn has_all(&self, bytes: &[u8]) -> bool {
        bytes.iter().all(|byte| self.has(*byte))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_has_its_bytes_and_no_others() {
        const SET: ByteSet = ByteSet::of(b"-\xFF").and_digits().and_letters();
        for byte in 0..=u8::MAX {
            let is_one = byte.is_ascii_alphanumeric() || matches!(byte, b'-' | 0xFF);
            assert_eq!(SET.has(byte), is_one, "{byte}");
        }
        assert!(SET.has_all(b"a-Z9") && SET.has_all(b"") && !SET.has_all(b"a b"));
    }
}
