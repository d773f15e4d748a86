//! Error messages for unreadable objects: the error and a suggested fix.

use std::error::Error as StdError;

use object_store::client::{HttpError, HttpErrorKind};

use crate::address::Kind;
use crate::client::Failure;
use crate::redirect;
use slotscope_base::name::Name;

/// The object changed while it was read.
pub(super) const CHANGED: &str =
    "changed while it was read; analyze a copy, or run again when nothing writes to it";

/// The reason why an object or a listing could not be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Refusal {
    /// The error and the fix, after the name of the place.
    pub reason: String,
    /// The status of the server's refusal; 0 for other errors.
    pub status: u16,
}

impl From<String> for Refusal {
    fn from(reason: String) -> Self {
        Refusal { reason, status: 0 }
    }
}

impl From<&str> for Refusal {
    fn from(reason: &str) -> Self {
        reason.to_owned().into()
    }
}

impl Refusal {
    /// The cause of `error`, searched in its chain of sources.
    pub(super) fn of(error: &object_store::Error, kind: Kind) -> Self {
        let failure = causes(error).find_map(|cause| cause.downcast_ref::<Failure>());
        match failure {
            Some(Failure::Refused {
                status,
                code,
                region,
                elsewhere,
            }) => Refusal {
                reason: refused(
                    kind,
                    *status,
                    code.as_deref().unwrap_or(""),
                    region.as_deref(),
                    elsewhere.as_deref(),
                ),
                status: *status,
            },
            Some(Failure::Unreached {
                for_credentials: true,
                ..
            }) => format!("there are no credentials: {}", login(kind)).into(),
            Some(Failure::Unreached { host, reason, .. }) => {
                let (host, reason) = (Name::from(host.as_str()), Name::from(reason.as_str()));
                let way_out = if reason.to_string().contains("certificate") {
                    "SSL_CERT_FILE names a file of those that you trust"
                } else {
                    "check the address and the network"
                };
                format!("\"{host}\" cannot be reached: {reason}; {way_out}").into()
            }
            Some(Failure::Redirected(reason)) => reason.clone().into(),
            Some(Failure::Range) | None => broken(error).into(),
        }
    }
}

/// An error and its chain of sources.
fn causes<'e>(
    error: &'e (dyn StdError + 'static),
) -> impl Iterator<Item = &'e (dyn StdError + 'static)> {
    std::iter::successors(Some(error), |&error| error.source())
}

/// The meaning of a refusal with `status`.
fn refused(
    kind: Kind,
    status: u16,
    code: &str,
    region: Option<&str>,
    elsewhere: Option<&str>,
) -> String {
    let line = format!("{status} {code}");
    let answer = line.trim_end();
    let is_of_region = matches!(code, "AuthorizationHeaderMalformed" | "PermanentRedirect")
        || redirect::is_redirect(status);
    match (status, code) {
        (300..=400, _) if kind == Kind::S3 && is_of_region => {
            let seems = elsewhere.map_or(String::new(), |host| {
                format!("; it seems to be at \"{host}\"")
            });
            format!(
                "the bucket is in another region ({answer}): set AWS_REGION={}{seems}",
                region.unwrap_or("to that of the bucket")
            )
        }
        (300..=399, _) if kind != Kind::Web => format!(
            "the server points elsewhere ({answer}), where no credentials are sent{}; check the name of the bucket, or set \
             --storage-option {} to the server that has it",
            elsewhere.map_or(String::new(), |host| format!(": to \"{host}\"")),
            if kind == Kind::Google {
                "google_base_url"
            } else {
                "azure_storage_endpoint"
            }
        ),
        (404, "NoSuchBucket" | "ContainerNotFound") => {
            format!("there is no such bucket or container ({answer}); check the spelling")
        }
        (404, _) => {
            format!("there is no such object ({answer}); check the spelling; a folder ends with /")
        }
        (412, _) => CHANGED.into(),
        (401 | 403, _) => format!("access is denied ({answer}): {}", login(kind)),
        (500.. | 408 | 429, _) => {
            format!("the server fails ({answer}), also when asked again; run again later")
        }
        _ => format!("the server refuses ({answer}); check the address and --storage-option"),
    }
}

/// How to obtain credentials.
fn login(kind: Kind) -> &'static str {
    match kind {
        Kind::S3 => {
            "set AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN (`aws configure export-credentials \
             --format env` prints them), or --storage-option skip_signature=true where the bucket is public"
        }
        Kind::Google => {
            "run `gcloud auth application-default login` or set GOOGLE_APPLICATION_CREDENTIALS, or --storage-option \
             skip_signature=true where the bucket is public"
        }
        Kind::Azure => {
            "set AZURE_STORAGE_ACCOUNT_NAME, and AZURE_STORAGE_ACCOUNT_KEY or AZURE_STORAGE_SAS_KEY, or --storage-option \
             use_azure_cli=true behind `az login`"
        }
        Kind::Web => {
            "check the address, its signature, or the user and password in it (https://USER:PASSWORD@HOST/...)"
        }
    }
}

/// The error for a response that is not an object.
fn broken(error: &object_store::Error) -> String {
    if let object_store::Error::NotSupported { .. } = error {
        return "the server sends whole files only, not parts: curl -fsS URL | slotscope analyze -"
            .into();
    }
    let http = causes(error).find_map(|cause| cause.downcast_ref::<HttpError>());
    match http
        .map(HttpError::kind)
        .filter(|kind| *kind != HttpErrorKind::Decode)
    {
        Some(HttpErrorKind::Timeout) => {
            "the server is too slow; run again, or give it longer: --storage-option timeout=30m"
                .into()
        }
        Some(_) => "the connection broke off, also when tried again; run again".into(),
        None => {
            let cause = causes(error).last().map(ToString::to_string);
            let text = Name::from(cause.unwrap_or_default().as_str());
            format!("the answer of the server cannot be used: \"{text}\"; check the address")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_names_the_way_out() {
        for (kind, status, code, region, what) in [
            (Kind::S3, 404, "NoSuchBucket", None, "no such bucket"),
            (Kind::S3, 404, "NoSuchKey", None, "no such object"),
            (
                Kind::S3,
                301,
                "PermanentRedirect",
                Some("eu-west-1"),
                "AWS_REGION=eu-west-1",
            ),
            (Kind::S3, 307, "", None, "AWS_REGION=to that"),
            (Kind::Google, 302, "", None, "google_base_url"),
            (Kind::Azure, 308, "", None, "azure_storage_endpoint"),
            (
                Kind::S3,
                400,
                "AuthorizationHeaderMalformed",
                Some("x"),
                "AWS_REGION=x",
            ),
            (Kind::S3, 403, "AccessDenied", None, "export-credentials"),
            (Kind::Google, 401, "", None, "(401): run `gcloud"),
            (
                Kind::Azure,
                403,
                "AuthenticationFailed",
                None,
                "AZURE_STORAGE",
            ),
            (Kind::Web, 412, "", None, "changed while it was read"),
            (Kind::Web, 503, "", None, "run again later"),
            (Kind::Web, 418, "", None, "refuses (418)"),
        ] {
            let text = refused(kind, status, code, region, Some("else:1"));
            assert_eq!(
                text.contains("else:1"),
                (300..=400).contains(&status),
                "{text}"
            );
            assert!(text.contains(what), "{text}");
        }
    }
}
