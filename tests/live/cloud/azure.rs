//! Azure Blob Storage, emulated by azurite.

use std::process::Command;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use super::{Started, contents, dumps, installed, report_here, report_of, run_with};
use testkit::run::{Ran, words};

/// The account that every azurite has, and its published key.
const ACCOUNT: &str = "devstoreaccount1";
const KEY: &str =
    "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";

fn azurite() -> Started {
    let mut command = Command::new(installed("azurite/node_modules/.bin/azurite-blob"));
    command.args(words(
        "--blobHost 127.0.0.1 --blobPort 0 --inMemoryPersistence",
    ));
    command.args(["--skipApiVersionCheck", "--disableTelemetry"]);
    Started::new(&mut command, "successfully listens on")
}

/// Puts something into the account, signed as the service requires.
fn put(server: &Started, path: &str, query: &str, body: &[u8]) {
    let date = "Sun, 22 Nov 2026 10:00:00 GMT";
    let is_blob = query.is_empty();
    let kind = ["", "x-ms-blob-type:BlockBlob\n"][usize::from(is_blob)];
    let length = Some(body.len()).filter(|len| *len > 0);
    let length = length.map_or(String::new(), |len| len.to_string());
    let resource = format!("/{ACCOUNT}/{ACCOUNT}/{path}{}", query.replace('=', ":"));
    let signed = format!(
        "PUT\n\n\n{length}\n\n\n\n\n\n\n\n\n{kind}x-ms-date:{date}\nx-ms-version:2021-08-06\n{resource}"
    );
    let mut mac = Hmac::<Sha256>::new_from_slice(&STANDARD.decode(KEY).unwrap()).unwrap();
    mac.update(signed.replace("?", "\n").as_bytes());
    let signature = STANDARD.encode(mac.finalize().into_bytes());
    let authorization = format!("SharedKey {ACCOUNT}:{signature}");
    let mut headers = vec![
        ("x-ms-date", date),
        ("x-ms-version", "2021-08-06"),
        ("Authorization", &authorization),
    ];
    headers.extend(is_blob.then_some(("x-ms-blob-type", "BlockBlob")));
    server.send("PUT", &format!("/{ACCOUNT}/{path}{query}"), &headers, body);
}

#[test]
fn a_report_from_azure_is_that_of_the_same_files() {
    let server = azurite();
    put(&server, "box", "?restype=container", b"");
    let (scratch, names) = dumps();
    for (name, content) in contents(&scratch, &names) {
        put(&server, &format!("box/in/{name}"), "", &content);
    }
    let url = format!("http://{}", server.address);
    let variables = [
        ("AZURE_STORAGE_USE_EMULATOR", "true"),
        ("AZURITE_BLOB_STORAGE_URL", url.as_str()),
    ];
    let here = report_here(&scratch);
    for address in ["az://box/in/", "abfs://box/in/*"] {
        let (there, _) = report_of(address, &variables);
        assert!(there == here, "{address}");
    }
    for (address, what) in [
        ("az://box/no", "no such object"),
        ("az://nothing/no", "no such bucket or container"),
    ] {
        let output = run_with(&format!("analyze {address}"), &variables);
        output.refused(&format!("{address} | {what}"));
    }
}
