//! LZF, the string compression in RDB files: runs of literals, and back references.

/// Maximum bytes per packed byte: three decode to 264.
pub(super) const MOST: u64 = 88;

/// Decodes the start of `packed`, at most `most` bytes; `None` if it is not LZF. Input that ends within a run yields
/// the bytes before its end.
pub(super) fn decoded(packed: &[u8], most: usize) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(most.min(8 * packed.len()));
    let mut rest = packed;
    while out.len() < most {
        let Some((&control, behind)) = rest.split_first() else {
            break;
        };
        rest = behind;
        if control < 32 {
            let run = (usize::from(control) + 1).min(rest.len());
            out.extend_from_slice(&rest[..run]);
            rest = &rest[run..];
            continue;
        }
        let mut len = usize::from(control >> 5);
        if len == 7 {
            let Some((&more, behind)) = rest.split_first() else {
                break;
            };
            (len, rest) = (len + usize::from(more), behind);
        }
        let Some((&low, behind)) = rest.split_first() else {
            break;
        };
        rest = behind;
        let back = (usize::from(control & 31) << 8 | usize::from(low)) + 1;
        let from = out.len().checked_sub(back)?;
        // A copy may overlap its target, hence byte by byte.
        for at in from..(from + len + 2).min(from + most - out.len()) {
            out.push(out[at]);
        }
    }
    out.truncate(most);
    Some(out)
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
            assert_eq!(decoded(&packed, most).unwrap(), b"ababababababc"[..most]);
        }
        // A copy of three, the minimum, from far back.
        let far = [&[31][..], &[b'x'; 32], &[0x20, 31]].concat();
        assert_eq!(decoded(&far, 35).unwrap(), [b'x'; 35]);
    }

    #[test]
    fn what_lies_before_the_start_is_refused_and_what_is_cut_off_is_short() {
        assert_eq!(decoded(&[0, b'a', 0x20, 1], 9), None);
        for packed in [&[][..], &[5], &[5, b'a'], &[0x20], &[0xE0], &[0xE0, 3]] {
            assert!(decoded(packed, 9).unwrap().len() < 2);
        }
    }
}
