//! Joins: the fields with equal values among the keys of a batch, counted by shape. One pass over the batches serves
//! all schemes.
//!
//! Values are compared by 64-bit hashes: no capture is large enough to expect a collision.

use std::collections::{BTreeMap, HashMap};

use slotscope_base::hash::{fold, hash};

use crate::batches::Batches;
use crate::families::Families;
use crate::scheme::{Choice, MOST_FIELDS, Scheme};
use crate::tokens::Tokens;

/// Shapes that are counted individually; twice this many are tracked, and the others are never cured.
const MOST_SHAPES: usize = 4096;

/// A key in a batch.
#[derive(Debug, Clone, Copy)]
pub struct TouchedKey {
    /// Its number in the batches, at first sight.
    pub place: u32,
    /// Its family.
    pub family: u32,
    /// The hash of its name.
    pub name: u64,
    /// The hash of its tag including a brace, or of its name without one.
    pub tag: u64,
    /// Whether it has a tag.
    pub is_tagged: bool,
    /// Start of the hashes of its fields in `Joins::values`.
    values: u32,
    /// Number of fields.
    fields: u8,
}

/// A family in a shape: the values that are the same in all its keys, and equal to others of the batch.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FamilyJoin {
    /// The family.
    pub family: u32,
    /// Whether the batch has several keys of the family.
    pub has_several: bool,
    /// The class of today's tag; `None` if the keys differ in it or have none.
    pub tag: Option<u16>,
    /// The classes of the fields.
    pub fields: Vec<Option<u16>>,
}

/// Batches of the same form.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BatchShape {
    /// Whether their keys must be in one slot.
    pub must_be_together: bool,
    /// The families in it.
    pub families: Vec<FamilyJoin>,
}

/// The number of occurrences of a shape.
#[derive(Debug, Clone, Copy)]
pub struct ShapeCount {
    /// Number of batches.
    pub batches: u64,
    /// Number of their keys.
    pub keys: u64,
    /// The command of the first batch.
    pub command: Option<&'static str>,
}

/// Whether a batch has several keys of a family, and the tag and the values on which all of them agree.
type Agreed = (bool, Option<u64>, Vec<Option<u64>>);

/// The joins found in batches.
#[derive(Debug, Default)]
pub struct Joins {
    /// The distinct keys.
    pub keys: Vec<TouchedKey>,
    values: Vec<u64>,
    /// The keys of each batch, as indices of `keys`.
    touched: Vec<u32>,
    ends: Vec<u32>,
    /// The shapes of batches of two or more keys, most frequent first.
    pub shapes: Vec<(BatchShape, ShapeCount)>,
    /// Number of batches of two or more keys.
    pub multi: u64,
    /// Number of batches whose shapes are not counted individually.
    pub uncounted: u64,
    /// Number of batches that touch each key.
    pub accesses: Vec<u32>,
    /// The sum of `accesses`.
    pub total_accesses: u64,
}

impl Joins {
    /// Reads all batches.
    pub(crate) fn of(batches: &Batches, families: &Families) -> Self {
        let mut joins = Joins::default();
        let mut numbers: HashMap<u64, u32> = HashMap::default();
        let mut tokens = families.tokens();
        let mut shapes: HashMap<BatchShape, ShapeCount> = HashMap::new();
        for at in 0..batches.len() {
            let from = joins.touched.len();
            for place in batches.numbers(at) {
                let name = hash(batches.key(place));
                let number = *numbers.entry(name).or_insert_with(|| {
                    joins.add_key(
                        place as u32,
                        name,
                        batches.key(place),
                        families,
                        &mut tokens,
                    )
                });
                joins.accesses[number as usize] += 1;
                joins.touched.push(number);
            }
            joins.ends.push(joins.touched.len() as u32);
            if joins.touched.len() - from < 2 {
                continue;
            }
            joins.multi += 1;
            let shape = joins.shape(batches.must_be_together(at), &joins.touched[from..]);
            let count = shapes.entry(shape).or_insert(ShapeCount {
                batches: 0,
                keys: 0,
                command: batches.command(at),
            });
            count.batches += 1;
            count.keys += (joins.touched.len() - from) as u64;
            if shapes.len() > 2 * MOST_SHAPES {
                shapes = heaviest(shapes).into_iter().collect();
            }
        }
        joins.total_accesses = joins.touched.len() as u64;
        joins.shapes = heaviest(shapes);
        let counted: u64 = joins.shapes.iter().map(|(_, count)| count.batches).sum();
        joins.uncounted = joins.multi - counted;
        joins
    }

    fn add_key(
        &mut self,
        place: u32,
        name: u64,
        key: &[u8],
        families: &Families,
        tokens: &mut Tokens,
    ) -> u32 {
        let family = families.read(key, tokens) as u32;
        let values = self.values.len() as u32;
        let fields = &families.list[family as usize].fields;
        let looked_at = fields.iter().take(MOST_FIELDS + 1);
        self.values
            .extend(looked_at.map(|field| hash(tokens.bytes(*field))));
        let fields = (self.values.len() - values as usize) as u8;
        let tag = hashslot::tag(key);
        let is_tagged = tag.is_some();
        let tag = tag.map_or(name, |tag| braced(hash(&key[tag])));
        self.keys.push(TouchedKey {
            place,
            family,
            name,
            tag,
            is_tagged,
            values,
            fields,
        });
        self.accesses.push(0);
        self.keys.len() as u32 - 1
    }

    /// The hashes of the fields of a key.
    pub(crate) fn values(&self, key: &TouchedKey) -> &[u64] {
        &self.values[key.values as usize..][..usize::from(key.fields)]
    }

    /// The hash of a key's tag under a choice.
    pub fn tag_of(&self, key: &TouchedKey, choice: Choice) -> u64 {
        tag_hash(choice, key.name, key.tag, self.values(key))
    }

    /// Number of batches.
    pub(crate) fn batches(&self) -> usize {
        self.ends.len()
    }

    /// The keys of a batch, as indices.
    pub(crate) fn batch(&self, at: usize) -> &[u32] {
        let from = at
            .checked_sub(1)
            .map_or(0, |before| self.ends[before] as usize);
        &self.touched[from..self.ends[at] as usize]
    }

    /// The shape of a batch of several keys.
    pub(crate) fn shape_of(&self, at: usize, batches: &Batches) -> Option<BatchShape> {
        let keys = self.batch(at);
        (keys.len() > 1).then(|| self.shape(batches.must_be_together(at), keys))
    }

    fn shape(&self, must_be_together: bool, batch: &[u32]) -> BatchShape {
        let mut agreed: BTreeMap<u32, Agreed> = BTreeMap::new();
        for key in batch.iter().map(|number| &self.keys[*number as usize]) {
            let tag = key.is_tagged.then_some(key.tag);
            let values = self.values(key);
            match agreed.get_mut(&key.family) {
                None => {
                    let values = values.iter().copied().map(Some).collect();
                    agreed.insert(key.family, (false, tag, values));
                }
                Some((has_several, known_tag, known)) => {
                    *has_several = true;
                    *known_tag = known_tag.filter(|known| Some(*known) == tag);
                    for (known, value) in known.iter_mut().zip(values) {
                        *known = known.filter(|known| known == value);
                    }
                }
            }
        }
        let mut classes: Vec<u64> = Vec::new();
        let mut class = |value: u64| {
            let known = classes.iter().position(|known| *known == value);
            known.unwrap_or_else(|| {
                classes.push(value);
                classes.len() - 1
            }) as u16
        };
        let families = agreed
            .into_iter()
            .map(|(family, (has_several, tag, values))| FamilyJoin {
                family,
                has_several,
                fields: values
                    .into_iter()
                    .map(|value| value.map(&mut class))
                    .collect(),
                tag: tag.map(&mut class),
            });
        BatchShape {
            must_be_together,
            families: families.collect(),
        }
    }
}

/// The hash of today's tag; never equal to that of a value.
pub(crate) fn braced(tag: u64) -> u64 {
    fold(tag, 0x7B7B_7B7B_7B7B_7B7B)
}

/// The hash of the tag under a choice, for a name with these hashes.
pub(crate) fn tag_hash(choice: Choice, name: u64, tag: u64, values: &[u64]) -> u64 {
    match choice {
        Choice::Keep => tag,
        Choice::Bare => name,
        Choice::Field(at) => values.get(usize::from(at)).copied().unwrap_or(name),
        Choice::Pair(at) => match values.get(usize::from(at)..usize::from(at) + 2) {
            Some([a, b]) => fold(*a, *b),
            _ => name,
        },
    }
}

fn heaviest(shapes: HashMap<BatchShape, ShapeCount>) -> Vec<(BatchShape, ShapeCount)> {
    let mut shapes: Vec<_> = shapes.into_iter().collect();
    shapes.sort_unstable_by(|a, b| b.1.batches.cmp(&a.1.batches).then_with(|| a.0.cmp(&b.0)));
    shapes.truncate(MOST_SHAPES);
    shapes
}

impl BatchShape {
    /// Whether a scheme brings all keys of such a batch to one slot.
    pub(crate) fn is_in_one_slot(&self, scheme: &Scheme) -> bool {
        let mut common = None;
        self.families.iter().all(|family| {
            let tag = family.tag_by(scheme.get(family.family));
            tag.is_some() && *common.get_or_insert(tag) == tag
        })
    }
}

/// The classes of a tag; today's tag is never equal to a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TagClass {
    /// Today's tag.
    Today(u16),
    /// A field.
    Field(u16),
    /// Two fields.
    Pair(u16, u16),
}

impl FamilyJoin {
    /// The class of the tag under a choice, if all keys agree.
    pub(crate) fn tag_by(&self, choice: Choice) -> Option<TagClass> {
        let class = |at: u8| self.fields.get(usize::from(at)).copied().flatten();
        match choice {
            Choice::Keep => self.tag.map(TagClass::Today),
            Choice::Bare => None,
            Choice::Field(at) => class(at).map(TagClass::Field),
            Choice::Pair(at) => Some(TagClass::Pair(class(at)?, class(at + 1)?)),
        }
    }
}
