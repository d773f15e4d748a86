//! The forecasts of advise hold: names and batches are rewritten by the rules for whatif and counted by slot.

use slotscope::advise::findings::AdviseFindings;
use slotscope::advise::model::Model;
use slotscope::advise::owners::Owners;
use slotscope::slot::policy::Policy;
use slotscope::slot::slot;
use slotscope::topology::Topology;
use slotscope::whatif::rules::RenameRules;
use std::collections::HashSet;
use testkit::run::near;
use testkit::workloads::kinds::KINDS;
use testkit::workloads::other_kinds::OTHER_KINDS;
use testkit::workloads::workload;

#[test]
fn rewritten_by_the_rules_names_and_batches_come_to_what_is_promised() {
    let mut changed = 0;
    for kind in KINDS.iter().chain(OTHER_KINDS) {
        let (load, _) = workload(kind, 1);
        let (names, batches) = load.given();
        let model = Model::of(&names, &batches, Owners::even(load.nodes), |_| false);
        let decision = model.decide(model.candidates(&batches));
        if !decision.is_change() {
            continue;
        }
        changed += 1;
        let findings = AdviseFindings::of(&model, &batches, &decision);
        let promised = &findings.schemes[0];
        let rules = RenameRules::parse(&findings.rules, &[]).unwrap();
        let mut at_work = rules.start();
        let mut otherwise = HashSet::new();
        let mut renamed = |name: &str| {
            let (mut by_rules, mut new) = (Vec::new(), Vec::new());
            assert!(rules.rename(name.as_bytes(), &Policy::Oss, &mut at_work, &mut by_rules));
            let mut tokens = model.families.tokens();
            let renaming = &decision.best().renaming;
            renaming.apply(&model.families, name.as_bytes(), &mut tokens, &mut new);
            if new.is_empty() {
                new = name.as_bytes().to_vec();
            }
            if new != by_rules {
                otherwise.insert(name.to_owned());
            }
            new
        };

        let topology = Topology::even(load.nodes, String::new()).unwrap();
        let mut loads = vec![0u64; load.nodes];
        let (mut new_names, mut changes) = (HashSet::new(), 0);
        for (name, bytes) in &load.names {
            loads[topology.owner(slot(&renamed(name))).unwrap()] += bytes;
        }
        for name in load
            .names
            .iter()
            .map(|(name, _)| name)
            .collect::<HashSet<_>>()
        {
            let new = renamed(name);
            changes += u64::from(new != name.as_bytes());
            assert!(new_names.insert(new), "{}: two names become one", kind.0);
        }
        let fullest = *loads.iter().max().unwrap() as f64 * load.nodes as f64
            / loads.iter().sum::<u64>() as f64;
        near(fullest, promised.max_over_mean.n, 1e-5);
        assert_eq!(changes, promised.keys_renamed, "{}", kind.0);

        let several = load
            .batches
            .iter()
            .map(|(_, keys)| keys.iter().collect::<HashSet<_>>());
        let several: Vec<_> = several.filter(|keys| keys.len() > 1).collect();
        let in_one_slot = several.iter().filter(|keys| {
            let slots: HashSet<u16> = keys.iter().map(|key| slot(&renamed(key))).collect();
            slots.len() == 1
        });
        let share =
            (!several.is_empty()).then(|| in_one_slot.count() as f64 / several.len() as f64);
        let is_as_promised = match (share, promised.single_slot_share) {
            (Some(share), Some(promised)) => (share - promised).abs() < 1e-6,
            (share, promised) => share == promised,
        };
        assert!(is_as_promised, "{}: {share:?} and {promised:?}", kind.0);
    }
    println!("{changed} recommended schemes carried out");
    assert!(changed >= 20, "{changed}");
}
