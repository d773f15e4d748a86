//! Numbers as people read them. Files carry the plain ones.

use crate::name::Name;
pub use crate::summary::sentence::{bytes, grouped};

/// A share of one as a percentage with one digit, `<0.1 %` rather than a zero that is none.
pub fn percent(share: f64) -> String {
    match share * 100.0 {
        percent if percent > 0.0 && percent < 0.05 => String::from("<0.1 %"),
        percent => format!("{percent:.1} %"),
    }
}

/// `1 key`, `2 keys`.
pub fn counted(count: u64, one: &str) -> String {
    format!("{} {one}{}", grouped(count), if count == 1 { "" } else { "s" })
}

/// As much of a 40-digit id as tells nodes apart.
pub fn short_id(id: &Name) -> String {
    let text = id.to_string();
    match text.len() == 40 && text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        true => text[..8].to_string(),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_have_three_digits_or_so() {
        let shown = [0, 1023, 1024, 1_610_612_736, u64::MAX].map(bytes);
        assert_eq!(shown, ["0 B", "1023 B", "1.00 KiB", "1.50 GiB", "16.00 EiB"]);
        assert_eq!(bytes((1 << 20) - 1), "1.00 MiB");
    }

    #[test]
    fn a_small_share_is_not_shown_as_none() {
        assert_eq!([0.0, 0.0001, 0.1234, 1.0].map(percent), ["0.0 %", "<0.1 %", "12.3 %", "100.0 %"]);
    }
}
