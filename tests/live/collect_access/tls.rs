//! TLS: the right authority, a wrong one, none, client certificates, and server certificates that are rejected.

use rcgen::{CertificateParams, date_time_ymd};

use crate::collect_access::{collect, collected, fill};
use testkit::cluster::{Cluster, even};
use testkit::kinds::Kind;
use testkit::prelude::*;
use testkit::redis::Server;
use testkit::tls::Authority;
#[test]
fn a_cluster_with_tls_is_collected_by_whom_it_trusts_and_who_trusts_it() {
    let [authority, other] = [Authority::new(), Authority::new()];
    let cluster = Cluster::made_of(Kind::Installed, &even(3), |_| authority.options("yes"));
    let keys = fill(&cluster).len();
    let server = &cluster.servers[0];
    let port = server.tls_port.unwrap();
    let (tls, plain) = (
        format!("localhost:{port}"),
        format!("localhost:{}", server.port),
    );
    let [certificate, key] = authority
        .certificate()
        .map(|path| path.display().to_string());
    let [ca, wrong] = [&authority, &other].map(|of| format!("--tls-ca {}", of.ca().display()));
    let identity = format!("--tls-cert {certificate} --tls-key {key}");

    let found = collected(
        &Scratch::new(),
        &format!("rediss://{tls}"),
        &format!("{ca} {identity}"),
    );
    assert_eq!(found["keys"], keys);
    // The flags of redis-cli, and a name in place of each server's host.
    let cacert = authority.ca();
    let as_redis_cli = format!("--tls --cacert {} --cert {certificate}", cacert.display());
    let flags = format!("{as_redis_cli} --key {key} --sni localhost");
    let found = collected(
        &Scratch::new(),
        &format!("redis://127.0.0.1:{port}"),
        &flags,
    );
    assert_eq!(found["keys"], keys);

    let refused = format!(
        "rediss://{tls} {wrong} {identity} | --tls-ca
        rediss://{tls} {identity} | --tls-ca
        rediss://{tls} {ca} | --tls-cert
        rediss://{plain} {ca} {identity} --timeout 1h | speaks plain text
        redis://{tls} | speaks TLS; write rediss://
        rediss://{tls} {ca} {identity} --sni other.example | not for other.example but for localhost, 127.0.0.1
        rediss://{tls} --tls-ca {key} | no certificate"
    );
    let scratch = Scratch::new();
    for row in refused.lines() {
        scratch.refuses(&format!("collect -o all {}", row.trim()));
    }
    let flags = format!("--tls-cert {certificate}");
    let run = collect(&scratch, &format!("rediss://{tls}"), &flags);
    stderr(&run).says("not provided").says("--tls-key");
    assert_eq!(scratch.entries(""), [""; 0]);
}
#[test]
fn a_certificate_that_is_not_accepted_is_explained_in_words() {
    let for_name = |name: &str| CertificateParams::new([name.to_owned()]).unwrap();
    let [mut expired, mut early] = [(); 2].map(|()| for_name("127.0.0.1"));
    expired.not_after = date_time_ymd(2020, 3, 1);
    early.not_before = date_time_ymd(3000, 1, 1);
    let other = "is not for 127.0.0.1 but for db.example; | --sni";
    let own = "certificate of an authority as its own | --tls-ca";
    for (params, parts) in [
        (Some(expired), "expired on 2020-03-01"),
        (Some(early), "not valid before 3000-01-01"),
        (Some(for_name("db.example")), other),
        (
            Some(CertificateParams::default()),
            "for no name | subjectAltName",
        ),
        (None, own),
    ] {
        let authority = Authority::new();
        match params {
            Some(params) => authority.sign(params),
            None => authority.show_own(),
        }
        let options = authority.options("no");
        let mut options: Vec<&str> = options.iter().map(String::as_str).collect();
        options.truncate(10);
        options.extend(["--cluster-enabled", "no"]);
        let server = Server::start(&options);
        let url = format!("rediss://127.0.0.1:{}", server.tls_port.unwrap());
        let ca = format!("--tls-ca {}", authority.ca().display());
        let run = collect(&Scratch::new(), &url, &ca);
        run.refused(parts);
        let said = stderr(&run);
        assert!(!said.contains('(') || said.contains("(CA:"), "{said}");
    }
}
