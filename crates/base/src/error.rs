//! The one error type: every message names the place, what is wrong, and a suggested fix.

use std::borrow::Cow;
use std::io;
use std::path::{Path, PathBuf};

use crate::name::{self, Name};
use crate::sentence::Sentence;

/// The result of anything that can fail for a reason the user can act on.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The error type. `Display` is the line shown to the user after `slotscope: `, unredacted; for readers who must not
/// see names, use `Redaction::error`.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The operating system refused access to a file or directory.
    #[error("{}: {}", shown(place), reason(source))]
    Io {
        /// The file or directory, as the user named it.
        place: PathBuf,
        /// The operating system's error.
        source: io::Error,
    },
    /// An unusable input, flag or topology.
    #[error("{place}: {}", what.spelled(None))]
    Bad {
        /// A file with line and byte, or a flag.
        place: String,
        /// The problem, with a suggested fix.
        what: Sentence,
    },
    /// A server that does not answer, as in an outage; one that refuses is `Bad`.
    #[error("{place}: {}", what.spelled(None))]
    Silent {
        /// The address.
        place: String,
        /// The problem, with a suggested fix.
        what: Sentence,
    },
    /// An unusable option; the program spells it as a flag, a language binding in its own way.
    #[error("{}: {}", flag(name, value), what.spelled(None))]
    Option {
        /// Its name, as words joined by `-`.
        name: Cow<'static, str>,
        /// Its value, if the message quotes it.
        value: Name,
        /// The problem, with a suggested fix.
        what: Sentence,
    },
    /// The caller's progress hook ended the run.
    #[error("cancelled; nothing is reported")]
    Cancelled,
    /// The reader closed standard output; not a failure.
    #[error("standard output was closed")]
    BrokenPipe,
}

impl Error {
    /// An I/O error at `place`.
    pub fn io(place: impl AsRef<Path>, source: io::Error) -> Self {
        let place = place.as_ref();
        let is_pattern = place
            .as_os_str()
            .as_encoded_bytes()
            .iter()
            .any(|byte| b"*?[".contains(byte));
        if is_pattern && source.kind() == io::ErrorKind::NotFound {
            // The shell passes on a glob unexpanded if it matches nothing.
            let reason = "no file matches; check the pattern and the current directory";
            return Error::bad_file(place, reason);
        }
        if is_url(place) && source.kind() == io::ErrorKind::NotFound {
            let reason = "an address in place of a file; slotscope collect saves what a server says, with its cluster.nodes";
            return Error::bad(shown(place).to_string(), reason);
        }
        Error::Io {
            place: place.to_path_buf(),
            source,
        }
    }

    /// An unusable input at `place`; `reason` includes a suggested fix.
    pub fn bad(place: impl Into<String>, reason: impl Into<Sentence>) -> Self {
        Error::Bad {
            place: name::shown(place),
            what: reason.into(),
        }
    }

    /// Like `bad`, for a file.
    pub fn bad_file(path: impl AsRef<Path>, reason: impl Into<Sentence>) -> Self {
        Error::bad(Name::from(path.as_ref()).to_string(), reason)
    }

    /// A server that does not answer.
    pub fn silent(place: impl Into<String>, reason: impl Into<Sentence>) -> Self {
        Error::Silent {
            place: name::shown(place),
            what: reason.into(),
        }
    }

    /// Whether a server does not answer.
    pub fn is_silence(&self) -> bool {
        matches!(self, Error::Silent { .. })
    }

    /// An unusable option; its value is quoted unless empty.
    pub fn option(
        name: impl Into<Cow<'static, str>>,
        value: impl Into<Name>,
        reason: impl Into<Sentence>,
    ) -> Self {
        Error::Option {
            name: name.into(),
            value: value.into(),
            what: reason.into(),
        }
    }

    /// An error while writing to standard output.
    pub fn stdout(source: io::Error) -> Self {
        match source.kind() {
            io::ErrorKind::BrokenPipe => Error::BrokenPipe,
            _ => Error::io("standard output", source),
        }
    }
}

/// An option as a command-line flag; a value of more than one word is quoted.
fn flag(name: &str, value: &Name) -> String {
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.,:/=%+*".contains(byte);
    if value.0.is_empty() {
        format!("--{name}")
    } else if value.0.iter().all(is_word) {
        format!("--{name} {value}")
    } else {
        format!("--{name} \"{value}\"")
    }
}

fn is_url(place: &Path) -> bool {
    place.to_str().is_some_and(|text| text.contains("://"))
}

/// A path for display. If it is a server URL given by mistake, without its password; Azure URLs have a container before
/// the @.
fn shown(place: &Path) -> Name {
    match place.to_str().and_then(|text| text.split_once("://")) {
        Some((scheme, rest)) if rest.contains('@') && !scheme.starts_with("abfs") => {
            let host = rest.rsplit('@').next().unwrap_or_default();
            Name::from(format!("{scheme}://{host}").as_str())
        }
        _ => Name::from(place),
    }
}

/// The system's message without Rust's "(os error 2)", with a hint if there is one.
#[doc(hidden)]
pub fn reason(error: &io::Error) -> String {
    let message = error.to_string();
    let start = message.split(" (os error").next().unwrap_or_default();
    let mut chars = start.chars();
    let text = match chars.next() {
        Some(first) => first.to_lowercase().chain(chars).collect::<String>(),
        None => String::from("unknown input/output error"),
    };
    match error.kind() {
        io::ErrorKind::NotFound => format!("{text}; check the spelling and the current directory"),
        io::ErrorKind::PermissionDenied => {
            format!("{text}; run as a user who may, or change its mode")
        }
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_names_the_place_and_the_way_out() {
        let error = Error::io("no/such.keys", io::Error::from_raw_os_error(2));
        assert_eq!(
            error.to_string(),
            "no/such.keys: no such file or directory; check the spelling and the current directory"
        );
    }

    #[test]
    fn a_url_in_place_of_a_file_is_named_without_its_password() {
        let error = Error::io("redis://me:p@ss/word@h:1", io::ErrorKind::NotFound.into());
        assert!(error.to_string().starts_with("redis://h:1: "), "{error}");
    }

    #[test]
    fn a_hostile_file_name_reaches_the_terminal_escaped() {
        let error = Error::io("\x1b[2J.keys", io::Error::from_raw_os_error(2));
        assert!(error.to_string().starts_with("\\x1b[2J.keys: "), "{error}");
    }
}
