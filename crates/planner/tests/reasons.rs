//! Reasons why a role stays above its band: each where it is true, and where it is as true but the search cannot know it,
//! as slots are too many to look at every placement and a proof that parts slots finds room.

use slotscope_base::metric::Metric;
use slotscope_planner::lower_bound::SetBy;
use slotscope_planner::move_request::{Caps, MoveRequest, Role};
use slotscope_planner::solve::plan;
use slotscope_planner::why_not::{Freed, NoPlacement, WhyNot, why_not};

/// More slots than every placement is looked at of; their load is a thousandth of the others'.
const MANY: usize = 40;

/// Slots of two loads on two nodes: their loads and the node.
type Slots = Vec<(u64, u64, usize)>;

/// A request, and its loads.
struct Case {
    loads: [Vec<u64>; 2],
    owner: Vec<Option<usize>>,
    bands: [f64; 2],
}

impl Case {
    fn new(slots: Slots, bands: [f64; 2]) -> Self {
        Case {
            loads: [
                slots.iter().map(|slot| slot.0).collect(),
                slots.iter().map(|slot| slot.1).collect(),
            ],
            owner: slots.iter().map(|slot| Some(slot.2)).collect(),
            bands,
        }
    }

    /// A request of the first load, or of both.
    fn request(&self, roles: usize) -> MoveRequest<'_> {
        let role = |at: usize| Role {
            band: self.bands[at],
            ..Role::even(Metric::Bytes, &self.loads[at], 2, 0.0)
        };
        MoveRequest::new((0..roles).map(role).collect(), self.owner.clone())
    }
}

/// The reason of the first role after the plan.
fn reason(request: &MoveRequest<'_>) -> WhyNot {
    let after = request.with_owner(plan(request).owner);
    why_not(&after, 0)
}

/// The proof for a role that is to be within a band.
fn proof(band: f64, [has_limits, has_others]: [bool; 2]) -> NoPlacement {
    NoPlacement {
        band,
        has_limits,
        has_others,
        found: None,
    }
}

fn thousand(slots: &[(u64, u64, usize)]) -> Slots {
    let slots = slots.iter();
    slots
        .map(|(first, second, node)| (1000 * first, 1000 * second, *node))
        .collect()
}

fn with_many(mut slots: Slots) -> Slots {
    slots.extend((0..MANY).map(|at| (1, 1, at % 2)));
    slots
}

#[test]
fn no_placement_is_within_the_band_or_none_was_found() {
    // 16 and 17 of 33 are the best; any two of the heaviest are less than a share.
    let slots = thousand(&[8, 8, 3, 8, 3, 3].map(|load| (load, 0, 0)));
    let few = Case::new(slots.clone(), [1.01; 2]);
    assert_eq!(
        reason(&few.request(1)),
        WhyNot::NoPlacement(proof(1.01, [false; 2]))
    );
    let many = Case::new(with_many(slots), [1.01; 2]);
    assert_eq!(reason(&many.request(1)), WhyNot::NotFound);
}

#[test]
fn another_role_stands_in_the_way_or_no_better_placement_was_found() {
    // Slots that are heavy in one role each, of odd number: even in the first role, a node has too few of the others.
    let slots = |heavy: usize| -> Slots {
        let node = |at: usize| usize::from(at > heavy / 2);
        let slots = (0..heavy).flat_map(|at| [(10, 1, node(at)), (1, 10, node(at))]);
        slots.collect()
    };
    let few = Case::new(slots(5), [1.10; 2]);
    let WhyNot::NoPlacement(found) = reason(&few.request(2)) else {
        panic!("{:?}", reason(&few.request(2)))
    };
    let Some((Freed::Others, ratio)) = found.found else {
        panic!("{found:?}")
    };
    assert!(found.has_others && ratio <= 1.10, "{found:?}");
    let many = Case::new(slots(21), [1.03; 2]);
    assert_eq!(reason(&many.request(2)), WhyNot::NotFound);
}

#[test]
fn limits_of_memory_stand_in_the_way_or_no_better_placement_was_found() {
    // Loads of 6 and 6 are possible where the second node holds 11 of memory; half of a slot has room.
    let reason = |slots: Slots| {
        let mut case = Case::new(slots, [1.35, f64::INFINITY]);
        case.owner[..3].clone_from_slice(&[Some(0), Some(0), Some(1)]);
        let mut request = case.request(2);
        request.fixed[0] = true;
        request.caps = Some(Caps {
            role: 1,
            aimed: vec![Some(11_300.0), Some(10_500.0)],
            hard: vec![Some(11_300.0), Some(10_500.0)],
        });
        reason(&request)
    };
    let slots = thousand(&[(6, 10, 0), (4, 1, 0), (2, 10, 1)]);
    let expected = NoPlacement {
        found: Some((Freed::Limits, 1.0)),
        ..proof(1.35, [true, false])
    };
    assert_eq!(reason(slots.clone()), WhyNot::NoPlacement(expected));
    assert_eq!(reason(with_many(slots)), WhyNot::NotFound);
}

#[test]
fn one_slot_or_slots_that_share_a_node_are_arithmetic_for_any_number_of_slots() {
    let slot = thousand(&[(6, 0, 0), (2, 0, 1), (2, 0, 1)]);
    let pair = thousand(&[(4, 0, 0), (4, 0, 1), (4, 0, 1)]);
    let two_of_three = SetBy::Slots {
        together: 2,
        heaviest: 3,
    };
    for (slots, set_by) in [(slot, SetBy::Slot(0)), (pair, two_of_three)] {
        for slots in [slots.clone(), with_many(slots)] {
            let case = Case::new(slots, [1.05; 2]);
            assert_eq!(reason(&case.request(1)), WhyNot::Floor(set_by));
        }
    }
}

#[test]
fn slots_that_stay_are_the_reason_only_where_they_alone_are_above_the_band() {
    let slots = thousand(&[(3, 0, 0), (3, 0, 0), (2, 0, 1), (2, 0, 1)]);
    let case = Case::new(slots, [1.05; 2]);
    let mut request = case.request(1);
    request.fixed[..2].fill(true);
    let WhyNot::Fixed(fixed) = why_not(&request, 0) else {
        panic!("{:?}", why_not(&request, 0))
    };
    assert_eq!((fixed.node, fixed.slots), (0, 2));
    request.fixed[0] = false;
    assert!(!matches!(why_not(&request, 0), WhyNot::Fixed(_)));
}

#[test]
fn a_placement_that_is_not_worth_its_moves_is_one_that_was_found() {
    // Only a slot of 0.05 can leave a node at 1.10; it is most of the data, or little of it.
    let slots: Slots = (0..10)
        .map(|_| (105, 0, 0))
        .chain([(50, 0, 0)])
        .chain((0..10).map(|_| (90, 0, 1)))
        .collect();
    let case = Case::new(slots, [1.06; 2]);
    for (price, is_worth) in [(100_000, false), (10, true)] {
        let mut prices = vec![1000; 21];
        prices[10] = price;
        let mut request = case.request(1);
        request.fixed = (0..21).map(|slot| slot != 10).collect();
        request.price = Some(&prices);
        assert_eq!(plan(&request).is_step, is_worth);
        let why = why_not(&request, 0);
        let WhyNot::NotWorth(ratio, 1) = why else {
            panic!("{why:?}")
        };
        assert!((ratio - 1.05).abs() < 1e-9, "{ratio}");
    }
}
