//! Finds the part of a key that belongs in braces, from names and batches. The model is in crates/advisor.

use std::collections::HashSet;

pub use slotscope_advisor::*;

use slotscope_advisor::batches::Batches;
use slotscope_advisor::carried_out::Scored;
use slotscope_advisor::findings::AdviseFindings;
use slotscope_advisor::model::Model;
use slotscope_advisor::names::NameSample;
use slotscope_advisor::owners::Owners;
use slotscope_advisor::retagged::AllRetagged;
use slotscope_advisor::spelling::Renaming;
use slotscope_app::pipeline::reading::Reading;
use slotscope_app::renaming::RenameRules;
use slotscope_base::error::{Error, Result};
use slotscope_base::metric::Metric;
use slotscope_base::name::Name;
use slotscope_base::slot::policy::Policy;

use slotscope_topology::Topology;

#[derive(Debug, Clone)]
pub(crate) struct AdviseSpec {
    /// The primaries and their slots.
    pub owners: Owners,
    /// The load metric; the number of names if the input lacks it.
    pub by: Metric,
    /// Patterns whose names must not change.
    pub keep: Vec<String>,
    /// Pairs of patterns whose names must share a slot if they share an id.
    pub together: Vec<[String; 2]>,
}

/// The owners that a topology lists.
pub(crate) fn owners(topology: &Topology) -> Owners {
    Owners::listed(topology.nodes.len(), |slot| topology.owner(slot))
}

/// The names read, or a sample of them.
///
/// # Errors
/// As `Reading::scan`.
pub(crate) fn names_in(reading: &Reading, metric: Metric) -> Result<NameSample> {
    Ok(reading.scan("counting", || NameSample::new(metric))?.tally)
}

/// The advice for names and batches; without names, for the keys of the batches.
///
/// # Errors
/// As `Reading::scan`; a pattern of the spec is not a family.
pub(crate) fn advise(
    names: Option<(&Reading, NameSample)>,
    batches: &Batches,
    spec: &AdviseSpec,
) -> Result<AdviseFindings> {
    let (reading, names) = names.unzip();
    let mut names = names.unwrap_or_else(|| names_of(batches, spec.by));
    names.finish();
    let is_kept = |pattern: &[u8]| spec.keep.iter().any(|kept| kept.as_bytes() == pattern);
    let mut model = on_threads(reading, || {
        Model::of(&names, batches, spec.owners.clone(), is_kept)
    });
    for pattern in &spec.keep {
        family(&model, "--keep", pattern)?;
    }
    for pair in &spec.together {
        let [a, b] = [
            family(&model, "--together", &pair[0])?,
            family(&model, "--together", &pair[1])?,
        ];
        model.put_together(a, b).map_err(|reason| {
            Error::bad(
                format!(
                    "--together {},{}",
                    Name::from(pair[0].as_str()),
                    Name::from(pair[1].as_str())
                ),
                reason,
            )
        })?;
    }
    // The sample suffices for choosing; the forecast covers all names.
    let mut decision = on_threads(reading, || model.decide(model.candidates(batches)));
    if let Some(reading) = reading.filter(|reading| !names.is_whole() && reading.is_rereadable()) {
        on_all_names(reading, &model, &mut decision.schemes)?;
    }
    let mut findings = AdviseFindings::of(&model, batches, &decision);
    findings.rules_differ = differing(&model, &decision.best().renaming, &findings.rules)?;
    Ok(findings)
}

/// Runs `work` on the threads that read the names, if any.
fn on_threads<R: Send>(reading: Option<&Reading>, work: impl FnOnce() -> R + Send) -> R {
    match reading {
        Some(reading) => reading.on_threads(work),
        None => work(),
    }
}

/// The distinct keys of batches as names.
fn names_of(batches: &Batches, metric: Metric) -> NameSample {
    let mut names = NameSample::new(metric);
    let mut seen: HashSet<Vec<u8>> = HashSet::new();
    for at in 0..batches.len() {
        for key in batches.get(at).keys {
            if !seen.contains(key) {
                seen.insert(key.to_vec());
                names.push(key, 0);
            }
        }
    }
    names
}

/// The number of the family of a pattern.
fn family(model: &Model<'_>, flag: &str, pattern: &str) -> Result<u32> {
    let list = &model.families.list[..model.families.other()];
    let place = list
        .iter()
        .position(|family| family.pattern == pattern.as_bytes());
    place.map(|at| at as u32).ok_or_else(|| {
        let known: Vec<String> = list
            .iter()
            .take(8)
            .map(|family| Name(family.pattern.clone()).to_string())
            .collect();
        let reason = format!(
            "no family of names has this pattern; the largest are {}",
            known.join(", ")
        );
        Error::bad(format!("{flag} \"{}\"", Name::from(pattern)), reason)
    })
}

/// If the model saw only a sample, applies the schemes to all names.
fn on_all_names(reading: &Reading, model: &Model<'_>, schemes: &mut [Scored]) -> Result<()> {
    let renamings: Vec<Renaming> = schemes
        .iter()
        .map(|scheme| scheme.renaming.clone())
        .collect();
    let counted = reading.scan("carrying out", || AllRetagged::new(model, &renamings))?;
    counted.tally.finish(model, schemes);
    Ok(())
}

/// Sampled names that the rules rename differently from the scheme.
fn differing(model: &Model<'_>, renaming: &Renaming, rules: &[String]) -> Result<u64> {
    let rules = RenameRules::parse(rules, &[])?;
    let mut at_work = rules.start();
    let mut tokens = model.families.tokens();
    let (mut by_rules, mut by_scheme) = (Vec::new(), Vec::new());
    let mut differing = 0;
    for at in 0..model.names.len() {
        let (name, _) = model.names.get(at);
        by_rules.clear();
        by_scheme.clear();
        rules.rename(name, &Policy::Oss, &mut at_work, &mut by_rules);
        renaming.apply(&model.families, name, &mut tokens, &mut by_scheme);
        let expected = if by_scheme.is_empty() {
            name
        } else {
            by_scheme.as_slice()
        };
        differing += u64::from(by_rules != expected);
    }
    Ok(differing)
}
