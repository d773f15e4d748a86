//! The search against exhaustive enumeration, on small cases.

use slotscope_names::advise::model::Model;
use slotscope_names::advise::owners::Owners;
use slotscope_names::advise::scheme::{Choice, Scheme};
use testkit::rng::Rng;
use testkit::workloads::workload::{Right, Workload};

/// Maximum number of combinations; larger cases are skipped.
const MOST: usize = 6000;

/// Families with up to three ids, and batches that share one of them.
fn case(rng: &mut Rng) -> Workload {
    let mut load = Workload::on(3, Right::Keep);
    let values: Vec<usize> = (0..3).map(|_| *rng.pick(&[300, 2000])).collect();
    let families: Vec<Vec<usize>> = (0..2 + rng.below(3))
        .map(|_| {
            let mut ids = vec![0, 1, 2];
            (0..rng.below(3)).for_each(|_| {
                ids.remove(rng.below(ids.len()));
            });
            ids
        })
        .collect();
    let any =
        |rng: &mut Rng| -> Vec<usize> { values.iter().map(|most| rng.below(*most)).collect() };
    let key = |family: usize, of: &[usize]| {
        let ids = families[family]
            .iter()
            .map(|id| (of[*id] + 10_000 * (id + 1)).to_string());
        format!(
            "fam{}:{}",
            ["a", "b", "c", "d"][family],
            ids.collect::<Vec<_>>().join(":")
        )
    };
    for _ in 0..1500 {
        let of = any(rng);
        load.names((0..families.len()).map(|family| key(family, &of) + ["", ":x"][rng.below(2)]));
    }
    for _ in 0..2 + rng.below(4) {
        let first = rng.below(families.len());
        let id = *rng.pick(&families[first]);
        let members: Vec<usize> = (0..families.len())
            .filter(|of| *of == first || rng.one_in(2))
            .collect();
        for _ in 0..60 + rng.below(340) {
            let common = rng.below(values[id]);
            let mut keys = Vec::new();
            for family in &members {
                for _ in 0..1 + rng.below(2) {
                    let mut of = any(rng);
                    of[id] = common;
                    keys.push(key(*family, &of));
                }
            }
            load.soft(keys);
        }
    }
    load
}

/// All schemes for the families in batches.
fn all(model: &Model<'_>) -> Option<Vec<Scheme>> {
    let mut touched: Vec<u32> = model
        .joins
        .shapes
        .iter()
        .flat_map(|(shape, _)| shape.families.iter().map(|of| of.family))
        .collect();
    touched.sort_unstable();
    touched.dedup();
    let choices = |family: &u32| -> &[Choice] {
        model
            .choices
            .get(*family as usize)
            .map_or(&[Choice::Keep], Vec::as_slice)
    };
    let combinations: usize = touched.iter().map(|family| choices(family).len()).product();
    let mut schemes = vec![Scheme::default()];
    for family in touched.iter().filter(|_| combinations <= MOST) {
        let with = |scheme: &Scheme| {
            choices(family)
                .iter()
                .map(|choice| scheme.with(*family, *choice))
                .collect::<Vec<_>>()
        };
        schemes = schemes.iter().flat_map(with).collect();
    }
    (combinations <= MOST).then_some(schemes)
}

#[test]
fn the_search_finds_what_all_combinations_have_best() {
    let cases = if super::seeds_of_kind() > 2 { 100 } else { 12 };
    let (mut compared, mut seed, mut gaps) = (0, 0, Vec::new());
    while compared < cases && seed < 10 * cases {
        let load = case(&mut Rng::new(7000 + seed));
        seed += 1;
        let (names, batches) = load.given();
        let model = Model::of(&names, &batches, Owners::even(load.nodes), |_| false);
        let Some(schemes) = all(&model) else { continue };
        let most = |schemes: &[Scheme]| {
            let values = schemes.iter().map(|scheme| model.value(scheme));
            values.fold(f64::MIN, f64::max)
        };
        let (best, found) = (most(&schemes), most(&model.search()));
        compared += 1;
        if best - found > 1e-6 {
            gaps.push((7000 + seed - 1, best - found));
        }
    }
    println!(
        "the search is optimal in {} of {compared} cases",
        compared as usize - gaps.len()
    );
    assert!(
        gaps.is_empty() && compared == cases,
        "{compared} cases, {gaps:?}"
    );
}
