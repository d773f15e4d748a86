//! M_rest: the fullest node, not counting what no move can fix: a slot heavier than its node's fair share.

/// A node's load and its reference value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NodeLoad {
    /// Its load.
    pub load: f64,
    /// The load of its heaviest slot.
    pub heaviest: f64,
    /// Its relative capacity, above 0.
    pub capacity: f64,
}

/// The maximum of `load_i / max(m_i, u_i)`, where u_i is the heaviest slot of node i and m_i its part of the load of
/// all nodes that no slot fills alone.
pub fn rest_over_mean(nodes: &[NodeLoad]) -> f64 {
    let mut open: Vec<usize> = (0..nodes.len()).collect();
    loop {
        let load: f64 = open.iter().map(|at| nodes[*at].load).sum();
        let capacity: f64 = open.iter().map(|at| nodes[*at].capacity).sum();
        let mean = if capacity > 0.0 { load / capacity } else { 0.0 };
        let is_filled = |at: &usize| nodes[*at].heaviest > mean * nodes[*at].capacity;
        let before = open.len();
        open.retain(|at| !is_filled(at));
        if open.len() == before || open.is_empty() {
            let over = nodes.iter().map(|node| {
                let least = node.heaviest.max(mean * node.capacity);
                if least > 0.0 { node.load / least } else { 0.0 }
            });
            return over.fold(0.0, f64::max);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nodes(loads: &[(f64, f64)]) -> Vec<NodeLoad> {
        let node = |(load, heaviest): &(f64, f64)| NodeLoad {
            load: *load,
            heaviest: *heaviest,
            capacity: 1.0,
        };
        loads.iter().map(node).collect()
    }

    #[test]
    fn a_giant_hides_no_node_that_moves_can_relieve() {
        let of = |loads: &[(f64, f64)]| rest_over_mean(&nodes(loads));
        assert_eq!(of(&[(8.0, 8.0), (3.0, 0.1), (1.0, 0.1)]), 1.5);
        assert_eq!(of(&[(8.0, 8.0), (2.0, 0.1), (2.0, 0.1)]), 1.0);
        assert_eq!(of(&[(10.0, 8.0), (2.0, 0.1), (2.0, 0.1)]), 1.25);
    }

    #[test]
    fn without_giants_it_is_the_fullest_node() {
        let of = |loads: &[(f64, f64)]| rest_over_mean(&nodes(loads));
        assert_eq!(of(&[(3.0, 0.1), (1.0, 0.1)]), 1.5);
        assert_eq!(of(&[(0.0, 0.0)]), 0.0);
        assert_eq!(of(&[]), 0.0);
    }
}
