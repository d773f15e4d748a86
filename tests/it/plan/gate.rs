//! The gate of plans: gains on both sides of each threshold, and requests in which one goal decides.

use slotscope::metric::Metric;
use slotscope::planner::move_request::{Caps, MoveRequest, Role};
use slotscope::planner::solve::{MovePlan, plan};

/// The parts of the data that stays on a node, so that none is heavier than half a share.
const PARTS: u64 = 10;

/// Two nodes with a mean of 10,000: the first holds `fullest`, of which only a slot of `gain` can move.
fn two_nodes(metric: Metric, fullest: u64, gain: u64, moved_part: f64) -> MovePlan {
    let mut loads = vec![(fullest - gain) / PARTS; PARTS as usize];
    loads[0] += (fullest - gain) % PARTS;
    loads.push(gain);
    let rest = 20_000 - fullest;
    loads.extend(vec![rest / PARTS; PARTS as usize]);
    *loads.last_mut().unwrap() += rest % PARTS;
    let first = PARTS as usize + 1;
    let owner = (0..loads.len()).map(|slot| Some(usize::from(slot >= first)));
    let mut price = vec![1000; loads.len()];
    price[PARTS as usize] = 0;
    let others: u64 = price.iter().sum();
    price[PARTS as usize] = (others as f64 * moved_part / (1.0 - moved_part)) as u64;
    let role = Role {
        band: 1.0,
        ..Role::even(metric, &loads, 2, 0.0)
    };
    let mut request = MoveRequest::new(vec![role], owner.collect());
    request.fixed = (0..loads.len())
        .map(|slot| slot != PARTS as usize)
        .collect();
    request.price = Some(&price);
    plan(&request)
}

#[test]
fn a_gain_has_to_be_worth_what_moves() {
    // The fullest node in ten-thousandths of a share, the minimum gain, and the fraction of the data that moves.
    let table = [
        (Metric::Bytes, 11_000, 200, 0.001),
        (Metric::Keys, 11_000, 200, 0.001),
        (Metric::Ops, 11_000, 500, 0.001),
        (Metric::Bytes, 15_000, 500, 0.001),
        (Metric::Ops, 17_000, 700, 0.001),
        (Metric::Bytes, 11_000, 200, 0.099),
        (Metric::Bytes, 11_000, 500, 0.249),
    ];
    for (metric, fullest, least, part) in table {
        let found = |gain: u64| two_nodes(metric, fullest, gain, part).is_step;
        let what = format!("{metric:?} {fullest} {least} {part}");
        assert!(!found(least - 10), "{what}: too little");
        assert!(found(least + 10), "{what}: enough");
    }
}

/// Slots with two roles on nodes, one row per node.
type Slots<'a> = &'a [&'a [(u64, u64)]];

fn placed(slots: Slots<'_>) -> (Vec<u64>, Vec<u64>, Vec<Option<usize>>) {
    let all = || {
        slots
            .iter()
            .enumerate()
            .flat_map(|(node, of)| of.iter().map(move |slot| (node, *slot)))
    };
    (
        all().map(|(_, (first, _))| first).collect(),
        all().map(|(_, (_, second))| second).collect(),
        all().map(|(node, _)| Some(node)).collect(),
    )
}

fn planned(slots: Slots<'_>, bands: [f64; 2], caps: Option<[f64; 2]>) -> MovePlan {
    let (first, second, owner) = placed(slots);
    let nodes = slots.len();
    let role = |loads, band| Role {
        band,
        ..Role::even(Metric::Bytes, loads, nodes, 0.03)
    };
    let roles = vec![role(&first, bands[0]), role(&second, bands[1])];
    let mut request = MoveRequest::new(roles, owner);
    request.caps = caps.map(|[aimed, hard]| Caps {
        role: 0,
        aimed: vec![Some(aimed); nodes],
        hard: vec![Some(hard); nodes],
    });
    plan(&request)
}

#[test]
fn limits_come_before_ceilings_and_bands_before_aims() {
    // A node above its limit is relieved, although that raises the other role above its present value.
    let slots: Slots<'_> = &[
        &[(30, 10), (30, 10), (30, 10)],
        &[(10, 10), (10, 10), (10, 10)],
    ];
    let plan = planned(slots, [2.0, 1.05], Some([60.0, 65.0]));
    assert!(
        plan.is_step && plan.roles[0].after <= 65.0 / 60.0 + 1e-9,
        "{plan:?}"
    );
    assert!(
        !plan.lifted.is_empty() && plan.roles[1].after > 1.3,
        "{plan:?}"
    );
    // The same without the limit: the second role is even and remains so.
    assert!(!planned(slots, [2.0, 1.05], None).is_step);
    // Both are brought into their bands; neither is brought to its goal at the expense of the other's band.
    let slots: Slots<'_> = &[
        &[(22, 9), (22, 9), (22, 9), (22, 9), (22, 9), (22, 9)],
        &[(9, 22), (9, 22), (9, 22), (9, 22), (9, 22), (9, 22)],
    ];
    let plan = planned(slots, [1.2, 1.2], None);
    assert!(plan.roles.iter().all(|role| role.after <= 1.2), "{plan:?}");
}

#[test]
fn no_role_becomes_worse_than_it_is_or_than_its_band() {
    // The first role could be evened only by worsening the second, which is already above its band.
    let slots: Slots<'_> = &[
        &[(40, 30), (40, 30), (40, 30)],
        &[(20, 50), (20, 50), (20, 50)],
    ];
    let plan = planned(slots, [1.05, 1.05], None);
    for role in &plan.roles {
        assert!(role.after <= role.before.max(1.05) + 1e-9, "{plan:?}");
    }
    // If a slot fills a node, that node may not become fuller.
    let giant: Slots<'_> = &[
        &[(10, 200), (10, 17)],
        &[(50, 10), (50, 10)],
        &[(15, 10), (15, 10)],
    ];
    let plan = planned(giant, [1.05, 1.05], None);
    assert!(
        plan.roles[1].after <= plan.roles[1].before + 1e-9,
        "{plan:?}"
    );
    assert!(plan.roles[0].after < plan.roles[0].before, "{plan:?}");
}

/// Three nodes, the first filled by a slot, the others with slots of 5: 150 together.
fn beside_a_giant(giant: u64, second: u64, band: f64) -> MovePlan {
    let mut loads = vec![giant];
    loads.extend([5; 30]);
    let held = 1 + second as usize / 5;
    let owner =
        (0..loads.len()).map(|slot| Some(usize::from(slot > 0) + usize::from(slot >= held)));
    let role = Role {
        band,
        ..Role::even(Metric::Bytes, &loads, 3, 0.03)
    };
    plan(&MoveRequest::new(vec![role], owner.collect()))
}

#[test]
fn beside_a_slot_that_fills_a_node_others_are_evened_out_above_their_band_or_for_an_empty_node() {
    let is_step = |giant, second, band| beside_a_giant(giant, second, band).is_step;
    assert!(!is_step(150, 110, 1.2), "1.10 is within the band");
    assert!(is_step(150, 130, 1.2), "1.30 is not");
    assert!(!is_step(160, 145, 1.5), "1.40 is within this");
    assert!(is_step(160, 150, 1.5), "the third node is empty");
}
