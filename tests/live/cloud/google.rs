//! Google Cloud Storage by the parts of its XML interface that this server emulates: gcp-storage-emulator has neither its
//! listings nor its entity tags.

use super::server::Server;
use super::{dumps, report_of};

#[test]
fn a_report_from_google_is_that_of_the_same_files() {
    let (scratch, names) = dumps();
    let read = |name: &str| std::fs::read(scratch.path("dumps").join(name)).unwrap();
    let paths = names.map(|name| format!("bucket/in/{name}"));
    let contents = names.map(read);
    let server = Server::start([
        (&paths[0], &*contents[0]),
        (&paths[1], &contents[1]),
        (&paths[2], &contents[2]),
        (&paths[3], &contents[3]),
        ("bucket/in/deeper/x", b""),
    ]);
    let url = server.url("");
    let variables = [
        ("GOOGLE_BASE_URL", url.trim_end_matches('/')),
        ("GOOGLE_SKIP_SIGNATURE", "true"),
    ];
    let (here, _) = report_of(&[scratch.path("dumps").to_str().unwrap()], &[]);
    let (there, _) = report_of(&["gs://bucket/in/*.*"], &variables);
    assert!(there == here);
    let pages = server.asked();
    let pages = pages
        .iter()
        .filter(|asked| asked.target.contains("list-type=2"));
    assert_eq!(pages.count(), 3);
}
