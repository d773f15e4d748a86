//! The scripts of a recommended scheme on a real cluster: as many are refused as predicted.

use slotscope::renaming::RenameRules;
use slotscope::slot::policy::Policy;
use slotscope::slot::slot;
use slotscope_names::advise::findings::AdviseFindings;
use slotscope_names::advise::model::Model;
use slotscope_names::advise::owners::Owners;
use testkit::cluster::Cluster;
use testkit::redis::Reply;
use testkit::rng::Rng;
use testkit::workloads::ids::{ID_KINDS, ids, sharing};
use testkit::workloads::workload::Workload;

/// Sets the undeclared keys, as queue scripts do.
const SCRIPT: &str = "for _, key in ipairs(ARGV) do redis.call('SET', key, 'x') end return 1";

/// Number of these batches that the cluster refuses, each run as a script that declares all keys but the last.
fn refused(cluster: &Cluster, batches: &[Vec<Vec<u8>>]) -> u64 {
    let mut clients: Vec<_> = cluster
        .servers
        .iter()
        .map(|server| server.connect())
        .collect();
    let mut refused = 0;
    for keys in batches {
        let count = (keys.len() - 1).to_string();
        let mut call = vec![&b"EVAL"[..], SCRIPT.as_bytes(), count.as_bytes()];
        call.extend(keys.iter().map(Vec::as_slice));
        match clients[cluster.owner(slot(&keys[0]))].call(&call) {
            Reply::Error(text) if text.starts_with("CROSSSLOT") => refused += 1,
            Reply::Error(text) if text.contains("non local key") => refused += 1,
            Reply::Int(1) => {}
            other => panic!("{other:?}"),
        }
    }
    refused
}

/// The number of a workload's scripts that are refused today and under the recommended scheme, and both predictions.
fn carried_out(cluster: &Cluster, load: &Workload) -> [[u64; 2]; 2] {
    let (names, batches) = load.given();
    let model = Model::of(&names, &batches, Owners::even(3), |_| false);
    let decision = model.decide(model.candidates(&batches));
    let findings = AdviseFindings::of(&model, &batches, &decision);
    let rules = RenameRules::parse(&findings.rules, &[]).unwrap();
    let mut at_work = rules.start();
    let hard = load.batches.iter().filter(|(is_hard, _)| *is_hard);
    let today: Vec<Vec<Vec<u8>>> = hard
        .map(|(_, keys)| keys.iter().map(|key| key.clone().into_bytes()).collect())
        .collect();
    let mut renamed = |key: &Vec<u8>| {
        let mut new = Vec::new();
        rules.rename(key, &Policy::Oss, &mut at_work, &mut new);
        new
    };
    let then: Vec<Vec<Vec<u8>>> = today
        .iter()
        .map(|keys| keys.iter().map(&mut renamed).collect())
        .collect();
    let before_and_after = [today, then].map(|batches| refused(cluster, &batches));
    let of_today = findings.schemes.iter().find(|scheme| scheme.is_today);
    let promised = [of_today.unwrap(), &findings.schemes[0]].map(|scheme| scheme.crossslot);
    [before_and_after, promised]
}

#[test]
fn scripts_that_do_not_declare_a_key_run_on_a_real_cluster_after_the_renaming() {
    let cluster = Cluster::even(3);
    for (at, kind) in ID_KINDS.iter().enumerate() {
        for count in [1, 3, 50] {
            let mut rng = Rng::new((10 * at + count) as u64);
            let ids = ids(&mut rng, kind, count);
            let load = sharing(&mut rng, &ids, 2, "EVALSHA with undeclared keys");
            let [refused, promised] = carried_out(&cluster, &load);
            assert_eq!(refused, [150, 0], "{} x {count}", kind.0);
            assert_eq!(promised, [150, 0], "{} x {count}", kind.0);
        }
    }
}
