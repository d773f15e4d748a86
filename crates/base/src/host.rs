//! Where a server listens, as others say it: text that goes into connections and into commands to paste.

/// More characters than any host has.
const MOST: usize = 255;

/// The host that a text names, without the brackets of IPv6; `None` if nothing can be reached under it: it is empty, `?`,
/// would be taken for an option, or has a character that no host has.
pub fn host(text: &str) -> Option<&str> {
    let bare = text
        .strip_prefix('[')
        .and_then(|text| text.strip_suffix(']'));
    let host = bare.unwrap_or(text);
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._:%-".contains(&byte);
    let is_host = (1..=MOST).contains(&host.len()) && host.bytes().all(is_plain);
    (is_host && !host.starts_with('-')).then_some(host)
}

/// Host and port of `HOST:PORT` or `[IPv6]:PORT`; IPv6 addresses may be without brackets, as in CLUSTER NODES.
pub fn host_and_port(address: &str) -> Option<(&str, u16)> {
    let (text, port) = address.rsplit_once(':')?;
    let port = port.parse().ok().filter(|port| *port > 0)?;
    Some((host(text)?, port))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_can_be_connected_to_is_an_address() {
        assert_eq!(host_and_port("10.0.0.1:6379"), Some(("10.0.0.1", 6379)));
        assert_eq!(host_and_port("::1:7000"), Some(("::1", 7000)));
        assert_eq!(host_and_port("[fe80::1%eth0]:1"), Some(("fe80::1%eth0", 1)));
        assert_eq!(host_and_port("a_b.c-d:1"), Some(("a_b.c-d", 1)));
        let long = format!("{}:1", "a".repeat(256));
        for none in [
            "",
            ":1",
            "h:",
            "h:0",
            "h:99999",
            "h:1x",
            "h",
            "?:1",
            "-h:1",
            "a b:1",
            "a\nFLUSHALL:1",
            "\u{202e}:1",
            "é:1",
            "x;touch${IFS}PWN;#:1",
            "[]:1",
            "$(reboot):1",
            "`x`:1",
            "a/b:1",
            &long,
        ] {
            assert_eq!(host_and_port(none), None, "{none:?}");
        }
    }
}
