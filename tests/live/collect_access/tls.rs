//! TLS: the right authority, a wrong one, none, client certificates, and server certificates that are rejected.

use rcgen::{CertificateParams, date_time_ymd};

use crate::collect_access::fill;
use crate::collect_access::{collect, manifest};
use testkit::cluster::{Cluster, even};
use testkit::kinds::Kind;
use testkit::redis::Server;
use testkit::run::{Scratch, assert_fails, code, stderr, words};
use testkit::tls::Authority;

#[test]
fn a_cluster_with_tls_is_collected_by_whom_it_trusts_and_who_trusts_it() {
    let [authority, other] = [Authority::new(), Authority::new()];
    let cluster = Cluster::made_of(Kind::Installed, &even(3), |_| authority.options("yes"));
    let keys = fill(&cluster);
    let (port, plain) = (
        cluster.servers[0].tls_port.unwrap(),
        cluster.servers[0].port,
    );
    let url = |port: u16| format!("rediss://localhost:{port}");
    let text = |path: std::path::PathBuf| path.to_str().unwrap().to_owned();
    let [certificate, key] = authority.certificate().map(text);
    let (ca, wrong) = (text(authority.ca()), text(other.ca()));
    let identity = ["--tls-cert", &certificate, "--tls-key", &key];
    let trusting = [&["--tls-ca", &ca], &identity[..]].concat();

    let scratch = Scratch::new();
    let run = collect(&scratch, &url(port), None, &trusting);
    assert_eq!(manifest(&scratch, &run)["keys"], keys.len());

    // The flags of redis-cli, and a name in place of each server's host.
    let scratch = Scratch::new();
    let line = format!("--tls --cacert {ca} --cert {certificate} --key {key} --sni localhost");
    let as_redis_cli = words(&line);
    let run = collect(
        &scratch,
        &format!("redis://127.0.0.1:{port}"),
        None,
        &as_redis_cli,
    );
    assert_eq!(manifest(&scratch, &run)["keys"], keys.len());

    for (url, flags, part) in [
        (
            url(port),
            [&["--tls-ca", &wrong], &identity[..]].concat(),
            "--tls-ca",
        ),
        (url(port), identity.to_vec(), "--tls-ca"),
        (url(port), vec!["--tls-ca", &ca], "--tls-cert"),
        (
            url(plain),
            [&trusting[..], &["--timeout", "1h"]].concat(),
            "speaks plain text",
        ),
        (
            format!("redis://localhost:{port}"),
            Vec::new(),
            "speaks TLS; write rediss://",
        ),
        (
            url(port),
            [&trusting[..], &["--sni", "other.example"]].concat(),
            "not for other.example but for localhost, 127.0.0.1",
        ),
        (url(port), vec!["--tls-ca", &key], "no certificate"),
        (url(port), vec!["--tls-cert", &certificate], "--tls-key"),
    ] {
        let scratch = Scratch::new();
        let run = collect(&scratch, &url, None, &flags);
        assert_eq!(code(&run), 2, "{flags:?}");
        assert!(
            stderr(&run).contains(part),
            "{url} {flags:?}: {}",
            stderr(&run)
        );
        assert!(scratch.entries("").is_empty(), "{flags:?}");
    }
}

#[test]
fn a_certificate_that_is_not_accepted_is_explained_in_words() {
    let for_names = |names: &[&str]| {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        CertificateParams::new(names).unwrap()
    };
    let [mut expired, mut early] = [(); 2].map(|()| for_names(&["127.0.0.1"]));
    expired.not_after = date_time_ymd(2020, 3, 1);
    early.not_before = date_time_ymd(3000, 1, 1);
    let cases: [(Option<CertificateParams>, &[&str]); 5] = [
        (Some(expired), &["expired on 2020-03-01"]),
        (Some(early), &["not valid before 3000-01-01"]),
        (
            Some(for_names(&["db.example"])),
            &["is not for 127.0.0.1 but for db.example;", "--sni"],
        ),
        (Some(for_names(&[])), &["for no name", "subjectAltName"]),
        (
            None,
            &["certificate of an authority as its own", "--tls-ca"],
        ),
    ];
    for (params, parts) in cases {
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
        let ca = authority.ca();
        let scratch = Scratch::new();
        let run = collect(&scratch, &url, None, &["--tls-ca", ca.to_str().unwrap()]);
        assert_fails(&run, parts);
        let said = stderr(&run);
        assert!(!said.contains('(') || said.contains("(CA:"), "{said}");
    }
}
