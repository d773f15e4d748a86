//! The advice on tags: right on workloads with known answers, true to its promises, and as a user runs it.

mod brute_force;
mod commands;
mod families;
mod ids;
mod promises;
mod sampled;
mod seeds;

use slotscope_names::advise::decision::Decision;
use slotscope_names::advise::findings::AdviseFindings;
use slotscope_names::advise::model::Model;
use slotscope_names::advise::owners::Owners;
use testkit::env::cases;
use testkit::workloads::kinds::{KINDS, Kind};
use testkit::workloads::other_kinds::OTHER_KINDS;
use testkit::workloads::workload;
use testkit::workloads::workload::{Right, Workload};

/// Number of seeds per kind.
fn seeds_of_kind() -> u64 {
    cases("SLOTSCOPE_SEEDS", 5)
}

/// The defect of the advice on a workload; what it promises is carried out.
fn wrong(name: &str, load: &Workload, noise: f64) -> Option<String> {
    let (names, batches) = load.given();
    let model = Model::of(&names, &batches, Owners::even(load.nodes), |_| false);
    let decision = model.decide(model.candidates(&batches));
    let findings = AdviseFindings::of(&model, &batches, &decision);
    if decision.is_change() {
        promises::assert_kept(name, load, &model, &decision, &findings);
    }
    let said = || {
        let tags = findings.schemes[0].tags.iter().map(ToString::to_string);
        format!("{:?}: {}", findings.why, tags.collect::<Vec<_>>().join(" "))
    };
    match load.right {
        Right::Keep if decision.is_change() => Some(said()),
        Right::Keep => None,
        Right::Change { .. } if !decision.is_change() => Some(said()),
        Right::Change { share, units } => too_little(&decision, load.nodes, share, units, noise)
            .map(|what| format!("{what}: {}", said())),
    }
}

/// The shortfall of a change: batches in one slot, apart from noise, and even nodes, apart from chance.
fn too_little(
    decision: &Decision,
    nodes: usize,
    least: f64,
    units: usize,
    noise: f64,
) -> Option<String> {
    let best = decision.best();
    let most = 1.02 + 3.6 * ((nodes as f64 - 1.0) / units as f64).sqrt();
    if best.max_over_mean > most {
        return Some(format!(
            "{:.3} times its fair share, more than {most:.3}",
            best.max_over_mean
        ));
    }
    let share = best.batches.share().unwrap_or(1.0);
    (share < least * (1.0 - 1.35 * noise) - 0.02)
        .then(|| format!("{share:.3} in one slot, less than {least}"))
}

fn campaign(kinds: &[Kind]) {
    let (mut right, mut all, mut found) = (0, 0, Vec::new());
    for kind in kinds {
        for seed in 0..seeds_of_kind() {
            let (load, noise) = workload(kind, seed);
            all += 1;
            match wrong(kind.0, &load, noise) {
                None => right += 1,
                Some(what) => found.push(format!("{} {seed}: {what}", kind.0)),
            }
        }
    }
    println!(
        "right advice: {right} of {all} workloads of {} kinds",
        kinds.len()
    );
    assert!(found.is_empty(), "\n{}\n", found.join("\n"));
}

#[test]
fn the_advice_is_right_on_the_kinds_that_the_rules_were_made_on() {
    campaign(KINDS);
}

#[test]
fn the_advice_is_right_on_kinds_that_the_rules_were_not_made_on() {
    campaign(OTHER_KINDS);
}
