//! Real clusters of the servers in `redis.rs`, all started in the same way: every node agrees on the slots' owners
//! before a test begins.

use std::collections::BTreeSet;
use std::ops::Range;

use crate::kinds::Kind;
use crate::redis::{Client, Reply, Server, wait_for};
use crate::run::words;
use slotscope::slot::slot;
use slotscope::topology::Topology;

/// The inclusive slot ranges of a node.
pub type Ranges = Vec<(u16, u16)>;

/// An option: busy servers are not considered failed.
const PATIENT: [&str; 2] = ["--cluster-node-timeout", "60000"];

/// A running cluster; dropping it stops its servers.
pub struct Cluster {
    kind: Kind,
    /// The primaries in the order of their shares, then the replicas.
    pub servers: Vec<Server>,
    /// The id of each server.
    pub ids: Vec<String>,
    /// The primary that owns each slot.
    owners: Vec<usize>,
}

impl Cluster {
    /// Starts primaries with these shares, which together are all slots.
    pub fn start(shares: &[Ranges]) -> Cluster {
        Cluster::with_options(shares, |_| Vec::new())
    }

    /// Starts primaries with equal shares, split as redis-cli does.
    pub fn even(nodes: usize) -> Cluster {
        Cluster::start(&even(nodes))
    }

    /// The same for servers of a kind.
    pub fn of(kind: Kind, shares: &[Ranges]) -> Cluster {
        Cluster::made_of(kind, shares, |_| Vec::new())
    }

    /// The same; server i gets `options(i)` on its command line.
    pub fn with_options(shares: &[Ranges], options: impl Fn(usize) -> Vec<String>) -> Cluster {
        Cluster::made_of(Kind::Installed, shares, options)
    }

    /// Three primaries with equal shares and a replica each, which takes over once it is told to: they consider no busy
    /// server failed. Every server gets `options`.
    pub fn with_replicas(kind: Kind, options: &[String]) -> Cluster {
        let options = [&PATIENT.map(String::from), options].concat();
        let mut cluster = Cluster::made_of(kind, &even(3), |_| options.clone());
        cluster.add_replicas(&[0, 1, 2], &options);
        cluster
    }

    /// Three primaries that count by slot if they can, with `keys` users. They consider no busy server failed, as they
    /// then would refuse commands.
    pub fn counting(kind: Kind, keys: usize) -> Cluster {
        let patient = PATIENT.map(String::from);
        let counts = ["--cluster-slot-stats-enabled", "yes"].map(String::from);
        let cluster = Cluster::made_of(kind, &even(3), |_| match kind {
            Kind::Installed => patient.to_vec(),
            _ => [&patient[..], &counts].concat(),
        });
        cluster.set_all((0..keys).map(|id| (format!("user:{id}"), "a secret value")));
        cluster
    }

    /// Sends all running servers a command that must return OK.
    #[track_caller]
    pub fn tell_all(&self, command: &str) {
        for server in self.servers.iter().filter(|server| !server.is_stopped()) {
            call_ok(&mut server.connect(), &words(command));
        }
    }

    /// Like `with_options`, for servers of a kind.
    pub fn made_of(
        kind: Kind,
        shares: &[Ranges],
        options: impl Fn(usize) -> Vec<String>,
    ) -> Cluster {
        let mut cluster = Cluster {
            kind,
            servers: Vec::new(),
            ids: Vec::new(),
            owners: vec![usize::MAX; 16384],
        };
        for (i, share) in shares.iter().enumerate() {
            cluster.launch(&options(i));
            for (first, last) in share {
                let range = ["ADDSLOTSRANGE", &first.to_string(), &last.to_string()];
                cluster.tell(i, &range);
                cluster.owners[usize::from(*first)..=usize::from(*last)].fill(i);
            }
        }
        assert!(cluster.owners.iter().all(|owner| *owner < shares.len()));
        (1..shares.len()).for_each(|i| cluster.introduce(i, 0..i));
        cluster.settle();
        cluster
    }

    /// Starts a replica of each of these servers, in this order.
    pub fn add_replicas(&mut self, primaries: &[usize], options: &[String]) {
        let first = self.servers.len();
        primaries.iter().for_each(|_| self.launch(options));
        for (replica, primary) in (first..).zip(primaries) {
            self.introduce(replica, 0..replica);
            let mut client = self.servers[replica].connect();
            wait_for(
                || match client.call(&["CLUSTER", "REPLICATE", &self.ids[*primary]]) {
                    Reply::Simple(_) => Ok(()),
                    not_met_yet => Err(format!("{not_met_yet:?}")),
                },
            );
            // Each learns the new role from this, and by gossip seconds later.
            self.introduce(replica, 0..replica);
        }
        (first..self.servers.len()).for_each(|replica| self.all_mark(replica, "slave"));
        self.settle();
    }

    /// Waits until node `of` is a `master` or a `slave` in every listing.
    pub fn all_mark(&self, of: usize, role: &str) {
        for i in 0..self.servers.len() {
            wait_for(|| {
                let (listing, id) = (self.nodes(i), &self.ids[of]);
                let mut lines = listing.lines();
                let is_marked = lines.any(|line| line.starts_with(id) && line.contains(role));
                is_marked.then_some(()).ok_or(listing)
            });
        }
    }

    /// Starts another server, which knows no other.
    fn launch(&mut self, options: &[String]) {
        let options: Vec<&str> = options.iter().map(String::as_str).collect();
        let server = self.kind.start(&options);
        self.ids
            .push(server.connect().call(&["CLUSTER", "MYID"]).text());
        self.servers.push(server);
        let i = self.servers.len() - 1;
        // Distinct epochs from the start, or the nodes would first have to resolve conflicts.
        self.tell(i, &["SET-CONFIG-EPOCH", &(i + 1).to_string()]);
    }

    /// Has server `i` meet these others, to which it sends its role and its slots.
    fn introduce(&self, i: usize, others: Range<usize>) {
        for other in &self.servers[others] {
            // Nodes with a TLS port use it among themselves.
            let port = other.tls_port.unwrap_or(other.port).to_string();
            self.tell(i, &["MEET", "127.0.0.1", &port]);
        }
    }

    /// Sends server `i` a CLUSTER command, which must succeed.
    fn tell(&self, i: usize, command: &[&str]) {
        let command = [&["CLUSTER"], command].concat();
        call_ok(&mut self.servers[i].connect(), &command);
    }

    /// The reply of server `i` to CLUSTER NODES.
    pub fn nodes(&self, i: usize) -> String {
        self.servers[i].connect().call(&["CLUSTER", "NODES"]).text()
    }

    pub fn address(&self, i: usize) -> String {
        self.servers[i].address()
    }

    /// A connection to the node that owns a key.
    pub fn owner_of(&self, key: &[u8]) -> Client {
        self.servers[self.owners[usize::from(slot(key))]].connect()
    }

    /// The address of the node that owns a key.
    pub fn owner_address(&self, key: &[u8]) -> String {
        self.address(self.owners[usize::from(slot(key))])
    }

    /// Waits until every node reports that slot i belongs to server `owners[i]`, that the cluster is healthy, and that it knows
    /// all others.
    pub fn settles_on(&self, owners: &[usize]) {
        let expected: Vec<&String> = owners.iter().map(|owner| &self.ids[*owner]).collect();
        let servers = self.servers.iter().enumerate();
        let running: Vec<_> = servers.filter(|(_, server)| !server.is_stopped()).collect();
        for (i, server) in &running {
            wait_for(|| {
                let listing = self.nodes(*i);
                let info = server.connect().call(&["CLUSTER", "INFO"]).text();
                let found = Topology::parse("CLUSTER NODES", listing.as_bytes())
                    .map_err(|error| error.to_string())?;
                let owner = |slot: u16| found.owner(slot).map(|node| &found.nodes[node].id);
                let differing = (0..16384)
                    .find(|slot| owner(*slot) != expected.get(usize::from(*slot)).copied());
                let is_known = |other: &usize| listing.contains(&self.ids[*other]);
                let well = info.contains("cluster_state:ok")
                    && found.in_flight.is_empty()
                    && !listing.contains("handshake")
                    && running.iter().all(|(other, _)| is_known(other));
                match differing {
                    None if well => Ok(()),
                    slot => Err(format!("node {i}, slot {slot:?}: {info}{listing}")),
                }
            });
        }
    }

    fn settle(&self) {
        self.settles_on(&self.owners);
    }

    /// Sets keys on the primaries that own them.
    pub fn set_all<K: AsRef<[u8]>, V: AsRef<[u8]>>(&self, rows: impl IntoIterator<Item = (K, V)>) {
        let mut of_nodes: Vec<Vec<(K, V)>> = self.servers.iter().map(|_| Vec::new()).collect();
        for row in rows {
            of_nodes[self.owner(slot(row.0.as_ref()))].push(row);
        }
        for (server, rows) in self.servers.iter().zip(&of_nodes) {
            if !rows.is_empty() {
                server.connect().set_all(rows);
            }
        }
    }

    /// The primary that owns a slot.
    pub fn owner(&self, slot: u16) -> usize {
        self.owners[usize::from(slot)]
    }

    /// Waits until every replica is in sync with its primary.
    pub fn wait_for_replicas(&self) {
        for server in self.servers.iter().filter(|server| !server.is_stopped()) {
            wait_for(|| {
                let info = server.connect().call(&["INFO", "replication"]).text();
                let field = |name: &str| info.lines().find_map(|line| line.strip_prefix(name));
                let offset = field("master_repl_offset:").unwrap_or_default();
                let end = format!(",offset={offset},");
                let mut replicas = info.lines().filter(|line| line.contains(",state="));
                let is_linked = field("master_link_status:").is_none_or(|status| status == "up");
                let is_synced = is_linked && replicas.all(|replica| replica.contains(&end));
                is_synced.then_some(()).ok_or(info)
            });
        }
    }

    /// The slots of primary `i`.
    pub fn slots_of(&self, i: usize) -> Vec<u16> {
        (0..16384).filter(|slot| self.owner(*slot) == i).collect()
    }

    /// Kills server `i`, and waits until all others list it as failed, which they do soon.
    pub fn lose(&mut self, i: usize) {
        self.tell_all("CONFIG SET cluster-node-timeout 2000");
        self.servers[i].stop();
        for server in self.servers.iter().filter(|server| !server.is_stopped()) {
            wait_for(|| {
                let listing = server.connect().call(&["CLUSTER", "NODES"]).text();
                let line = listing.lines().find(|line| line.starts_with(&self.ids[i]));
                let is_failed = line.is_some_and(|line| line.contains("fail "));
                is_failed.then_some(()).ok_or(listing)
            });
        }
        // Nobody else fails, however busy the machine is.
        self.tell_all("CONFIG SET cluster-node-timeout 60000");
    }

    /// Kills primary `i`, has its replica `by` own its slots, and waits until the remaining nodes agree.
    pub fn fail_over(&mut self, i: usize, by: usize) {
        self.servers[i].stop();
        self.tell(by, &["FAILOVER", "TAKEOVER"]);
        let own = self.owners.iter_mut().filter(|owner| **owner == i);
        own.for_each(|owner| *owner = by);
        self.settle();
    }

    /// Moves slots with their keys to primary `to`, as redis-cli does; clients may read and write meanwhile.
    pub fn move_slots(&mut self, slots: &[u16], to: usize) {
        for slot in slots {
            self.move_slot(*slot, to);
        }
        self.settle();
    }

    fn move_slot(&mut self, slot: u16, to: usize) {
        let from = std::mem::replace(&mut self.owners[usize::from(slot)], to);
        let name = slot.to_string();
        let ids = [from, to].map(|node| self.ids[node].clone());
        self.tell(to, &["SETSLOT", &name, "IMPORTING", &ids[0]]);
        self.tell(from, &["SETSLOT", &name, "MIGRATING", &ids[1]]);
        let mut client = self.servers[from].connect();
        let receiver = &self.servers[to];
        let port = receiver.tls_port.unwrap_or(receiver.port).to_string();
        let mut migrate = vec!["MIGRATE", "127.0.0.1", &port, "", "0", "60000"];
        if let Some(password) = receiver.password() {
            migrate.extend(["AUTH", password]);
        }
        migrate.push("KEYS");
        let migrate: Vec<&[u8]> = migrate.into_iter().map(str::as_bytes).collect();
        loop {
            let keys = bulks(client.call(&["CLUSTER", "GETKEYSINSLOT", &name, "100"]));
            if keys.is_empty() {
                break;
            }
            let keys = keys.iter().map(Vec::as_slice);
            let reply = client.call(&migrate.iter().copied().chain(keys).collect::<Vec<_>>());
            // Keys may have disappeared meanwhile.
            assert!(matches!(reply, Reply::Simple(_)), "MIGRATE: {reply:?}");
        }
        // The new owner first: otherwise a failure in between would leave the slot without an owner.
        self.tell(to, &["SETSLOT", &name, "NODE", &ids[1]]);
        self.tell(from, &["SETSLOT", &name, "NODE", &ids[1]]);
    }
}

/// Equal shares, split as redis-cli does.
pub fn even(nodes: usize) -> Vec<Ranges> {
    let topology = Topology::even(nodes, format!("even {nodes}")).unwrap();
    let nodes = topology.nodes.into_iter();
    nodes.map(|node| node.ranges).collect()
}

/// A read of a text that keeps the server busy far longer than its client, which a busy machine may give little time: the
/// longest common subsequence of the text and itself, by the square of its length.
pub fn dear_read(key: &str) -> Vec<&[u8]> {
    vec![b"LCS", key.as_bytes(), key.as_bytes(), b"LEN"]
}

/// Sends a command that must return OK.
#[track_caller]
pub fn call_ok(client: &mut Client, command: &[&str]) {
    let ok = Reply::Simple("OK".into());
    assert_eq!(client.call(command), ok, "{command:?}");
}

/// The slot of each key, computed by the server.
pub fn keyslots<K: AsRef<[u8]>>(server: &Server, keys: &[K]) -> Vec<u16> {
    let ask = |key: &'_ K| {
        vec![
            b"CLUSTER".to_vec(),
            b"KEYSLOT".to_vec(),
            key.as_ref().to_vec(),
        ]
    };
    let replies = server.connect().pipeline_of(keys.iter().map(ask));
    replies.into_iter().map(|slot| slot.int() as u16).collect()
}

/// The keys on a server.
pub fn held(client: &mut Client) -> BTreeSet<Vec<u8>> {
    bulks(client.call(&["KEYS", "*"])).into_iter().collect()
}

/// The strings of an array.
pub fn bulks(reply: Reply) -> Vec<Vec<u8>> {
    let bytes = |item: Reply| match item {
        Reply::Bulk(bytes) => bytes,
        other => panic!("a string expected: {other:?}"),
    };
    reply.items().into_iter().map(bytes).collect()
}
