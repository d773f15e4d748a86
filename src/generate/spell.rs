//! The page that `generate` fills: words and numbers are spelled eight bytes at a time.

/// A page has room for this many more bytes, or it is full; no family writes a longer key.
const LONGEST_KEY: usize = 128;

/// A page of lines.
pub(super) struct Text {
    page: Vec<u8>,
    len: usize,
}

const ZEROS: u64 = u64::from_ne_bytes([b'0'; 8]);
const EIGHT_DIGITS: u64 = 100_000_000;

impl Text {
    /// An empty page of `capacity` bytes, at least the longest key.
    pub(super) fn with_capacity(capacity: usize) -> Self {
        Text {
            page: vec![0; capacity.max(LONGEST_KEY)],
            len: 0,
        }
    }

    /// True where the next key might not fit.
    #[inline]
    pub(super) fn is_full(&self) -> bool {
        self.page.len() - self.len < LONGEST_KEY
    }

    /// The written bytes.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.page[..self.len]
    }

    /// An empty page again.
    pub(super) fn clear(&mut self) {
        self.len = 0;
    }

    /// A word whose length the compiler knows: a few moves, no call.
    #[inline]
    pub(super) fn word<const N: usize>(&mut self, word: &[u8; N]) {
        self.page[self.len..self.len + N].copy_from_slice(word);
        self.len += N;
    }

    /// One of a list of words.
    #[inline]
    pub(super) fn one_of(&mut self, words: &[&[u8]], which: usize) {
        let word = words[which];
        self.page[self.len..self.len + word.len()].copy_from_slice(word);
        self.len += word.len();
    }

    /// The end of a key.
    #[inline]
    pub(super) fn end_line(&mut self) {
        self.word(b"\n");
    }

    /// `n` in decimal, without leading zeros.
    #[inline]
    pub(super) fn decimal(&mut self, n: u64) {
        if n >= EIGHT_DIGITS {
            self.decimal_above(n);
            return;
        }
        let digits = eight_digits(n);
        let leading = (digits.trailing_zeros() / 8).min(7); // the last zero of 0 stays
        self.word(&((digits | ZEROS) >> (8 * leading)).to_le_bytes());
        self.len -= leading as usize;
    }

    /// `n` in decimal where it has more than eight digits.
    #[inline(never)]
    fn decimal_above(&mut self, n: u64) {
        self.decimal(n / EIGHT_DIGITS);
        self.word(&(eight_digits(n % EIGHT_DIGITS) | ZEROS).to_le_bytes());
    }

    /// `n` in 16 hexadecimal digits, lower case.
    #[inline]
    pub(super) fn hex(&mut self, n: u64) {
        self.word(&eight_hex((n >> 32) as u32));
        self.word(&eight_hex(n as u32));
    }

    /// `high` and `low` in the form 8-4-4-4-12, as a random UUID (version 4): six bits of them are replaced.
    #[inline]
    pub(super) fn uuid(&mut self, high: u64, low: u64) {
        self.word(&eight_hex((high >> 32) as u32));
        self.dash_and_four_hex((high >> 16) as u16);
        self.dash_and_four_hex(high as u16 & 0x0FFF | 0x4000);
        self.dash_and_four_hex((low >> 48) as u16 & 0x3FFF | 0x8000);
        self.dash_and_four_hex((low >> 32) as u16);
        self.word(&eight_hex(low as u32));
    }

    #[inline]
    fn dash_and_four_hex(&mut self, n: u16) {
        let [.., a, b, c, d] = eight_hex(u32::from(n));
        self.word(&[b'-', a, b, c, d]);
    }
}

/// The eight decimal digits of `n` < 10^8 as the bytes 0..=9 of a little-endian word, the first digit in the
/// lowest byte: 12345678 -> 1234|5678 -> 12|34|56|78 -> 1|2|3|4|5|6|7|8, all halves of a step at once.
///
/// Division by a multiplication: 10486 / 2^20 is exact for n / 100 below 10^4, 103 / 2^10 for n / 10 below 100.
#[inline]
fn eight_digits(n: u64) -> u64 {
    let fours = (n / 10_000) | ((n % 10_000) << 32);
    let hundreds = ((fours * 10_486) >> 20) & 0x7F_0000_007F;
    let twos = hundreds | ((fours - 100 * hundreds) << 16);
    let tens = ((twos * 103) >> 10) & 0x000F_000F_000F_000F;
    tens | ((twos - 10 * tens) << 8)
}

/// The eight hexadecimal digits of `n`: a nibble a byte, then 39 more where it is a letter ('a' - '0' - 10).
#[inline]
fn eight_hex(n: u32) -> [u8; 8] {
    let bytes = u64::from(n.swap_bytes());
    let fours = (bytes | (bytes << 16)) & 0x0000_FFFF_0000_FFFF;
    let twos = (fours | (fours << 8)) & 0x00FF_00FF_00FF_00FF;
    let nibbles = ((twos >> 4) | (twos << 8)) & 0x0F0F_0F0F_0F0F_0F0F;
    let letters = ((nibbles + 0x0606_0606_0606_0606) >> 4) & 0x0101_0101_0101_0101;
    (nibbles + ZEROS + letters * 39).to_le_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spelled(write: impl FnOnce(&mut Text)) -> String {
        let mut text = Text::with_capacity(0);
        write(&mut text);
        String::from_utf8(text.bytes().to_vec()).unwrap()
    }

    #[test]
    fn decimals_are_those_of_the_standard_library() {
        let ends = (0..20).flat_map(|power| {
            let n = 10u64.pow(power);
            [n - 1, n, n + 1]
        });
        let far = [12_345_678, 1_234_567_890_123_456_789, u64::MAX];
        for n in (0..200_000)
            .chain((0..EIGHT_DIGITS).step_by(9_973))
            .chain(ends)
            .chain(far)
        {
            assert_eq!(spelled(|text| text.decimal(n)), n.to_string());
        }
    }

    #[test]
    fn hexadecimals_are_those_of_the_standard_library() {
        for n in [0, 1, 0x0123_4567_89AB_CDEF, 0xFEDC_BA98_7654_3210, u64::MAX] {
            assert_eq!(spelled(|text| text.hex(n)), format!("{n:016x}"));
        }
    }

    #[test]
    fn a_uuid_is_a_random_one_of_version_4() {
        let uuid = spelled(|text| text.uuid(0x0011_2233_4455_6677, 0xFFEE_DDCC_BBAA_9988));
        assert_eq!(uuid, "00112233-4455-4677-bfee-ddccbbaa9988");
    }

    #[test]
    fn a_page_is_full_before_a_key_does_not_fit() {
        let mut text = Text::with_capacity(200);
        assert!(!text.is_full());
        text.word(&[b'x'; 73]);
        assert!(text.is_full());
        text.clear();
        assert!(!text.is_full() && text.bytes().is_empty());
    }
}
