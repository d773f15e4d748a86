//! The nodes of a collection: from its cluster listing, or the single server it was taken from.

use serde_json::{Value, json};

use slotscope_base::error::{Error, Result};
use slotscope_base::name::Name;
use slotscope_base::slot::SLOTS;
use slotscope_read::source::collection::Collection;
use slotscope_read::source::collection::manifest::{Manifest, NODES_FILE, NodeEntry};
use slotscope_topology::Topology;

use crate::pipeline::reading::Reading;

/// The nodes of a collection among `collections`; `None` if there are none.
///
/// # Errors
/// As for `listing`, or a listing cannot be read.
pub fn topology(collections: &[Collection]) -> Result<Option<Topology>> {
    let listing = listing(collections)?;
    let parsed = listing.map(|(source, bytes)| Topology::parse(&source, &bytes));
    parsed.transpose()
}

/// The nodes listed by a collection, or next to dumps in directories.
///
/// # Errors
/// As for `topology`, or no listing can be read.
pub(crate) fn beside(reading: &Reading) -> Result<Option<Topology>> {
    match topology(&reading.collections)? {
        None => Topology::newest(&reading.listings),
        topology => Ok(topology),
    }
}

/// The source and content of their listing.
///
/// # Errors
/// A file cannot be read, or there are listings of two clusters.
pub(crate) fn listing(collections: &[Collection]) -> Result<Option<(String, Vec<u8>)>> {
    let is_cluster = |collection: &&Collection| collection.manifest.cluster;
    let clusters: Vec<_> = collections.iter().filter(is_cluster).collect();
    match clusters.as_slice() {
        [] => Ok(match collections {
            [only] => of_lone_server(&only.manifest),
            _ => None,
        }),
        [only] => Topology::listing(&only.file(NODES_FILE)?).map(Some),
        [first, second, ..] => {
            let reason = format!(
                "is the collection of a cluster, and \"{}\" too: name one, or the nodes with --topology FILE",
                Name::from(first.directory.as_path())
            );
            Err(Error::bad_file(second.directory.as_path(), reason))
        }
    }
}

/// CLUSTER SLOTS as a standalone server would reply: it owns all slots.
fn of_lone_server(manifest: &Manifest) -> Option<(String, Vec<u8>)> {
    let [only] = manifest.nodes.as_slice() else {
        return None;
    };
    let mut servers = manifest.servers.iter();
    let server = servers.find(|server| server.name == only.name);
    let count = server.and_then(|server| server.last()?.connected_slaves);
    let replicas = (0..count.unwrap_or(0)).map(|_| json!(["?", 0, "a replica"]));
    let entry: Vec<Value> = [json!(0), json!(SLOTS - 1), primary(only)]
        .into_iter()
        .chain(replicas)
        .collect();
    Some((only.name.clone(), json!([entry]).to_string().into_bytes()))
}

fn primary(node: &NodeEntry) -> Value {
    let address = node.name.rsplit_once(':');
    let place = address.and_then(|(host, port)| Some((host, port.parse::<u16>().ok()?)));
    let (host, port) = place.unwrap_or(("?", 0));
    json!([host, port, node.name])
}

#[cfg(test)]
mod tests {
    use super::*;
    use slotscope_read::source::collection::manifest::example;

    fn lone(name: &str) -> Topology {
        let mut manifest = example(&["keys.csv"]);
        manifest.nodes[0].name = name.into();
        let (source, bytes) = of_lone_server(&manifest).unwrap();
        Topology::parse(&source, &bytes).unwrap()
    }

    #[test]
    fn a_lone_server_has_all_slots_whatever_its_name() {
        let names = [
            "127.0.0.1:6379",
            "db.example:6380",
            "::1:7000",
            "/run/redis.sock",
        ];
        for name in names {
            let topology = lone(name);
            assert_eq!((topology.nodes.len(), topology.nodes[0].slots), (1, 16384));
            assert_eq!(topology.nodes[0].name().to_string(), name);
        }
    }
}
