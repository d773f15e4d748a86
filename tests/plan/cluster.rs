//! A real cluster of primaries with unequal shares, the last of them empty, and a client that follows its keys.

use std::collections::HashMap;

use crate::redis::{Client, Reply, Server, wait_for};
use slotscope::topology::Topology;

/// The slots of each primary.
const SHARES: [&[(u16, u16)]; 4] = [&[(0, 6999)], &[(7000, 12999)], &[(13000, 16383)], &[]];

pub struct Cluster {
    pub servers: Vec<Server>,
    pub ids: Vec<String>,
}

impl Cluster {
    pub fn start() -> Cluster {
        let servers: Vec<Server> = SHARES.iter().map(|_| Server::start(&[])).collect();
        let ids = servers.iter().map(|server| server.connect().call(&["CLUSTER", "MYID"]).text()).collect();
        for (i, server) in servers.iter().enumerate() {
            ok(server, &["CLUSTER", "SET-CONFIG-EPOCH", &(i + 1).to_string()]);
            for (first, last) in SHARES[i] {
                ok(server, &["CLUSTER", "ADDSLOTSRANGE", &first.to_string(), &last.to_string()]);
            }
        }
        for server in &servers[1..] {
            ok(&servers[0], &["CLUSTER", "MEET", "127.0.0.1", &server.port.to_string()]);
        }
        let cluster = Cluster { servers, ids };
        let owner = |slot: u16| SHARES.iter().position(|of| of.iter().any(|(a, b)| (*a..=*b).contains(&slot)));
        cluster.settles_on(&(0..16384).map(|slot| owner(slot).unwrap()).collect::<Vec<_>>());
        cluster
    }

    pub fn listing(&self, i: usize) -> String {
        self.servers[i].connect().call(&["CLUSTER", "NODES"]).text()
    }

    pub fn address(&self, i: usize) -> String {
        format!("127.0.0.1:{}", self.servers[i].port)
    }

    /// Waits until every node says that slot i is that of server `owner[i]`, and that all is well.
    pub fn settles_on(&self, owner: &[usize]) {
        for (i, server) in self.servers.iter().enumerate() {
            wait_for(|| {
                let listing = self.listing(i);
                let said = Topology::parse("CLUSTER NODES", listing.as_bytes()).map_err(|error| error.to_string())?;
                let is_its = |slot: u16| {
                    said.owner(slot).map(|node| &said.nodes[node].id) == self.ids.get(owner[usize::from(slot)])
                };
                let odd = (0..16384).find(|slot| !is_its(*slot));
                let info = server.connect().call(&["CLUSTER", "INFO"]).text();
                let well = info.contains("cluster_state:ok") && said.in_flight.is_empty();
                match odd {
                    None if well => Ok(()),
                    odd => Err(format!("node {i}, slot {odd:?}: {info}{listing}")),
                }
            });
        }
    }

    /// What every node holds, by key.
    pub fn contents(&self) -> Vec<HashMap<Vec<u8>, Vec<u8>>> {
        let held = |server: &Server| {
            let mut client = server.connect();
            let keys = bulks(client.call(&["KEYS", "*"]));
            let commands: Vec<Vec<&[u8]>> = keys.iter().map(|key| vec![b"GET".as_slice(), key]).collect();
            let values = bulks(Reply::Array(client.pipeline(&commands)));
            keys.into_iter().zip(values).collect()
        };
        self.servers.iter().map(held).collect()
    }
}

fn ok(server: &Server, command: &[&str]) {
    assert_eq!(server.connect().call(command), Reply::Simple("OK".into()), "{command:?}");
}

fn bulks(reply: Reply) -> Vec<Vec<u8>> {
    let Reply::Array(items) = reply else { panic!("an array expected: {reply:?}") };
    items.into_iter().map(|item| if let Reply::Bulk(bytes) = item { bytes } else { panic!("{item:?}") }).collect()
}

/// A client that knows one node at first and goes where it is sent.
pub struct Follower {
    clients: HashMap<String, Client>,
    owners: HashMap<u16, String>,
    first: String,
}

impl Follower {
    pub fn new(cluster: &Cluster) -> Follower {
        let addresses = (0..cluster.servers.len()).map(|i| cluster.address(i));
        let clients = addresses.zip(cluster.servers.iter().map(Server::connect)).collect();
        Follower { clients, owners: HashMap::new(), first: cluster.address(0) }
    }

    /// SET, until a node has taken it.
    pub fn set(&mut self, key: &[u8], value: &[u8]) {
        // Redirections are followed at once; only a cluster that has none to give is waited for.
        wait_for(|| {
            (0..16).find_map(|_| self.try_set(key, value)).unwrap_or_else(|| Err("sent round and round".into()))
        });
    }

    /// `None` after a redirection: it is to be tried again.
    fn try_set(&mut self, key: &[u8], value: &[u8]) -> Option<Result<(), String>> {
        let slot = slotscope::slot::slot(key);
        let to = self.owners.get(&slot).unwrap_or(&self.first).clone();
        let mut reply = self.client(&to).call(&[b"SET", key, value]);
        if let Some(there) = redirection(&reply, "ASK") {
            let client = self.client(&there);
            client.call(&["ASKING"]);
            reply = client.call(&[b"SET", key, value]);
        }
        if let Some(there) = redirection(&reply, "MOVED") {
            self.owners.insert(slot, there);
            return None;
        }
        match reply {
            Reply::Error(error) => Some(Err(error)),
            _ => Some(Ok(())),
        }
    }

    fn client(&mut self, address: &str) -> &mut Client {
        self.clients.get_mut(address).expect("a node of the cluster")
    }
}

/// Where the reply sends the client, if it is a redirection of this kind: `MOVED 5 127.0.0.1:7000`.
fn redirection(reply: &Reply, kind: &str) -> Option<String> {
    let Reply::Error(error) = reply else { return None };
    let mut words = error.split(' ');
    (words.next() == Some(kind)).then(|| words.nth(1)).flatten().map(String::from)
}
