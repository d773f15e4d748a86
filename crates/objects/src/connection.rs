//! Connections to servers with the settings of object_store, without a Referer and without automatic redirects: those
//! are followed by `client`, or not at all.

use std::net::{SocketAddr, ToSocketAddrs};
use std::thread;
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use object_store::client::HttpClient;
use object_store::{ClientConfigKey as Key, ClientOptions};
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::redirect::Policy;
use reqwest::tls::Certificate;
use reqwest::{Client, ClientBuilder, NoProxy, Proxy};
use tokio::sync::oneshot;

/// A client with these settings.
pub(super) fn open(options: &ClientOptions) -> object_store::Result<HttpClient> {
    let client = builder(options)
        .and_then(|builder| Ok(builder.build()?))
        .map_err(|source| object_store::Error::Generic {
            store: "HTTP client",
            source,
        })?;
    Ok(HttpClient::new(client))
}

/// Sets a timeout of the client.
type SetDuration = fn(ClientBuilder, Duration) -> ClientBuilder;

type Made<T> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

fn builder(options: &ClientOptions) -> Made<ClientBuilder> {
    let text = |key| options.get_config_value(&key);
    let is_set = |key| text(key).is_some_and(|value| value == "true");
    let mut builder = Client::builder()
        .referer(false)
        .redirect(Policy::none())
        .https_only(!is_set(Key::AllowHttp))
        .dns_resolver(Resolver);
    if let Some(proxy) = proxy(options)? {
        builder = builder.proxy(proxy);
    }
    if let Some(certificate) = text(Key::ProxyCaCertificate) {
        let certificate = Certificate::from_pem(certificate.as_bytes())?;
        builder = builder.tls_certs_merge([certificate]);
    }
    if is_set(Key::NoSystemCertificates) {
        builder = builder.tls_certs_only([]);
    }
    if is_set(Key::Http1Only) {
        builder = builder.http1_only();
    }
    if let Some(most) = text(Key::PoolMaxIdlePerHost) {
        builder = builder.pool_max_idle_per_host(most.parse()?);
    }
    if is_set(Key::Http2Only) {
        builder = builder.http2_prior_knowledge();
    }
    if is_set(Key::Http2KeepAliveWhileIdle) {
        builder = builder.http2_keep_alive_while_idle(true);
    }
    if let Some(size) = text(Key::Http2MaxFrameSize) {
        builder = builder.http2_max_frame_size(Some(size.parse()?));
    }
    let durations: [(Key, SetDuration); 6] = [
        (Key::Timeout, ClientBuilder::timeout),
        (Key::ConnectTimeout, ClientBuilder::connect_timeout),
        (Key::ReadTimeout, ClientBuilder::read_timeout),
        (Key::PoolIdleTimeout, |builder, time| {
            builder.pool_idle_timeout(time)
        }),
        (Key::Http2KeepAliveInterval, |builder, time| {
            builder.http2_keep_alive_interval(time)
        }),
        (
            Key::Http2KeepAliveTimeout,
            ClientBuilder::http2_keep_alive_timeout,
        ),
    ];
    for (key, set) in durations {
        if let Some(time) = text(key) {
            builder = set(builder, humantime::parse_duration(&time)?);
        }
    }
    Ok(builder)
}

fn proxy(options: &ClientOptions) -> Made<Option<Proxy>> {
    let text = |key| options.get_config_value(&key);
    let Some(proxy) = text(Key::ProxyUrl) else {
        return Ok(None);
    };
    // The error contains the address, and so a password.
    let proxy = Proxy::all(proxy).map_err(|error| error.without_url())?;
    let excludes = text(Key::ProxyExcludes).and_then(|hosts| NoProxy::from_string(&hosts));
    Ok(Some(proxy.no_proxy(excludes)))
}

/// Resolves names on a separate thread, or here if none can be started: the thread pool of the runtime would then abort
/// the process.
#[derive(Debug)]
struct Resolver;

impl Resolve for Resolver {
    fn resolve(&self, name: Name) -> Resolving {
        let (sender, receiver) = oneshot::channel();
        let host = name.as_str().to_owned();
        let look_up = {
            let host = host.clone();
            move || drop(sender.send(addresses(&host)))
        };
        let started = thread::Builder::new()
            .name("slotscope-dns".into())
            .spawn(look_up);
        let resolved: BoxFuture<'static, std::io::Result<Vec<SocketAddr>>> = match started {
            Ok(_) => async { receiver.await.map_err(std::io::Error::other)? }.boxed(),
            Err(_) => async move { addresses(&host) }.boxed(),
        };
        resolved
            .map(|addresses| Ok(Box::new(addresses?.into_iter()) as Addrs))
            .boxed()
    }
}

/// The addresses of a host, starting at a random one to spread requests over a store's servers.
fn addresses(host: &str) -> std::io::Result<Vec<SocketAddr>> {
    let mut addresses: Vec<SocketAddr> = (host, 0).to_socket_addrs()?.collect();
    let mut random = [0; 1];
    if !addresses.is_empty() && getrandom::fill(&mut random).is_ok() {
        let first = usize::from(random[0]) % addresses.len();
        addresses.rotate_left(first);
    }
    Ok(addresses)
}
