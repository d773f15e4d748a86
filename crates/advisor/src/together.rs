//! Families that must share a slot by the user's demand, instead of evidence in batches.

use std::collections::HashSet;

use slotscope_base::hash::hash;

use crate::joins::{BatchShape, FamilyJoin};
use crate::model::Model;
use crate::scheme::{MOST_FIELDS, Scheme};

/// Names per family whose values are compared.
const LOOKED_AT: usize = 1 << 16;

impl Model<'_> {
    /// Makes two families share a slot if the fields with the most values in common are equal.
    ///
    /// # Errors
    /// The families have no value in common.
    pub fn put_together(&mut self, a: u32, b: u32) -> Result<(), &'static str> {
        let [of_a, of_b] = [a, b].map(|family| self.values_of(family));
        let common = |i: usize, j: usize| of_a[i].intersection(&of_b[j]).count();
        let pairs = (0..of_a.len()).flat_map(|i| (0..of_b.len()).map(move |j| (i, j)));
        let best = pairs
            .map(|(i, j)| (common(i, j), i, j))
            .max_by_key(|(common, i, j)| (*common, std::cmp::Reverse((*i, *j))));
        let Some((1.., i, j)) = best.filter(|_| a != b) else {
            return Err("their names have no id in common; name two families that share one");
        };
        let mut families = vec![join(a, i, of_a.len()), join(b, j, of_b.len())];
        families.sort_by_key(|family| family.family);
        self.required.push(BatchShape {
            must_be_together: true,
            families,
        });
        Ok(())
    }

    /// Number of the user's demands that a scheme does not meet.
    pub fn unmet(&self, scheme: &Scheme) -> usize {
        self.required
            .iter()
            .filter(|shape| !shape.is_in_one_slot(scheme))
            .count()
    }

    /// Hashes of the values of each field of a family.
    fn values_of(&self, family: u32) -> Vec<HashSet<u64>> {
        let family = &self.families.list[family as usize];
        let fields = &family.fields[..family.fields.len().min(MOST_FIELDS)];
        let mut values = vec![HashSet::new(); fields.len()];
        let mut tokens = self.families.tokens();
        for name in family.names.iter().take(LOOKED_AT) {
            self.families
                .read(self.names.get(*name as usize).0, &mut tokens);
            let of_name = fields.iter().map(|field| hash(tokens.bytes(*field)));
            values.iter_mut().zip(of_name).for_each(|(values, value)| {
                values.insert(value);
            });
        }
        values
    }
}

/// A family with one field in common.
fn join(family: u32, common: usize, fields: usize) -> FamilyJoin {
    let fields = (0..fields).map(|at| (at == common).then_some(0)).collect();
    FamilyJoin {
        family,
        has_several: false,
        tag: None,
        fields,
    }
}
