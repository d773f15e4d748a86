//! A store, opened with the options of the environment and of the user.

use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine;
use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use object_store::azure::{AzureConfigKey, MicrosoftAzureBuilder};
use object_store::gcp::{GoogleCloudStorageBuilder, GoogleConfigKey};
use object_store::http::HttpBuilder;
use object_store::list::PaginatedListStore;
use object_store::{
    BackoffConfig, ClientConfigKey, ClientOptions, HeaderMap, HeaderValue, ObjectStore, RetryConfig,
};

use crate::address::{Address, Kind};
use crate::client::Connector;
use crate::refusal::Refusal;
use slotscope_base::name::Name;
use slotscope_base::secret::{Credentials, Secret};
use slotscope_read::source::storage_options::{StorageOption, StorageOptions};

/// Time limit for a whole response, and for a stall in it.
const TIMEOUT: &str = "300s";
const READ_TIMEOUT: &str = "30s";

/// A store and its address.
pub(super) struct Store {
    /// The requested address.
    pub address: Address,
    /// Access to its objects.
    pub objects: Arc<dyn ObjectStore>,
    /// Access to its listings, if it has any.
    pub pages: Option<Arc<dyn PaginatedListStore>>,
}

impl std::fmt::Debug for Store {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.address.root)
    }
}

/// Applies defaults and the user's options, and `allow_http` if the user's own endpoint has no TLS.
macro_rules! configured {
    ($builder:expr, $kind:expr, $key:ty, $options:expr, $endpoints:expr) => {{
        let client = <$key>::Client;
        let mut builder = $builder
            .with_http_connector(Connector($kind))
            .with_retry(retries($options)?)
            .with_config(client(ClientConfigKey::Timeout), TIMEOUT)
            .with_config(client(ClientConfigKey::ReadTimeout), READ_TIMEOUT);
        for option in of_store($options) {
            let key: $key = key_of(option)?;
            builder = builder.with_config(key, option.value.reveal());
        }
        // Certificates are always verified, whatever the environment says.
        builder = builder.with_config(client(ClientConfigKey::AllowInvalidCertificates), "false");
        let keys: &[$key] = $endpoints;
        let mut endpoints = keys.iter().filter_map(|key| builder.get_config_value(key));
        if endpoints.any(|endpoint| endpoint.starts_with("http://")) {
            builder = builder.with_config(client(ClientConfigKey::AllowHttp), "true");
        }
        builder
    }};
}

impl Store {
    /// Opens the store of an address, without sending a request.
    ///
    /// # Errors
    /// An option unknown to the store, or an invalid value.
    pub(super) fn open(address: Address, options: &StorageOptions) -> Result<Self, Refusal> {
        // The TLS provider; one installed by another part of the process is kept.
        drop(rustls::crypto::ring::default_provider().install_default());
        let failed = |error| cannot_open(&error, options);
        let root = address.root.as_str();
        if root.trim_end_matches('/').ends_with(':') {
            return Err(
                "names no bucket; write it like s3://BUCKET/FOLDER/ or s3://BUCKET/FILE".into(),
            );
        }
        let (objects, pages): (Arc<dyn ObjectStore>, Option<Arc<dyn PaginatedListStore>>) =
            match address.kind {
                Kind::S3 => {
                    type Key = AmazonS3ConfigKey;
                    let bare = AmazonS3Builder::from_env().with_url(root);
                    let builder = configured!(
                        bare,
                        Kind::S3,
                        Key,
                        options,
                        &[Key::Endpoint, Key::S3Endpoint]
                    );
                    let store = Arc::new(builder.build().map_err(failed)?);
                    (store.clone(), Some(store))
                }
                Kind::Google => {
                    type Key = GoogleConfigKey;
                    let bare = GoogleCloudStorageBuilder::from_env().with_url(root);
                    let builder = configured!(bare, Kind::Google, Key, options, &[Key::BaseUrl]);
                    let store = Arc::new(builder.build().map_err(failed)?);
                    (store.clone(), Some(store))
                }
                Kind::Azure => {
                    type Key = AzureConfigKey;
                    let bare = MicrosoftAzureBuilder::from_env().with_url(root);
                    let builder = configured!(bare, Kind::Azure, Key, options, &[Key::Endpoint]);
                    let store = Arc::new(builder.build().map_err(failed)?);
                    (store.clone(), Some(store))
                }
                Kind::Web => {
                    let store = web(&address, options)?.build().map_err(failed)?;
                    (Arc::new(store), None)
                }
            };
        Ok(Store {
            address,
            objects,
            pages,
        })
    }
}

fn web(address: &Address, options: &StorageOptions) -> Result<HttpBuilder, Refusal> {
    let mut headers = HeaderMap::new();
    if let Some(login) = &address.login {
        headers.insert("authorization", basic(login)?);
    }
    let mut builder = HttpBuilder::new()
        .with_url(address.url.reveal())
        .with_client_options(ClientOptions::new().with_default_headers(headers))
        .with_http_connector(Connector(Kind::Web))
        .with_retry(retries(options)?)
        .with_config(ClientConfigKey::Timeout, TIMEOUT)
        .with_config(ClientConfigKey::ReadTimeout, READ_TIMEOUT);
    if address.root.starts_with("http://") {
        builder = builder.with_config(ClientConfigKey::AllowHttp, "true");
    }
    for option in of_store(options) {
        let key = key_of(option)?;
        builder = builder.with_config(key, option.value.reveal());
    }
    Ok(builder)
}

/// The header for basic authentication.
fn basic(login: &Credentials) -> Result<HeaderValue, Refusal> {
    let user = login.user.as_deref().unwrap_or_default();
    let password = login.password.as_ref().map_or("", Secret::reveal);
    let text = base64::engine::general_purpose::STANDARD.encode(format!("{user}:{password}"));
    let mut header = HeaderValue::from_str(&format!("Basic {text}"))
        .map_err(|_| Refusal::from("a user that cannot be sent"))?;
    header.set_sensitive(true);
    Ok(header)
}

/// An option that is never passed to a store.
const NEVER: &str = "allow_invalid_certificates";

/// The options for the crate object_store, which has none for retries.
fn of_store(options: &StorageOptions) -> impl Iterator<Item = &StorageOption> {
    let is_of_retries =
        |option: &&StorageOption| matches!(option.name.as_str(), "max_retries" | "retry_timeout");
    options
        .0
        .iter()
        .filter(move |option| !is_of_retries(option))
}

fn retries(options: &StorageOptions) -> Result<RetryConfig, Refusal> {
    let number = |name: &str, default: u64| {
        let option = options.0.iter().rfind(|option| option.name == name);
        match option.map(|option| option.value.reveal().parse()) {
            None => Ok(default),
            Some(Ok(number)) => Ok(number),
            Some(Err(_)) => Err(Refusal::from(format!(
                "--storage-option {name} is a whole number; of retry_timeout, seconds"
            ))),
        }
    };
    Ok(RetryConfig {
        backoff: BackoffConfig::default(),
        max_retries: number("max_retries", 8)? as usize,
        retry_timeout: Duration::from_secs(number("retry_timeout", 120)?),
    })
}

/// The crate's key for an option.
fn key_of<K: FromStr>(option: &StorageOption) -> Result<K, Refusal> {
    Some(&option.name)
        .filter(|name| !name.ends_with(NEVER))
        .and_then(|name| name.parse().ok())
        .ok_or_else(|| unknown(option))
}

fn unknown(option: &StorageOption) -> Refusal {
    format!(
        "--storage-option {}: there is no such option here; names are those of the Rust crate object_store, \
         such as aws_region, aws_endpoint, skip_signature, timeout",
        option.name
    )
    .into()
}

/// The reason why a store cannot be opened, without the value of any option.
fn cannot_open(error: &object_store::Error, options: &StorageOptions) -> Refusal {
    let mut text = error.to_string();
    for option in options
        .0
        .iter()
        .filter(|option| !option.value.reveal().is_empty())
    {
        text = text.replace(option.value.reveal(), "...");
    }
    format!(
        "cannot be opened: \"{}\"; check the address, the environment and --storage-option",
        Name::from(text.as_str())
    )
    .into()
}
