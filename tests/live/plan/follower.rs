//! A client that follows its keys through a cluster with moving slots.

use std::collections::HashMap;

use testkit::cluster::{Cluster, bulks};
use testkit::redis::{Client, Reply, Server, wait_for};

/// The content of every primary, by key; replicas have nothing of their own.
pub(crate) fn contents(cluster: &Cluster) -> Vec<HashMap<Vec<u8>, Vec<u8>>> {
    let held = |server: &Server| {
        let mut client = server.connect();
        let role = client.call(&["INFO", "replication"]).text();
        if !role.contains("role:master") {
            return HashMap::new();
        }
        let keys = bulks(client.call(&["KEYS", "*"]));
        let commands: Vec<Vec<&[u8]>> = keys.iter().map(|key| vec![&b"GET"[..], key]).collect();
        let values = bulks(Reply::Array(client.pipeline(&commands)));
        keys.into_iter().zip(values).collect()
    };
    cluster.servers.iter().map(held).collect()
}

/// A client that initially knows one node and follows redirections.
pub(crate) struct Follower {
    clients: HashMap<String, Client>,
    owners: HashMap<u16, String>,
    first: String,
}

impl Follower {
    pub(crate) fn new(cluster: &Cluster) -> Follower {
        let addresses = (0..cluster.servers.len()).map(|i| cluster.address(i));
        let clients = addresses
            .zip(cluster.servers.iter().map(Server::connect))
            .collect();
        Follower {
            clients,
            owners: HashMap::new(),
            first: cluster.address(0),
        }
    }

    /// Runs SET until a node has accepted it.
    pub(crate) fn set(&mut self, key: &[u8], value: &[u8]) {
        self.call(key, &[b"SET", key, value]);
    }

    /// Runs a command on a key until the owner has executed it.
    pub(crate) fn call(&mut self, key: &[u8], command: &[&[u8]]) -> Reply {
        // Redirections are followed at once; it waits only if the cluster does not redirect.
        wait_for(|| {
            (0..16)
                .find_map(|_| self.try_call(key, command))
                .unwrap_or_else(|| Err("sent round and round".into()))
        })
    }

    /// `None` after a redirection: retry.
    fn try_call(&mut self, key: &[u8], command: &[&[u8]]) -> Option<Result<Reply, String>> {
        let slot = slotscope::slot::slot(key);
        let to = self.owners.get(&slot).unwrap_or(&self.first).clone();
        let mut reply = self.client(&to).call(command);
        if let Some(there) = redirection(&reply, "ASK") {
            let client = self.client(&there);
            client.call(&["ASKING"]);
            reply = client.call(command);
        }
        if let Some(there) = redirection(&reply, "MOVED") {
            self.owners.insert(slot, there);
            return None;
        }
        match reply {
            Reply::Error(error) => Some(Err(error)),
            reply => Some(Ok(reply)),
        }
    }

    fn client(&mut self, address: &str) -> &mut Client {
        self.clients
            .get_mut(address)
            .expect("a node of the cluster")
    }
}

/// The target of a redirection of this kind: `MOVED 5 127.0.0.1:7000`.
fn redirection(reply: &Reply, kind: &str) -> Option<String> {
    let Reply::Error(error) = reply else {
        return None;
    };
    let mut words = error.split(' ');
    (words.next() == Some(kind))
        .then(|| words.nth(1))
        .flatten()
        .map(String::from)
}
