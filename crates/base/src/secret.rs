//! A password, sent to servers and never printed. `Debug` hides it, and it has neither `Display` nor `Serialize`, so
//! that no message, report or file can contain it by accident.

use std::fmt;

/// A password or another secret text.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Keeps `text` from being printed.
    pub fn new(text: impl Into<String>) -> Self {
        Secret(text.into())
    }

    /// The text, to be sent to the server.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// Another program's message with the secret removed.
    pub fn hidden_in(&self, message: &str) -> String {
        match self.0.as_str() {
            "" => message.to_owned(),
            text => message.replace(text, "..."),
        }
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(hidden)")
    }
}

/// The user to log in as.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Credentials {
    /// The ACL user; `None` for the default user.
    pub user: Option<String>,
    /// Its password; `None` if the server requires none.
    pub password: Option<Secret>,
}

impl Credentials {
    /// Those in a URL, `USER` or `USER:PASSWORD`, where `%41` stands for a byte.
    pub fn of_url(text: &str) -> Self {
        let (user, password) = match text.split_once(':') {
            Some((user, password)) => (user, Some(password)),
            None => (text, None),
        };
        Credentials {
            user: Some(decoded(user)).filter(|user| !user.is_empty()),
            password: password.map(|password| Secret::new(decoded(password))),
        }
    }
}

/// Replaces `%` and two hexadecimal digits by their byte; any other `%` stays, and all of them if the result is not UTF-8.
fn decoded(text: &str) -> String {
    let mut pieces = text.split('%');
    let mut bytes = pieces.next().unwrap_or_default().as_bytes().to_vec();
    for piece in pieces {
        let digits = piece
            .get(..2)
            .filter(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()))
            .and_then(|digits| u8::from_str_radix(digits, 16).ok());
        bytes.push(digits.unwrap_or(b'%'));
        bytes.extend(&piece.as_bytes()[if digits.is_some() { 2 } else { 0 }..]);
    }
    String::from_utf8(bytes).unwrap_or_else(|_| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_has_a_user_and_a_password_with_bytes_as_digits() {
        for (text, user, password) in [
            ("me:p%40ss%3A", Some("me"), Some("p@ss:")),
            (":p%zz%", None, Some("p%zz%")),
            (":p%+4%ff", None, Some("p%+4%ff")),
            ("me", Some("me"), None),
        ] {
            let credentials = Credentials::of_url(text);
            assert_eq!(credentials.user.as_deref(), user);
            assert_eq!(credentials.password.as_ref().map(Secret::reveal), password);
        }
    }

    #[test]
    fn a_secret_is_in_no_text_made_of_it() {
        let credentials = Credentials {
            user: Some("reader".into()),
            password: Some(Secret::new("hunter2")),
        };
        let text = format!("{credentials:?} {credentials:#?}");
        assert!(
            text.contains("reader") && !text.contains("hunter2"),
            "{text}"
        );
    }
}
