//! The forecasts of advise hold: names and batches are rewritten by the rules for whatif and counted by slot.

use slotscope::renaming::RenameRules;
use slotscope::slot::policy::Policy;
use slotscope::slot::slot;
use slotscope::topology::Topology;
use slotscope_names::advise::decision::Decision;
use slotscope_names::advise::findings::AdviseFindings;
use slotscope_names::advise::model::Model;
use std::collections::HashSet;
use testkit::run::near;
use testkit::workloads::workload::Workload;

/// Carries out what the findings recommend, and compares what comes of it.
pub(super) fn assert_kept(
    name: &str,
    load: &Workload,
    model: &Model,
    decision: &Decision,
    findings: &AdviseFindings,
) {
    let promised = &findings.schemes[0];
    let rules = RenameRules::parse(&findings.rules, &[]).unwrap();
    let mut at_work = rules.start();
    let mut renamed = |name: &str| {
        let (mut by_rules, mut new) = (Vec::new(), Vec::new());
        assert!(rules.rename(name.as_bytes(), &Policy::Oss, &mut at_work, &mut by_rules));
        let mut tokens = model.families.tokens();
        let renaming = &decision.best().renaming;
        renaming.apply(&model.families, name.as_bytes(), &mut tokens, &mut new);
        if new.is_empty() {
            new = name.as_bytes().to_vec();
        }
        assert_eq!(new, by_rules, "{name}");
        new
    };

    let topology = Topology::even(load.nodes, String::new()).unwrap();
    let mut loads = vec![0u64; load.nodes];
    let (mut new_names, mut changes) = (HashSet::new(), 0);
    for (name, bytes) in &load.names {
        loads[topology.owner(slot(&renamed(name))).unwrap()] += bytes;
    }
    let names = load.names.iter().map(|(name, _)| name);
    for name in names.collect::<HashSet<_>>() {
        let new = renamed(name);
        changes += u64::from(new != name.as_bytes());
        assert!(new_names.insert(new), "{name}: two names become one");
    }
    let fullest =
        *loads.iter().max().unwrap() as f64 * load.nodes as f64 / loads.iter().sum::<u64>() as f64;
    near(fullest, promised.max_over_mean.n, 1e-5);
    assert_eq!(changes, promised.keys_renamed, "{name}");

    let several = load
        .batches
        .iter()
        .map(|(_, keys)| keys.iter().collect::<HashSet<_>>());
    let several: Vec<_> = several.filter(|keys| keys.len() > 1).collect();
    let in_one_slot = several.iter().filter(|keys| {
        let slots: HashSet<u16> = keys.iter().map(|key| slot(&renamed(key))).collect();
        slots.len() == 1
    });
    let share = (!several.is_empty()).then(|| in_one_slot.count() as f64 / several.len() as f64);
    let is_as_promised = match (share, promised.single_slot_share) {
        (Some(share), Some(promised)) => (share - promised).abs() < 1e-6,
        (share, promised) => share == promised,
    };
    assert!(is_as_promised, "{name}: {share:?} and {promised:?}");
}
