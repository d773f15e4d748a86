//! TLS errors in words, with the flag or server change that helps.

use rustls::InvalidMessage::{InvalidContentType, UnknownProtocolVersion};
use rustls::pki_types::{ServerName, UnixTime};
use rustls::{AlertDescription as Alert, CertificateError, Error};

use slotscope_base::calendar::utc;
use slotscope_base::name::Name;
use slotscope_base::text;

/// Maximum names of a certificate shown.
const NAMES: usize = 5;

/// The error in words, and a suggested fix.
pub(crate) fn in_words(error: &Error) -> String {
    match error {
        Error::InvalidCertificate(why) => certificate(why),
        Error::InvalidMessage(InvalidContentType | UnknownProtocolVersion) => {
            "this port speaks plain text, and no TLS is spoken there; write redis:// in place of rediss://, or name the \
             port of TLS (tls-port)"
                .to_owned()
        }
        Error::AlertReceived(alert) => refused(*alert),
        other => format!(
            "TLS: {}; check what serves there, --tls-cert and --tls-key",
            spaced(&other.to_string())
        ),
    }
}

/// Why the server's certificate was rejected.
fn certificate(why: &CertificateError) -> String {
    match why {
        CertificateError::ExpiredContext { not_after, .. } => format!(
            "the certificate of the server expired on {}; renew it, or check the clock here",
            day(*not_after)
        ),
        CertificateError::NotValidYetContext { not_before, .. } => format!(
            "the certificate of the server is not valid before {}; check the clock here and where it was made",
            day(*not_before)
        ),
        CertificateError::UnknownIssuer | CertificateError::BadSignature => {
            "the certificate of the server is not signed by an authority that is trusted here; name the certificate of its \
             authority with --tls-ca"
                .to_owned()
        }
        CertificateError::NotValidForNameContext { expected, presented } => {
            other_name(expected, presented)
        }
        CertificateError::Other(other) if other.to_string() == "CaUsedAsEndEntity" => {
            "the server shows the certificate of an authority as its own (CA:TRUE), which is refused even where --tls-ca \
             names it; give the server a certificate that the authority signed (CA:FALSE)"
                .to_owned()
        }
        CertificateError::Other(other) => unusable(&other.to_string()),
        other => unusable(&format!("{other:?}")),
    }
}

fn unusable(why: &str) -> String {
    format!(
        "the certificate of the server is not accepted ({}); openssl s_client -connect HOST:PORT shows it",
        spaced(why)
    )
}

/// The certificate is for other names, which have the form `DnsName("h")` here.
fn other_name(expected: &ServerName<'_>, presented: &[String]) -> String {
    let bare = |name: &String| {
        let value = name.split_once('(').map_or(&**name, |(_, value)| value);
        shown(value.trim_end_matches(')').trim_matches('"'))
    };
    let mut names: Vec<String> = presented.iter().take(NAMES).map(bare).collect();
    if presented.len() > NAMES {
        names.push("...".into());
    }
    let expected = shown(&expected.to_str());
    match names.join(", ") {
        none if none.is_empty() => format!(
            "the certificate of the server is for no name, and so not for {expected}; renew it with a subjectAltName"
        ),
        names => format!(
            "the certificate of the server is not for {expected} but for {names}; write one of these names in the URL, or \
             give it with --sni"
        ),
    }
}

/// The server ended the handshake.
fn refused(alert: Alert) -> String {
    format!(
        "the server ended TLS ({}): it may want a certificate of its clients (--tls-cert, --tls-key), another name (--sni), or \
         another authority or version of TLS",
        spaced(&format!("{alert:?}"))
    )
}

fn day(time: UnixTime) -> String {
    let ms = i64::try_from(time.as_secs()).map_or(i64::MAX, |secs| secs.saturating_mul(1000));
    utc(ms).split('T').next().unwrap_or_default().to_owned()
}

/// `CaUsedAsEndEntity` as `ca used as end entity`.
fn spaced(camel: &str) -> String {
    let (mut words, mut last) = (String::new(), ' ');
    for c in camel.chars() {
        if c.is_ascii_uppercase() && last.is_ascii_lowercase() {
            words.push(' ');
        }
        words.push(c.to_ascii_lowercase());
        last = c;
    }
    shown(&words)
}

fn shown(text: &str) -> String {
    text::name(&Name::from(text), 200)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustls::{OtherError, PeerIncompatible, PeerMisbehaved};
    use std::sync::Arc;

    fn other(webpki: &str) -> CertificateError {
        CertificateError::Other(OtherError(Arc::new(std::io::Error::other(
            webpki.to_owned(),
        ))))
    }

    #[test]
    fn what_is_wrong_with_a_certificate_is_said_in_words_with_what_helps() {
        let name = |presented: &[&str]| CertificateError::NotValidForNameContext {
            expected: ServerName::try_from("10.0.0.1").unwrap(),
            presented: presented.iter().map(|name| (*name).to_owned()).collect(),
        };
        for (why, parts) in [
            (CertificateError::BadSignature, ["authority", "--tls-ca"]),
            (
                name(&["DnsName(\"a.b\")", "IpAddress(127.0.0.1)"]),
                ["not for 10.0.0.1 but for a.b, 127.0.0.1;", "--sni"],
            ),
            (
                name(&["DnsName(\"\x1b[2J\")"]),
                ["but for \\x1b[2J;", "--sni"],
            ),
            (
                other("PathLenConstraintViolated"),
                ["(path len constraint violated)", "openssl"],
            ),
            (CertificateError::BadEncoding, ["(bad encoding)", "openssl"]),
        ] {
            let said = in_words(&Error::InvalidCertificate(why));
            assert!(parts.iter().all(|part| said.contains(part)), "{said}");
        }
    }

    #[test]
    fn alerts_and_other_faults_are_said_in_words() {
        for (error, part) in [
            (
                Error::AlertReceived(Alert::CertificateRequired),
                "--tls-cert, --tls-key",
            ),
            (Error::AlertReceived(Alert::HandshakeFailure), "--tls-cert"),
            (Error::AlertReceived(Alert::UnknownCA), "(unknown ca)"),
            (Error::AlertReceived(Alert::UnrecognisedName), "--sni"),
            (
                Error::AlertReceived(Alert::InternalError),
                "(internal error)",
            ),
            (
                PeerMisbehaved::TooManyEmptyFragments.into(),
                "peer misbehaved: too many empty fragments",
            ),
            (
                PeerIncompatible::Tls12NotOffered.into(),
                "check what serves there",
            ),
            (Error::InvalidMessage(InvalidContentType), "redis://"),
        ] {
            let said = in_words(&error);
            assert!(said.contains(part), "{said}");
        }
    }
}
