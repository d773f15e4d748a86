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

#[cfg(test)]
mod tests {
    use super::*;

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
