//! Redirects of web servers: followed to another server only without possible secrets, and never to a weaker protocol.

use object_store::client::{HttpRequest, HttpRequestBody};
use object_store::{HeaderMap, HeaderValue};
use reqwest::Url;

/// Length limit of a chain of redirects.
pub(super) const MOST: usize = 10;

/// The headers that another server receives: only those of the request itself, none that identifies the user.
const ASKED: [&str; 7] = [
    "accept",
    "accept-encoding",
    "if-match",
    "if-modified-since",
    "if-none-match",
    "if-unmodified-since",
    "range",
];

/// The server that answered instead of the named one, as host and port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct AnsweredBy(pub String);

/// The target of a redirect; `None` if the response is not a redirect.
///
/// # Errors
/// The reason not to follow it.
pub(super) fn target(
    from: &str,
    status: u16,
    headers: &HeaderMap<HeaderValue>,
) -> Result<Option<Url>, String> {
    if !is_redirect(status) {
        return Ok(None);
    }
    let base = Url::parse(from).map_err(|_| unusable(status))?;
    let location = headers.get("location").and_then(|to| to.to_str().ok());
    let to = location
        .and_then(|location| base.join(location).ok())
        .ok_or_else(|| unusable(status))?;
    match (base.scheme(), to.scheme()) {
        ("https", "https") | ("http", "http" | "https") => Ok(Some(to)),
        (_, "http") => Err(format!(
            "a redirect leads from https to http, to \"{}\", and is not followed; if that is right, name the address there",
            authority(&to)
        )),
        _ => Err(String::from(
            "a redirect leads to something other than a web address, and is not followed; check the address",
        )),
    }
}

/// Whether a response is a redirect.
pub(super) fn is_redirect(status: u16) -> bool {
    matches!(status, 301 | 302 | 303 | 307 | 308)
}

/// The server that a response refers to, if it names one.
pub(super) fn host_in(headers: &HeaderMap<HeaderValue>) -> Option<String> {
    let to = Url::parse(headers.get("location")?.to_str().ok()?).ok()?;
    to.host_str()?;
    Some(authority(&to))
}

fn unusable(status: u16) -> String {
    format!("a redirect ({status}) without a usable address; check the address")
}

/// Host and port.
pub(super) fn authority(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    url.port()
        .map_or(host.to_owned(), |port| format!("{host}:{port}"))
}

/// The request for `to`, without what another server must not see.
pub(super) fn request(original: &HttpRequest, to: &Url) -> Option<HttpRequest> {
    let mut request = HttpRequest::new(HttpRequestBody::empty());
    *request.method_mut() = original.method().clone();
    *request.uri_mut() = to.as_str().parse().ok()?;
    let from = Url::parse(&original.uri().to_string()).ok()?;
    let is_same = from.origin() == to.origin();
    let headers = original.headers().iter();
    for (name, value) in headers.filter(|(name, _)| is_same || ASKED.contains(&name.as_str())) {
        request.headers_mut().append(name, value.clone());
    }
    Some(request)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_server_gets_no_header_that_could_be_a_secret() {
        let mut asked = HttpRequest::new(HttpRequestBody::empty());
        *asked.uri_mut() = "http://a:1/x".parse().unwrap();
        for name in [
            "authorization",
            "x-amz-security-token",
            "user-agent",
            "range",
        ] {
            let headers = asked.headers_mut();
            headers.insert(name, "s".parse().unwrap());
        }
        let sent = |to: &str| {
            let request = request(&asked, &to.parse().unwrap()).unwrap();
            request.headers().len()
        };
        assert_eq!(sent("http://a:1/y"), 4);
        for other in ["http://a:2/y", "https://a:1/y", "http://b:1/y"] {
            assert_eq!(sent(other), 1, "{other}");
        }
    }
}
