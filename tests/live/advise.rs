//! The batches of a recommended scheme on a real cluster: as many are refused as was predicted.

use slotscope::advise::findings::AdviseFindings;
use slotscope::advise::model::Model;
use slotscope::slot::policy::Policy;
use slotscope::slot::slot;
use slotscope::whatif::rules::RenameRules;
use testkit::cluster::Cluster;
use testkit::redis::Reply;
use testkit::workloads::kinds::KINDS;
use testkit::workloads::workload;

/// How many of these batches the cluster refuses as CROSSSLOT, each as a script with its keys.
fn refused(cluster: &Cluster, batches: &[Vec<Vec<u8>>]) -> u64 {
    let mut clients: Vec<_> = cluster
        .servers
        .iter()
        .map(|server| server.connect())
        .collect();
    let mut refused = 0;
    for keys in batches {
        let count = keys.len().to_string();
        let mut call = vec![&b"EVAL"[..], b"return 1", count.as_bytes()];
        call.extend(keys.iter().map(Vec::as_slice));
        match clients[cluster.owner(slot(&keys[0]))].call(&call) {
            Reply::Error(text) if text.starts_with("CROSSSLOT") => refused += 1,
            Reply::Int(1) => {}
            other => panic!("{other:?}"),
        }
    }
    refused
}

#[test]
fn a_real_cluster_refuses_as_many_batches_as_predicted() {
    let cluster = Cluster::even(3);
    for name in ["three", "shop"] {
        let kind = KINDS.iter().find(|kind| kind.0 == name).unwrap();
        let (load, _) = workload(kind, 2);
        let (names, batches) = load.given();
        let model = Model::of(&names, &batches, 3, |_| false);
        let decision = model.decide(model.candidates(&batches));
        let findings = AdviseFindings::of(&model, &batches, &decision);
        let rules = RenameRules::parse(&findings.rules, &[], &[]).unwrap();
        let mut at_work = rules.start();
        let hard = load.batches.iter().filter(|(is_hard, _)| *is_hard);
        let today: Vec<Vec<Vec<u8>>> = hard
            .map(|(_, keys)| keys.iter().map(|key| key.clone().into_bytes()).collect())
            .collect();
        let then: Vec<Vec<Vec<u8>>> = today
            .iter()
            .map(|keys| {
                let renamed = keys.iter().map(|key| {
                    let mut new = Vec::new();
                    rules.rename(key, &Policy::Oss, &mut at_work, &mut new);
                    new
                });
                renamed.collect()
            })
            .collect();
        let [before, after] = [today, then].map(|batches| refused(&cluster, &batches));
        println!(
            "{name}: {before} of {} scripts are refused, and {after} by the recommended scheme",
            findings.batches_that_must
        );
        let of_today = findings
            .schemes
            .iter()
            .find(|scheme| scheme.is_today)
            .unwrap();
        assert_eq!(
            (before, after),
            (of_today.crossslot, findings.schemes[0].crossslot),
            "{name}"
        );
        assert!(
            before > 100 && after < before / 10,
            "{name}: {before}, {after}"
        );
    }
}
