//! Addresses of objects: the store, and one or more objects in it.

use std::path::PathBuf;

use slotscope_base::secret::{Credentials, Secret};

/// A kind of store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Amazon S3 and compatible stores.
    S3,
    /// Google Cloud Storage.
    Google,
    /// Azure Blob Storage.
    Azure,
    /// A web server.
    Web,
}

/// The schemes of addresses.
const SCHEMES: &[(&str, Kind)] = &[
    ("s3", Kind::S3),
    ("s3a", Kind::S3),
    ("gs", Kind::Google),
    ("az", Kind::Azure),
    ("abfs", Kind::Azure),
    ("abfss", Kind::Azure),
    ("http", Kind::Web),
    ("https", Kind::Web),
];

/// The location of objects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Address {
    /// The kind of store.
    pub kind: Kind,
    /// The scheme and authority, without a password: `s3://bucket`.
    pub root: String,
    /// The name of an object, a prefix ending with a slash, or a pattern.
    pub key: String,
    /// The complete web address, including any signature; empty for stores.
    pub url: Secret,
    /// User and password of a web address.
    pub login: Option<Credentials>,
}

impl Address {
    /// Parses an address; `None` if `text` is not an address.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (scheme, rest) = text.split_once("://")?;
        let is_scheme = |(name, _): &&(&str, Kind)| scheme.eq_ignore_ascii_case(name);
        let kind = SCHEMES.iter().find(is_scheme)?.1;
        let scheme = scheme.to_ascii_lowercase();
        let (place, key) = rest.split_once('/').unwrap_or((rest, ""));
        let is_web = kind == Kind::Web;
        let (login, host) = match place.rsplit_once('@').filter(|_| is_web) {
            Some((login, host)) => (Some(Credentials::of_url(login)), host),
            None => (None, place),
        };
        let root = format!("{scheme}://{host}");
        let (url, key) = if is_web {
            let url = format!("{root}{}", &rest[place.len()..]);
            (url, key.split(['?', '#']).next().unwrap_or_default())
        } else {
            (String::new(), key)
        };
        Some(Address {
            kind,
            root,
            key: key.into(),
            url: Secret::new(url),
            login,
        })
    }

    /// The name of the object at `key` in reports.
    pub(super) fn name(&self, key: &str) -> PathBuf {
        PathBuf::from(format!("{}/{key}", self.root))
    }

    /// Whether it is a pattern for several objects.
    pub(super) fn is_pattern(&self) -> bool {
        self.kind != Kind::Web && self.key.contains(['*', '?', '['])
    }

    /// Whether it is a prefix, which stands for all objects under it.
    pub(super) fn is_prefix(&self) -> bool {
        self.kind != Kind::Web && (self.key.is_empty() || self.key.ends_with('/'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_a_store_and_a_key_as_it_is_written() {
        for (text, kind, root, key) in [
            ("s3://b/a/d.csv", Kind::S3, "s3://b", "a/d.csv"),
            ("S3A://b", Kind::S3, "s3a://b", ""),
            ("gs://b/a b#?%20", Kind::Google, "gs://b", "a b#?%20"),
            (
                "abfss://c@a.dfs.core.windows.net/d",
                Kind::Azure,
                "abfss://c@a.dfs.core.windows.net",
                "d",
            ),
            ("https://u:p@h:1/d?sig=x", Kind::Web, "https://h:1", "d"),
        ] {
            let address = Address::parse(text).unwrap();
            assert_eq!(
                (address.kind, &*address.root, &*address.key),
                (kind, root, key)
            );
        }
        for text in ["dump.keys", "redis://h", "s3:/b", "ftp://h/x", "://"] {
            assert_eq!(Address::parse(text), None, "{text}");
        }
    }

    #[test]
    fn the_secrets_of_a_web_address_are_not_in_its_name() {
        let address = Address::parse("https://u:p@h/d.csv?X-Amz-Signature=s").unwrap();
        assert_eq!(address.name(&address.key), PathBuf::from("https://h/d.csv"));
        assert!(!address.is_pattern() && !address.is_prefix());
        assert_eq!(address.url.reveal(), "https://h/d.csv?X-Amz-Signature=s");
        let login = address.login.unwrap();
        assert_eq!(
            (login.user.unwrap(), login.password.unwrap().reveal()),
            ("u".into(), "p")
        );
    }
}
