//! The HTTP client for all stores: responses are bounded, refusals keep their status and code, and no server receives
//! another's secrets.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use async_trait::async_trait;
use futures_util::StreamExt;
use http_body_util::{BodyExt, Limited};
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse,
    HttpResponseBody, HttpService,
};
use object_store::{ClientConfigKey, ClientOptions, HeaderMap, HeaderValue};
use reqwest::header::USER_AGENT;

use crate::address::Kind;
use crate::connection;
use crate::redirect::{self, AnsweredBy};

/// Limit for the body of a response: a part of an object and a page of a listing are smaller.
const MAX_BODY: usize = 16 << 20;

/// Bytes of an error response that are searched for its code.
const MAX_REFUSAL: usize = 64 << 10;

/// Hosts and paths of services that provide credentials to workloads in a cloud.
const CREDENTIAL_HOSTS: [&str; 4] = [
    "169.254.169.254",
    "169.254.170.2",
    "metadata.google.internal",
    "metadata",
];
const CREDENTIAL_PATHS: [&str; 4] = [
    "/latest/api/token",
    "/latest/meta-data/iam/",
    "/computeMetadata/",
    "/metadata/identity/",
];

/// The failure of a request.
#[derive(Debug, thiserror::Error)]
pub(super) enum Failure {
    /// The server could not be reached, or provided no credentials.
    #[error("{host} cannot be reached: {reason}")]
    Unreached {
        /// Host name and port.
        host: String,
        /// The system's message.
        reason: String,
        /// Whether it was asked for credentials.
        for_credentials: bool,
    },
    /// The server answered that the range is outside the object.
    #[error("a range that no object has")]
    Range,
    /// The server refused the request.
    #[error("the server answers {status}")]
    Refused {
        /// The HTTP status.
        status: u16,
        /// The store's error code, one word.
        code: Option<String>,
        /// The region named by the server.
        region: Option<String>,
        /// The host named by the server.
        elsewhere: Option<String>,
    },
    /// A redirect that was not followed.
    #[error("{0}")]
    Redirected(String),
}

/// Makes clients that are `Guarded`.
#[derive(Debug)]
pub(super) struct Connector(pub Kind);

impl HttpConnector for Connector {
    fn connect(&self, options: &ClientOptions) -> object_store::Result<HttpClient> {
        let mut headers = options.get_default_headers().cloned().unwrap_or_default();
        let agent = options
            .get_config_value(&ClientConfigKey::UserAgent)
            .and_then(|agent| HeaderValue::from_str(&agent).ok());
        headers.extend(agent.map(|agent| (USER_AGENT, agent)));
        Ok(HttpClient::new(Guarded {
            inner: connection::open(options)?,
            kind: self.0,
            headers,
            was_reached: AtomicBool::new(false),
        }))
    }
}

#[derive(Debug)]
struct Guarded {
    inner: HttpClient,
    kind: Kind,
    /// The user's headers for each request.
    headers: HeaderMap<HeaderValue>,
    was_reached: AtomicBool,
}

#[async_trait]
impl HttpService for Guarded {
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let uri = request.uri();
        let of_path = CREDENTIAL_PATHS
            .iter()
            .any(|path| uri.path().starts_with(path));
        let of_host = uri
            .host()
            .is_some_and(|host| CREDENTIAL_HOSTS.contains(&host));
        let for_credentials = of_host || of_path;
        let authority = uri.authority().map_or("", |authority| authority.as_str());
        let host = authority.rsplit('@').next().unwrap_or_default().to_owned();
        let answered = match self.kind {
            Kind::Web => self.follow(self.with_headers(request)).await,
            _ => self.inner.execute(self.with_headers(request)).await,
        };
        let (parts, body) = answered
            .map_err(|error| self.unreached(error, host.clone(), for_credentials))?
            .into_parts();
        self.was_reached.store(true, Relaxed);
        let body = HttpResponseBody::new(Limited::new(body, MAX_BODY).map_err(too_long));
        if parts.status.is_success() {
            let range = parts.headers.get("content-range");
            if range.is_some_and(|range| has_long_number(range.as_bytes())) {
                return Err(HttpError::new(HttpErrorKind::Decode, Failure::Range));
            }
            return Ok(HttpResponse::from_parts(parts, body));
        }
        let may_pass = parts.status.is_server_error() || matches!(parts.status.as_u16(), 408 | 429);
        let kind = if may_pass {
            HttpErrorKind::Request
        } else {
            HttpErrorKind::Unknown
        };
        if for_credentials {
            return Err(HttpError::new(
                kind,
                Failure::Unreached {
                    host,
                    reason: parts.status.to_string(),
                    for_credentials,
                },
            ));
        }
        let header = |name: &str| parts.headers.get(name)?.to_str().ok().and_then(word);
        let text = start_of(body).await;
        let failure = Failure::Refused {
            status: parts.status.as_u16(),
            code: header("x-ms-error-code").or_else(|| element(&text, "Code")),
            region: header("x-amz-bucket-region").or_else(|| element(&text, "Region")),
            elsewhere: redirect::host_in(&parts.headers),
        };
        Err(HttpError::new(kind, failure))
    }
}

impl Guarded {
    fn with_headers(&self, mut request: HttpRequest) -> HttpRequest {
        for (name, value) in &self.headers {
            request.headers_mut().insert(name, value.clone());
        }
        request
    }

    /// Sends a request and follows redirects; records the server that answered if it is another one.
    async fn follow(&self, mut request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let refused = |reason| HttpError::new(HttpErrorKind::Unknown, Failure::Redirected(reason));
        let named = request.uri().authority().cloned();
        for _ in 0..=redirect::MOST {
            let from = request.uri().to_string();
            let mut answer = self.inner.execute(request.clone()).await?;
            let status = answer.status().as_u16();
            let to = redirect::target(&from, status, answer.headers()).map_err(refused)?;
            let Some(to) = to else {
                let authority = request.uri().authority();
                if let Some(authority) = authority.filter(|_| authority != named.as_ref()) {
                    let answered_by = AnsweredBy(authority.to_string());
                    answer.extensions_mut().insert(answered_by);
                }
                return Ok(answer);
            };
            let next = redirect::request(&request, &to);
            request = next.ok_or_else(|| refused("a redirect to no address".into()))?;
        }
        Err(refused(format!(
            "over {} redirects; check the address",
            redirect::MOST
        )))
    }

    /// A server that was never reached is not retried: its name is wrong, or it does not exist.
    fn unreached(&self, error: HttpError, host: String, for_credentials: bool) -> HttpError {
        let kind = if self.was_reached.load(Relaxed) {
            error.kind()
        } else {
            HttpErrorKind::Unknown
        };
        let is_redirect = std::error::Error::source(&error)
            .and_then(|cause| cause.downcast_ref::<Failure>())
            .is_some();
        if is_redirect {
            return error;
        }
        let reason = match error.kind() {
            HttpErrorKind::Timeout => String::from("no answer in time"),
            _ => innermost(&error),
        };
        let failure = Failure::Unreached {
            host,
            reason,
            for_credentials,
        };
        HttpError::new(kind, failure)
    }
}

/// The innermost cause of an error.
fn innermost(error: &dyn std::error::Error) -> String {
    let mut last = error;
    while let Some(source) = last.source() {
        last = source;
    }
    let text = last.to_string();
    text.split(" (os error").next().unwrap_or_default().into()
}

fn too_long(error: Box<dyn std::error::Error + Send + Sync>) -> HttpError {
    match error.downcast::<HttpError>() {
        Ok(error) => *error,
        Err(error) => HttpError::new_boxed(HttpErrorKind::Decode, error),
    }
}

/// The available first bytes of a response.
async fn start_of(body: HttpResponseBody) -> String {
    let mut text = Vec::new();
    let mut pieces = body.bytes_stream();
    while let Some(Ok(piece)) = pieces.next().await {
        text.extend_from_slice(&piece[..piece.len().min(MAX_REFUSAL - text.len())]);
        if text.len() == MAX_REFUSAL {
            break;
        }
    }
    String::from_utf8_lossy(&text).into_owned()
}

/// Whether a number has more digits than any count of bytes: object_store computes with it unchecked.
fn has_long_number(text: &[u8]) -> bool {
    let mut numbers = text.split(|byte| !byte.is_ascii_digit());
    numbers.any(|number| number.len() > 18)
}

/// The word in the first XML element with this name.
fn element(xml: &str, name: &str) -> Option<String> {
    let (_, rest) = xml.split_once(&format!("<{name}>"))?;
    word(rest.split('<').next()?)
}

/// A short word, which is safe to print as it is; other text from a server is not.
fn word(text: &str) -> Option<String> {
    let is_of_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
    let fits = (1..=64).contains(&text.len()) && text.bytes().all(is_of_word);
    fits.then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_words_of_a_refusal_are_taken() {
        let xml = "<Error><Code>NoSuchKey</Code><Region>eu-west-1</Region><Key>\x1b</Key></Error>";
        assert_eq!(element(xml, "Code").unwrap(), "NoSuchKey");
        assert_eq!(element(xml, "Region").unwrap(), "eu-west-1");
        assert_eq!(element(xml, "Key"), None);
        assert_eq!(element("<Code>", "Code"), None);
    }
}
