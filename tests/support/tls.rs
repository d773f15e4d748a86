//! A test certificate authority, and the settings for a TLS server with its certificates. The server's plain port stays
//! open for the test itself.

use std::path::{Path, PathBuf};

use crate::redis::free_port;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};

/// A certificate authority with its files.
pub struct Authority {
    folder: tempfile::TempDir,
    issuer: CertifiedIssuer<'static, KeyPair>,
}

impl Authority {
    /// Creates it, with a certificate for 127.0.0.1 and localhost, which servers and clients present.
    pub fn new() -> Authority {
        let folder = tempfile::tempdir().unwrap();
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params
            .distinguished_name
            .push(DnType::CommonName, "authority of a test");
        let issuer = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
        let authority = Authority { folder, issuer };
        authority.write("ca.pem", authority.issuer.pem());
        let names = ["localhost", "127.0.0.1"].map(String::from);
        let params = CertificateParams::new(names).unwrap();
        authority.sign(params);
        authority
    }

    /// Creates and signs another certificate, which replaces the one that servers and clients present.
    pub fn sign(&self, params: CertificateParams) {
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        self.write("cert.pem", certificate.pem());
        self.write("key.pem", key.serialize_pem());
    }

    /// Makes servers present the authority's own certificate.
    pub fn show_own(&self) {
        self.write("cert.pem", self.issuer.pem());
        self.write("key.pem", self.issuer.key().serialize_pem());
    }

    fn write(&self, name: &str, text: String) {
        std::fs::write(self.folder.path().join(name), text).unwrap();
    }

    /// The certificate of the authority.
    pub fn ca(&self) -> PathBuf {
        self.folder.path().join("ca.pem")
    }

    /// The signed certificate and its key.
    pub fn certificate(&self) -> [PathBuf; 2] {
        ["cert.pem", "key.pem"].map(|name| self.folder.path().join(name))
    }

    /// Options of a TLS server at a free port; `clients` says whether clients must present a certificate: `yes` or
    /// `no`.
    pub fn options(&self, clients: &str) -> Vec<String> {
        let [certificate, key] = self.certificate();
        let text = |path: &Path| path.to_str().unwrap().to_owned();
        let (certificate, key, ca) = (text(&certificate), text(&key), text(&self.ca()));
        let files = format!("--tls-cert-file {certificate} --tls-key-file {key}");
        let line = format!(
            "--tls-port {} {files} --tls-ca-cert-file {ca} --tls-auth-clients {clients} \
             --tls-cluster yes --tls-replication yes",
            free_port()
        );
        line.split(' ').map(String::from).collect()
    }
}
