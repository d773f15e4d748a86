//! Keys that share an id of any kind: the advice makes it their tag.

use slotscope_names::advise::model::Model;
use slotscope_names::advise::owners::Owners;
use testkit::rng::Rng;
use testkit::workloads::ids::{COMMANDS, ID_KINDS, ids, sharing};

#[test]
fn every_command_is_brought_into_one_slot_with_a_tag_for_each_id_of_every_kind() {
    let is_large = super::seeds_of_kind() > 2;
    let (mut all, mut wrong) = (0, Vec::new());
    let sizes = || {
        [1, 3, 12, 50, 200]
            .into_iter()
            .flat_map(|values| [2, 3, 7].map(|parts| (values, parts)))
    };
    for (at, kind) in ID_KINDS.iter().enumerate() {
        for (step, (values, parts)) in sizes().enumerate() {
            for (number, command) in COMMANDS.iter().enumerate() {
                // A client can split an MGET: a tag with a single value gains nothing.
                let is_of_one = values == 1 && *command == "MGET";
                if is_of_one || !is_large && (at + step + number) % 5 != 0 {
                    continue;
                }
                let mut rng = Rng::new((100 * at + 10 * step + number) as u64);
                let ids = ids(&mut rng, kind, values);
                let load = sharing(&mut rng, &ids, parts, command);
                let (names, batches) = load.given();
                let model = Model::of(&names, &batches, Owners::even(load.nodes), |_| false);
                let decision = model.decide(model.candidates(&batches));
                let best = decision.best();
                all += 1;
                let found = (
                    best.batches.multi,
                    best.batches.in_one_slot,
                    best.names.distinct,
                );
                let commands = load.batches.len() as u64;
                if found != (commands, commands, values as u64) {
                    let what = format!("{} x {values} x {parts} {command}", kind.0);
                    wrong.push(format!("{what}: {found:?} of {commands}"));
                }
            }
        }
    }
    println!("{all} workloads of {} kinds of ids", ID_KINDS.len());
    assert!(wrong.is_empty(), "\n{}\n", wrong.join("\n"));
}
