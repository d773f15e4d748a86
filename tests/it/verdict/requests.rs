//! The request of the single row of moves: its roles and their order, its nodes, and memory limits.

use slotscope::summary::Summary;
use slotscope::summary::step::{Requested, Step, StepKind};

use crate::verdict::scene::{Scene, info, noeviction};
use slotscope::slot::slot;
use testkit::prelude::*;

const KEYS: usize = 12_000;

/// Three nodes, the first with more slots; keys of 1,000 bytes and one operation each.
fn uneven(ends: &[u64]) -> Scene {
    let rows = (0..KEYS).map(|at| format!("session:{at},1000,10"));
    Scene::on(ends).keys("key,size,ops", rows)
}

fn row(summary: &Summary) -> &Step {
    let mut steps = summary.verdict.steps.iter();
    let found = steps.find(|step| step.kind == StepKind::Move && step.command.is_some());
    found.unwrap_or_else(|| panic!("{:#?}", summary.verdict))
}

fn request(summary: &Summary) -> &Requested {
    row(summary).request.as_ref().unwrap()
}

fn order(request: &Requested) -> Vec<&str> {
    request
        .roles
        .iter()
        .map(|role| role.metric.as_str())
        .collect()
}

const SKEWED: [u64; 3] = [8191, 12_287, 16_383];

#[test]
fn load_comes_first_unless_a_node_uses_three_quarters_of_its_memory() {
    let used = |part: f64| {
        uneven(&SKEWED)
            .servers(noeviction(&[part, 0.3, 0.3]))
            .summary()
    };
    assert_eq!(order(request(&uneven(&SKEWED).summary())), ["ops", "bytes"]);
    assert_eq!(order(request(&used(0.74))), ["ops", "bytes"]);
    assert_eq!(order(request(&used(0.75))), ["bytes", "ops"]);
}

#[test]
fn uneven_roles_are_goals_and_even_ones_are_guards() {
    let summary = uneven(&SKEWED).summary();
    let both = &request(&summary).roles;
    assert!(both.iter().all(|role| role.is_goal), "{both:?}");
    let [ops, bytes] = [&both[0], &both[1]];
    near(ops.aim, 1.10, 1e-6);
    near(bytes.aim, 1.03, 1e-6);
    // At most today's 1.5 shares.
    near(bytes.ceiling, 1.5, 0.03);
    // An even role may stay as it is, within its band.
    let rows = (0..KEYS).map(|at| {
        let is_hot = at % 20 == 0 && slot(format!("session:{at}").as_bytes()) < 5461;
        format!("session:{at},1000,{}", if is_hot { 300 } else { 10 })
    });
    let summary = Scene::even(3).keys("key,size,ops", rows).summary();
    let roles = &request(&summary).roles;
    let bytes = roles.iter().find(|role| role.metric == "bytes").unwrap();
    assert!(
        !bytes.is_goal && bytes.aim < 1.06 && bytes.ceiling < 1.1,
        "{bytes:?}"
    );
}

#[test]
fn shares_are_those_of_the_nodes_that_are_to_hold_slots() {
    let listing = crate::verdict::scene::lines_of(&[5460, 10_922, 16_383]);
    let empty = "node3 10.0.0.9:6379@16379 master - 0 0 1 connected\n";
    let rows = (0..KEYS).map(|at| format!("session:{at},1000,10"));
    let summary = Scene::listed(listing + empty)
        .keys("key,size,ops", rows)
        .summary();
    let request = request(&summary);
    assert_eq!((request.nodes, request.changes_nodes), (4, true));
    let before = request.before.memory.unwrap().max_over_mean;
    near(before, 4.0 / 3.0, 0.03);
    // An even role stays even over the future nodes.
    let aims = request.roles.iter().map(|role| role.aim);
    assert!(aims.fold(0.0, f64::max) < 1.25, "{request:?}");
    let after = row(&summary).after.memory.unwrap().max_over_mean;
    assert!(after <= 1.06, "{after}");
}

#[test]
fn limits_of_memory_are_those_of_each_node_beside_what_is_not_keys() {
    let caps = |scene: Scene| request(&scene.summary()).caps.clone();
    assert_eq!(caps(uneven(&SKEWED)), []);
    let some = {
        let mut servers = noeviction(&[0.3, 0.3, 0.3]);
        servers[1].maxmemory = Some(0);
        caps(uneven(&SKEWED).servers(servers))
    };
    assert_eq!([0, 1, 2].map(|at| some[at].is_some()), [true, false, true]);
    let evicting = uneven(&SKEWED).servers([0.3; 3].map(|used| info(used, "allkeys-lru")));
    assert_eq!(caps(evicting), [], "a cache is full by design");
    // Overhead is constant: the node with most of it can be filled least.
    let differing = caps(uneven(&SKEWED).servers(noeviction(&[0.3, 0.5, 0.4])));
    let [first, second, third] = [0, 1, 2].map(|at| differing[at].unwrap());
    assert!(second < third && third < first, "{differing:?}");
}

/// A key is large and a tag hot: how equal parts of the tag's load are in memory is not known.
#[test]
fn a_role_that_a_step_leaves_unknown_has_a_column() {
    let users = (0..3000).map(|at| format!("user:{at},500,10"));
    let carts = (0..600).map(|at| format!("cart:{{promo}}:{at},400,90"));
    let rows = users
        .chain(carts)
        .chain(["board:global,2500000,9000".into()]);
    let text = format!("key,size,ops\n{}\n", rows.collect::<Vec<_>>().join("\n"));
    let output = feed(slotscope("analyze - --nodes 3 --no-files"), text.as_bytes());
    let said = stdout(&output);
    let mut lines = said.lines().skip_while(|line| *line != "What to do");
    let heads = lines.nth(1).unwrap();
    assert_eq!(
        heads.split_whitespace().collect::<Vec<_>>(),
        ["memory", "load"]
    );
    said.says(" -> ?");
}
