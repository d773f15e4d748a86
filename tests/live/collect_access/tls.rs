//! TLS: the right authority, a wrong one, none, and certificates of clients.

use crate::collect_access::rig::fill;
use crate::collect_access::{collect, manifest};
use testkit::cluster::{Cluster, even};
use testkit::kinds::Kind;
use testkit::run::{Scratch, code, stderr};
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

    // The flags of redis-cli, and a name in place of the host of each server.
    let scratch = Scratch::new();
    let as_redis_cli = [
        "--tls",
        "--cacert",
        &ca,
        "--cert",
        &certificate,
        "--key",
        &key,
        "--sni",
        "localhost",
    ];
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
            [&trusting[..], &["--timeout", "1s"]].concat(),
            "no answer",
        ),
        (format!("redis://localhost:{port}"), Vec::new(), "rediss://"),
        (
            url(port),
            [&trusting[..], &["--sni", "other.example"]].concat(),
            "other.example",
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
