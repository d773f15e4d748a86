//! Plans do not depend on the order of nodes: ties fall by index, so nodes are brought into an order of their names for
//! the time of planning. The order of a listing changes with every slot that moves.

use crate::move_request::{Caps, MoveRequest, Role};

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
