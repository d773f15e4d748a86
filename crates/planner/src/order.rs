//! Plans do not depend on the order of nodes: ties fall by index, so nodes are brought into an order of their names for
//! the time of planning. The order of a listing changes with every slot that moves.

use crate::move_request::{Caps, MoveRequest, Role};
use crate::solve::MovePlan;

/// The same request with the nodes in their order; `None` if they are.
pub(crate) fn sorted<'a>(request: &MoveRequest<'a>) -> Option<MoveRequest<'a>> {
    let order = &request.order;
    if order.iter().enumerate().all(|(at, node)| at == *node) {
        return None;
    }
    let mut place = vec![0; order.len()];
    order
        .iter()
        .enumerate()
        .for_each(|(at, node)| place[*node] = at);
    let limits = |limits: &[Option<f64>]| order.iter().map(|node| limits[*node]).collect();
    let role = |role: &Role<'a>| Role {
        capacity: order.iter().map(|node| role.capacity[*node]).collect(),
        ..role.clone()
    };
    let owner = request.owner.iter();
    Some(MoveRequest {
        roles: request.roles.iter().map(role).collect(),
        owner: owner.map(|node| node.map(|node| place[node])).collect(),
        leaves: order.iter().map(|node| request.leaves[*node]).collect(),
        caps: request.caps.as_ref().map(|caps| Caps {
            role: caps.role,
            aimed: limits(&caps.aimed),
            hard: limits(&caps.hard),
        }),
        order: Vec::new(),
        ..request.clone()
    })
}

/// The plan of a sorted request for the nodes as they are.
pub(crate) fn restored(mut plan: MovePlan, order: &[usize]) -> MovePlan {
    plan.owner
        .iter_mut()
        .flatten()
        .for_each(|node| *node = order[*node]);
    for role in &mut plan.roles {
        let mut targets = vec![0.0; order.len()];
        let sorted = role.targets.iter().zip(order);
        sorted.for_each(|(target, node)| targets[*node] = *target);
        role.targets = targets;
    }
    plan.fixed_above
        .iter_mut()
        .for_each(|fixed| fixed.node = order[fixed.node]);
    plan
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solve::plan;
    use slotscope_engine::metric::Metric;

    #[test]
    fn nodes_in_another_order_get_the_same_slots() {
        let loads: Vec<u64> = (0..600_u64).map(|slot| 10 + slot * slot % 37).collect();
        let hot: Vec<u64> = (0..600_u64).map(|slot| 1 + slot * 7 % 101).collect();
        let planned = |names: [usize; 5]| {
            let owner = (0..600).map(|slot| Some(names[[0, 0, 1, 2, 3][slot * slot % 5]]));
            let roles = [(Metric::Bytes, &loads), (Metric::Ops, &hot)];
            let roles = roles.map(|(metric, loads)| Role::even(metric, loads, 5, 0.03));
            let mut request = MoveRequest::new(roles.to_vec(), owner.collect());
            request.order = names.to_vec();
            let owner = plan(&request).owner;
            let name = |node: usize| names.iter().position(|name| *name == node);
            owner
                .into_iter()
                .map(|node| node.and_then(name))
                .collect::<Vec<_>>()
        };
        let first = planned([0, 1, 2, 3, 4]);
        assert_eq!(first, planned([3, 0, 4, 2, 1]));
        assert_eq!(first, planned([4, 3, 2, 1, 0]));
    }
}
