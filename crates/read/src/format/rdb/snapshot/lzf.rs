//! LZF, the string compression in RDB files: runs of literals, and back references.

/// Maximum bytes per packed byte: three decode to 264.
pub(super) const MOST: u64 = 88;

/// Decodes the start of `packed`, as much as `into` holds, and returns its length; `None` if it is not LZF. Input that
/// ends within a run yields the bytes before its end.
pub(super) fn decode(packed: &[u8], into: &mut [u8]) -> Option<usize> {
    let (mut rest, mut at) = (packed, 0);
    while at < into.len() {
        let Some((&control, behind)) = rest.split_first() else {
            break;
        };
        rest = behind;
        if control < 32 {
            let literals = (usize::from(control) + 1).min(rest.len());
            let run = literals.min(into.len() - at);
            into[at..at + run].copy_from_slice(&rest[..run]);
            (rest, at) = (&rest[run..], at + run);
            continue;
        }
        let mut len = usize::from(control >> 5);
        if len == 7 {
            let Some((&extra, behind)) = rest.split_first() else {
                break;
            };
            (len, rest) = (len + usize::from(extra), behind);
        }
        let Some((&low, behind)) = rest.split_first() else {
            break;
        };
        rest = behind;
        let back = (usize::from(control & 31) << 8 | usize::from(low)) + 1;
        let from = at.checked_sub(back)?;
        let end = into.len().min(at + len + 2);
        // A copy may overlap its target, hence byte by byte.
        for (from, to) in (from..).zip(at..end) {
            into[to] = into[from];
        }
        at = end;
    }
    Some(at)
}

/// The whole text of `len` bytes; `None` if it is not LZF, or of another length.
pub(super) fn decoded(packed: &[u8], len: usize) -> Option<Vec<u8>> {
    let mut text = vec![0; len];
    (decode(packed, &mut text) == Some(len)).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_and_overlapping_copies_are_decoded() {
        // "ab", then a copy of 7 + 1 + 2 bytes from two back, then "c".
        let packed = [1, b'a', b'b', 0xE0, 1, 1, 0, b'c'];
        assert_eq!(decoded(&packed, 13).unwrap(), b"ababababababc");
        for most in 0..13 {
            let mut start = vec![0; most];
            assert_eq!(decode(&packed, &mut start), Some(most));
            assert_eq!(start, b"ababababababc"[..most]);
        }
        // A copy of three, the minimum, from far back.
        let far = [&[31][..], &[b'x'; 32], &[0x20, 31]].concat();
        assert_eq!(decoded(&far, 35).unwrap(), [b'x'; 35]);
    }

    #[test]
    fn what_lies_before_the_start_is_refused_and_what_is_cut_off_is_short() {
        assert_eq!(decode(&[0, b'a', 0x20, 1], &mut [0; 9]), None);
        for packed in [&[][..], &[5], &[5, b'a'], &[0x20], &[0xE0], &[0xE0, 3]] {
            assert!(decode(packed, &mut [0; 9]).unwrap() < 2);
            assert_eq!(decoded(packed, 9), None);
        }
    }
}
