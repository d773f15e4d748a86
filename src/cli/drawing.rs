//! ASCII replacements for the characters of tables, bars and maps, for terminals with an ASCII locale. All other code
//! draws for full terminals; only this module replaces.

use std::env;

/// Characters with their ASCII replacements of the same width, which keeps columns aligned.
const INSTEAD: [(&str, char); 16] = [
    ("·▁▂", '.'),
    ("░", ':'),
    ("▒", '+'),
    ("▓", '%'),
    ("▃▄", '_'),
    ("▅▆", '='),
    ("█▉▊▋▌▇", '#'),
    ("▍▎▏", '|'),
    ("▀", '"'),
    ("…", '~'),
    ("→", '>'),
    ("×", 'x'),
    ("µ", 'u'),
    ("▾", 'v'),
    ("–—", '-'),
    ("’", '\''),
];

/// Whether the user's locale is ASCII only. Without a locale, as in containers, terminals usually support more.
pub(crate) fn is_ascii() -> bool {
    let names = ["LC_ALL", "LC_CTYPE", "LANG"];
    let mut set = names.into_iter().filter_map(env::var_os);
    let locale = set.find(|locale| !locale.is_empty());
    locale.is_some_and(|locale| !has_everything(&locale.to_string_lossy()))
}

/// The filled and the empty part of a progress bar.
pub(crate) fn bar() -> &'static str {
    if is_ascii() { "#:" } else { "█░" }
}

fn has_everything(locale: &str) -> bool {
    let locale = locale.to_ascii_lowercase();
    locale.contains("utf-8") || locale.contains("utf8")
}

/// The text in ASCII, except for names in it.
pub(crate) fn in_ascii(text: &str) -> String {
    let instead = |c: char| {
        let mut rows = INSTEAD.iter();
        rows.find(|(all, _)| all.contains(c)).map_or(c, |row| row.1)
    };
    text.chars().map(instead).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_locale_has_everything_by_its_encoding() {
        for (locale, has) in [
            ("C", false),
            ("POSIX", false),
            ("de_DE@euro", false),
            ("en_US.ISO-8859-1", false),
            ("C.UTF-8", true),
            ("ja_JP.utf8", true),
        ] {
            assert_eq!(has_everything(locale), has, "{locale}");
        }
    }

    #[test]
    fn each_character_of_drawings_has_one_of_ascii_and_names_stay() {
        let drawn = "user:名…  1.20× █▌ ░▒▓ 1 → 2 ▁▄█ 950 µs";
        let expected = "user:名~  1.20x ## :+% 1 > 2 ._# 950 us";
        assert_eq!(in_ascii(drawn), expected);
        assert!(INSTEAD.iter().all(|(_, instead)| instead.is_ascii()));
    }
}
