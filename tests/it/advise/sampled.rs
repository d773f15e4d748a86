//! When the model sees a sample of the names, schemes are applied to all of them, as exactly as by a model of all
//! names.

use slotscope::metric::Metric;
use slotscope::pipeline::reading::{Options, Reading};
use slotscope_names::advise::model::Model;
use slotscope_names::advise::names::NameSample;
use slotscope_names::advise::owners::Owners;
use slotscope_names::advise::retagged::AllRetagged;
use slotscope_names::advise::spelling::Renaming;
use testkit::run::Scratch;
use testkit::workloads::kinds::KINDS;
use testkit::workloads::workload;

#[test]
fn a_scheme_of_a_sample_is_carried_out_on_all_names() {
    for name in [
        "tenant",
        "shop_config",
        "conflict",
        "counter",
        "global_mget",
    ] {
        let kind = KINDS.iter().find(|kind| kind.0 == name).unwrap();
        let (load, _) = workload(kind, 3);
        let (_, batches) = load.given();
        let scratch = Scratch::new();
        let lines: Vec<&str> = load.names.iter().map(|(name, _)| name.as_str()).collect();
        let path = scratch.file("keys", lines.join("\n") + "\n");
        let found = slotscope::source::find(&[path]).unwrap();
        let reading = Reading::new(found, Options::default()).unwrap();

        let sample = |room| {
            let scanned = reading.scan("counting", || {
                NameSample::with_room(Metric::Bytes, room, 1 << 24)
            });
            let mut names = scanned.unwrap().tally;
            names.finish();
            names
        };
        let (part, all) = (sample(2000), sample(1 << 20));
        assert!(!part.is_whole() && all.is_whole());
        let of_part = Model::of(&part, &batches, Owners::even(load.nodes), |_| false);
        let mut schemes = of_part.candidates(&batches);
        let renamings: Vec<Renaming> = schemes
            .iter()
            .map(|scheme| scheme.renaming.clone())
            .collect();
        let counted = reading.scan("carrying out", || AllRetagged::new(&of_part, &renamings));
        counted.unwrap().tally.finish(&of_part, &mut schemes);
        let decision = of_part.decide(schemes);
        let best = decision.best();
        assert!(decision.is_change(), "{name}");

        // The same choices, for the families of all names.
        let of_all = Model::of(&all, &batches, Owners::even(load.nodes), |_| false);
        let pattern =
            |of: &Model<'_>, number: u32| of.families.list[number as usize].pattern.clone();
        let changes = best.renaming.scheme.changes().iter();
        let scheme = changes.map(|(number, choice)| {
            let wanted = pattern(&of_part, *number);
            let same =
                (0..of_all.choices.len() as u32).find(|other| pattern(&of_all, *other) == wanted);
            (same.unwrap(), *choice)
        });
        let exact = of_all.score(&scheme.collect(), &batches);
        let figures = |of: &slotscope_names::advise::carried_out::Scored| {
            (
                of.names.renamed,
                of.max_over_mean,
                of.max_over_mean_2n,
                of.batches,
            )
        };
        assert_eq!(figures(best), figures(&exact), "{name}");
    }
}
