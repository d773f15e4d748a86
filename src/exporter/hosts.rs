//! Allowed Host headers. A page opened in a browser on this machine can make its own name resolve to a loopback address
//! (DNS rebinding) and read what listens there; its requests carry the page's host.

use std::net::{IpAddr, Ipv6Addr, SocketAddr};

/// The reply to a request with another host.
pub(crate) const REFUSAL: &str = "the host of this request is neither an IP address nor localhost; \
    slotscope exporter --allow-host NAME allows its name";

/// The allowed hosts of requests.
pub(crate) struct Hosts {
    /// In addition to IP addresses, which cannot be rebound, and localhost; absent if any host is allowed.
    names: Option<Vec<String>>,
}

impl Hosts {
    /// A listener outside loopback is meant to be public: scrapes use whatever names the network has, unless some are
    /// given.
    pub(crate) fn new(listen: SocketAddr, names: &[String]) -> Self {
        let is_checked = listen.ip().to_canonical().is_loopback() || !names.is_empty();
        Hosts {
            names: is_checked.then(|| names.to_vec()),
        }
    }

    /// Whether a request may have this `Host` header.
    pub(crate) fn allow(&self, header: &[u8]) -> bool {
        let Some(names) = &self.names else {
            return true;
        };
        let Some(host) = std::str::from_utf8(header).ok().and_then(without_port) else {
            return false;
        };
        let host = plain(host);
        host == "localhost" || host.parse::<IpAddr>().is_ok() || names.contains(&host)
    }
}

/// `HOST`, `HOST:PORT` or `[IPV6]:PORT` without its port.
fn without_port(header: &str) -> Option<&str> {
    let header = header.trim();
    if let Some(rest) = header.strip_prefix('[') {
        let (address, port) = rest.split_once(']')?;
        let is_address = address.parse::<Ipv6Addr>().is_ok();
        return (is_address && is_port(port)).then_some(address);
    }
    let host = header.split(':').next()?;
    is_port(&header[host.len()..]).then_some(host)
}

/// Whether it is empty, or a colon and a port.
fn is_port(text: &str) -> bool {
    text.is_empty()
        || text
            .strip_prefix(':')
            .is_some_and(|port| port.parse::<u16>().is_ok())
}

/// Host names are compared without case and trailing dot.
fn plain(host: &str) -> String {
    host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase()
}

/// A host name, as accepted by `--allow-host`.
///
/// # Errors
/// The text has a scheme, port or path, or characters invalid in host names.
pub(crate) fn name(text: &str) -> Result<String, String> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    if text.bytes().all(is_plain) && !plain(text).is_empty() {
        Ok(plain(text))
    } else {
        Err("expected the name of a host without scheme and port: metrics.example.com".into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hosts(listen: &str, names: &[&str]) -> Hosts {
        let names: Vec<String> = names.iter().map(|of| name(of).unwrap()).collect();
        Hosts::new(listen.parse().unwrap(), &names)
    }

    #[test]
    fn on_loopback_a_request_names_an_address_localhost_or_an_allowed_name() {
        for listen in ["127.0.0.1:9121", "[::1]:9121", "[::ffff:127.0.0.1]:9121"] {
            let hosts = hosts(listen, &["Metrics.Example.com."]);
            for header in [
                "localhost",
                "LocalHost.:9121",
                "127.0.0.1:9121",
                "127.8.8.8",
                "[::1]:9121",
                "[::1]",
                "10.0.0.7:80",
                "metrics.example.COM:9121",
            ] {
                assert!(hosts.allow(header.as_bytes()), "{listen}: {header}");
            }
            for header in [
                "evil.example",
                "localhost.evil.example:9121",
                "127.0.0.1.evil.example",
                "sub.metrics.example.com",
                "localhost:evil",
                "[evil]",
                "[::1]evil",
                "::1",
                "",
            ] {
                assert!(!hosts.allow(header.as_bytes()), "{listen}: {header}");
            }
            assert!(!hosts.allow(b"localhost\xff"));
        }
    }

    #[test]
    fn elsewhere_any_name_will_do_unless_some_are_given() {
        let published = hosts("0.0.0.0:9121", &[]);
        assert!(published.allow(b"slotscope-exporter:9121"));
        let named = hosts("0.0.0.0:9121", &["slotscope-exporter"]);
        assert!(named.allow(b"slotscope-exporter:9121") && named.allow(b"10.0.0.7:9121"));
        assert!(!named.allow(b"evil.example"));
    }

    #[test]
    fn a_name_has_no_scheme_port_or_path() {
        for odd in ["", ".", "http://a", "a:9121", "a/b", "a b", "*"] {
            assert!(name(odd).is_err(), "{odd}");
        }
    }
}
