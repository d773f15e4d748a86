//! TLS: trusted certificates, and the client certificate. Verification cannot be disabled.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::client::WantsClientCert;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, ClientConnection, ConfigBuilder, RootCertStore};

use slotscope_base::error::{Error, Result};
use slotscope_base::name::Name;
use slotscope_read::source::collection::manifest::TlsEntry;

/// The files of TLS.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tls {
    /// Certificate authorities to trust instead of the system's.
    pub authorities: Option<PathBuf>,
    /// The client's certificate, and its key.
    pub identity: Option<(PathBuf, PathBuf)>,
    /// The name expected in all server certificates, instead of each host.
    pub server_name: Option<String>,
}

/// The TLS configuration shared by all connections of a run.
#[derive(Debug, Clone)]
pub struct TlsConfig {
    config: Arc<ClientConfig>,
    files: Tls,
}

impl TlsConfig {
    /// Reads the files.
    ///
    /// # Errors
    /// A file cannot be read or has other content.
    pub fn load(tls: &Tls) -> Result<TlsConfig> {
        let roots = match &tls.authorities {
            Some(path) => roots_in(path)?,
            None => roots_of_system()?,
        };
        let builder = builder(roots)?;
        let config = match &tls.identity {
            None => builder.with_no_client_auth(),
            Some((certificate, key)) => {
                let chain = certificates(certificate)?;
                let private = PrivateKeyDer::from_pem_file(key)
                    .map_err(|error| unusable(key, "private key", &error))?;
                builder
                    .with_client_auth_cert(chain, private)
                    .map_err(|error| {
                        Error::bad(
                            place(certificate),
                            format!("{error}; --tls-cert and --tls-key belong together"),
                        )
                    })?
            }
        };
        Ok(TlsConfig {
            config: Arc::new(config),
            files: tls.clone(),
        })
    }

    /// A configuration that accepts no certificate.
    #[cfg(test)]
    pub(crate) fn trusting_nobody() -> TlsConfig {
        let config = builder(RootCertStore::empty()).unwrap();
        TlsConfig {
            config: Arc::new(config.with_no_client_auth()),
            files: Tls::default(),
        }
    }

    /// The files with absolute paths, for other programs.
    pub(crate) fn entry(&self) -> TlsEntry {
        let absolute = |path: &PathBuf| {
            let path = std::path::absolute(path).unwrap_or_else(|_| path.clone());
            path.to_string_lossy().into_owned()
        };
        TlsEntry {
            ca: self.files.authorities.as_ref().map(absolute),
            cert: self.files.identity.as_ref().map(|(cert, _)| absolute(cert)),
            key: self.files.identity.as_ref().map(|(_, key)| absolute(key)),
        }
    }

    /// A session with the server called `host`.
    ///
    /// # Errors
    /// `host` cannot be the name in a certificate.
    pub fn session(&self, host: &str) -> Result<ClientConnection> {
        let host = self.files.server_name.as_deref().unwrap_or(host);
        let name = ServerName::try_from(host.to_owned())
            .map_err(|_| Error::bad_file(host, "no name that a certificate could have"))?;
        ClientConnection::new(Arc::clone(&self.config), name)
            .map_err(|error| Error::bad_file(host, error.to_string()))
    }
}

fn builder(roots: RootCertStore) -> Result<ConfigBuilder<ClientConfig, WantsClientCert>> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder =
        ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let builder = builder.map_err(|error| Error::bad("TLS", error.to_string()))?;
    Ok(builder.with_root_certificates(roots))
}

fn roots_in(path: &Path) -> Result<RootCertStore> {
    let mut roots = RootCertStore::empty();
    for certificate in certificates(path)? {
        roots.add(certificate).map_err(|error| {
            Error::bad(
                place(path),
                format!("{error}; name the certificate of the authority"),
            )
        })?;
    }
    Ok(roots)
}

fn roots_of_system() -> Result<RootCertStore> {
    let mut roots = RootCertStore::empty();
    let (added, _) =
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    match added {
        0 => Err(Error::bad(
            "TLS",
            "the system trusts no certificate authority; name a file with --tls-ca",
        )),
        _ => Ok(roots),
    }
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>> {
    match CertificateDer::pem_file_iter(path)
        .and_then(Iterator::collect::<std::result::Result<Vec<_>, _>>)
    {
        Ok(certificates) if certificates.is_empty() => Err(Error::bad(
            place(path),
            "no certificate in it; a PEM file is needed",
        )),
        Ok(certificates) => Ok(certificates),
        Err(error) => Err(unusable(path, "certificate", &error)),
    }
}

fn unusable(path: &Path, part: &str, error: &rustls::pki_types::pem::Error) -> Error {
    match error {
        rustls::pki_types::pem::Error::Io(error) => {
            Error::io(path, std::io::Error::from(error.kind()))
        }
        _ => Error::bad(
            place(path),
            format!("no {part} that can be read; a PEM file is needed"),
        ),
    }
}

fn place(path: &Path) -> String {
    Name::from(path).to_string()
}
