//! Google Cloud Storage by the parts of its XML interface that this server emulates: gcp-storage-emulator has neither its
//! listings nor its entity tags.

use super::server::Server;
use super::{contents, dumps, report_here, report_of};

#[test]
fn a_report_from_google_is_that_of_the_same_files() {
    let (scratch, names) = dumps();
    let mut files = contents(&scratch, &names);
    files.push(("deeper/x".into(), Vec::new()));
    for (name, _) in &mut files {
        *name = format!("bucket/in/{}", name.replace("%20", " "));
    }
    let files: [_; 5] = std::array::from_fn(|at| (&*files[at].0, &*files[at].1));
    let server = Server::start(files);
    let endpoint = server.endpoint();
    let variables = [
        ("GOOGLE_BASE_URL", &*endpoint),
        ("GOOGLE_SKIP_SIGNATURE", "true"),
    ];
    let (there, _) = report_of("gs://bucket/in/*.*", &variables);
    assert!(there == report_here(&scratch));
    let asked = server.asked();
    let pages = asked
        .iter()
        .filter(|asked| asked.target.contains("list-type=2"));
    assert_eq!(pages.count(), 3);
}
