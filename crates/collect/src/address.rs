//! Server addresses: `redis://[USER[:PASSWORD]@]HOST[:PORT]`, `unix://PATH`, `HOST:PORT`.

use std::fmt;
use std::path::PathBuf;

use slotscope_base::error::{Error, Result};
use slotscope_base::host::{host, host_and_port};
use slotscope_base::name::Name;
use slotscope_base::secret::Credentials;

/// The default port.
const PORT: u16 = 6379;

/// Where a server listens.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Address {
    /// A host, which may be an IPv6 address without brackets, and a port.
    Tcp(String, u16),
    /// A Unix socket.
    Unix(PathBuf),
}

/// A server as named by the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seed {
    /// Where it listens.
    pub address: Address,
    /// Whether TLS is requested: `rediss://`, `valkeys://`.
    pub tls: bool,
    /// User and password from the URL.
    pub credentials: Credentials,
}

impl Address {
    /// Parses `HOST:PORT`, `[IPv6]:PORT` or `HOST`.
    pub fn parse(text: &str) -> Option<Address> {
        let is_host_alone = text.ends_with(']') || !text.contains(':');
        let (host, port) = if is_host_alone {
            (host(text)?, PORT)
        } else {
            host_and_port(text)?
        };
        Some(Address::Tcp(host.to_owned(), port))
    }
}

/// Escaped for display; IPv6 addresses have no brackets, as in CLUSTER NODES.
impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Address::Tcp(host, port) => write!(f, "{}:{port}", Name::from(host.as_str())),
            Address::Unix(path) => write!(f, "{}", Name::from(path.as_path())),
        }
    }
}

impl Seed {
    /// Parses a server name typed by the user.
    ///
    /// # Errors
    /// The text does not name a server. The message contains no password.
    pub fn parse(text: &str) -> Result<Seed> {
        const FORMS: &str =
            "write redis://HOST:PORT, rediss://HOST:PORT for TLS, unix://PATH or HOST:PORT";
        let bad = |place: String, why: &str| Err(Error::bad(place, format!("{why}; {FORMS}")));
        let Some((scheme, rest)) = text.split_once("://") else {
            let seed = Address::parse(text).map(Seed::at);
            // The part before an @ may contain a password.
            let shown = text.rsplit('@').next().unwrap_or_default();
            return seed.map_or_else(|| bad(Name::from(shown).to_string(), "names no server"), Ok);
        };
        let (credentials, place) = match rest.rsplit_once('@') {
            Some((secret, place)) => (Credentials::of_url(secret), place),
            None => (Credentials::default(), rest),
        };
        // Query parameters may contain secrets as well.
        let named = place.split('?').next().unwrap_or_default();
        let shown = format!("{}://{}", Name::from(scheme), Name::from(named));
        let tls = match scheme.to_ascii_lowercase().as_str() {
            "redis" | "valkey" => false,
            "rediss" | "valkeys" => true,
            "unix" | "redis+unix" | "valkey+unix" if !place.is_empty() => {
                let seed = Seed::at(Address::Unix(PathBuf::from(place)));
                return Ok(Seed {
                    credentials,
                    ..seed
                });
            }
            _ => return bad(shown, "no URL of a server"),
        };
        let (place, path) = place.split_once('/').unwrap_or((place, ""));
        if path.contains('?') || place.contains('?') {
            return bad(shown, "parameters of a URL are not known");
        }
        if !matches!(path, "" | "0") {
            return bad(shown, "all databases are collected; leave out the number");
        }
        match Address::parse(place) {
            Some(address) => Ok(Seed {
                address,
                tls,
                credentials,
            }),
            None => bad(shown, "names no server"),
        }
    }

    /// A server at this address, without a password.
    fn at(address: Address) -> Seed {
        Seed {
            address,
            tls: false,
            credentials: Credentials::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use slotscope_base::secret::Secret;

    #[test]
    fn servers_are_read_as_people_write_them() {
        for (text, shown, tls) in [
            ("redis://10.0.0.1:7000", "10.0.0.1:7000", false),
            ("redis://h", "h:6379", false),
            ("REDISS://h:1/", "h:1", true),
            ("valkeys://h:1/0", "h:1", true),
            ("valkey://[::1]:7000", "::1:7000", false),
            ("[::1]", "::1:6379", false),
            ("h.example.com:1", "h.example.com:1", false),
            ("unix:///run/redis.sock", "/run/redis.sock", false),
        ] {
            let seed = Seed::parse(text).unwrap();
            assert_eq!((seed.address.to_string().as_str(), seed.tls), (shown, tls));
            assert_eq!(seed.credentials, Credentials::default());
        }
    }

    #[test]
    fn a_password_is_taken_from_a_url_and_never_shown() {
        let seed = Seed::parse("redis://me:p%40ss%3A@h:1").unwrap();
        assert_eq!(seed.credentials.user.as_deref(), Some("me"));
        assert_eq!(seed.credentials.password, Some(Secret::new("p@ss:")));
        let seed = Seed::parse("redis://:p@h:1").unwrap();
        assert_eq!(seed.credentials.user, None);
        for text in [
            "redis://u:secret@h:99999",
            "redis://u:secret@h/7",
            "redis://u:secret@",
            "http://u:secret@h:1",
            "redis://u:secret@h:1?x=1",
            "u:secret@h:x",
        ] {
            let message = Seed::parse(text).unwrap_err().to_string();
            assert!(
                !message.contains("secret") && message.contains("; write "),
                "{message}"
            );
        }
    }
}
