//! Joins: which fields are equal among the keys of a batch, counted by shape. One pass over the batches serves every scheme.
//!
//! A value is told by its hash: two of 64 bits that are equal by chance are not expected in any capture.

use std::collections::{BTreeMap, HashMap};

use slotscope_engine::hash::{fold, hash};

use crate::batches::Batches;
use crate::families::Families;
use crate::scheme::{Choice, MOST_FIELDS, Scheme};
use crate::seeded::SeededMap;
use crate::tokens::Tokens;

/// Shapes that are counted by themselves; twice as many are followed, and the others are never cured.
const MOST_SHAPES: usize = 4096;

/// A key that batches touch.
#[derive(Debug, Clone, Copy)]
pub struct TouchedKey {
    /// Its number in the batches, the first time.
    pub place: u32,
    /// Its family.
    pub family: u32,
    /// The hash of its name.
    pub name: u64,
    /// The hash of its tag with a brace; of the name if it has no tag.
    pub tag: u64,
    /// Whether it has a tag.
    pub is_tagged: bool,
    /// Where the hashes of its fields start in `Joins::values`.
    values: u32,
    /// How many there are.
    fields: u8,
}

/// A family in a shape: which of its values are the same in all keys, and the same as others of the batch.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FamilyJoin {
    /// The family.
    pub family: u32,
    /// Whether the batch has several keys of it.
    pub has_several: bool,
    /// The class of today's tag; `None` if the keys differ in it or have no tag.
    pub tag: Option<u16>,
    /// The classes of the fields.
    pub fields: Vec<Option<u16>>,
}

/// Batches that are alike.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BatchShape {
    /// Whether their keys must be in one slot.
    pub must_be_together: bool,
    /// By family.
    pub families: Vec<FamilyJoin>,
}

/// How often a shape came.
#[derive(Debug, Clone, Copy)]
pub struct ShapeCount {
    /// Batches.
    pub batches: u64,
    /// Their keys.
    pub keys: u64,
    /// The command of the first one.
    pub command: Option<&'static str>,
}

/// Whether a batch has several keys of a family, and the tag and the values in which all of them agree.
type Agreed = (bool, Option<u64>, Vec<Option<u64>>);

/// Joins of names, as batches show them.
#[derive(Debug, Default)]
pub struct Joins {
    /// The distinct keys.
    pub keys: Vec<TouchedKey>,
    values: Vec<u64>,
    /// By batch its keys, as numbers of `keys`.
    touched: Vec<u32>,
    ends: Vec<u32>,
    /// The shapes of batches of two keys or more, heaviest first.
    pub shapes: Vec<(BatchShape, ShapeCount)>,
    /// Batches of two keys or more.
    pub multi: u64,
    /// Batches whose shapes are not counted by themselves.
    pub uncounted: u64,
    /// By key how many batches touch it.
    pub accesses: Vec<u32>,
    /// Their sum.
    pub total_accesses: u64,
}

impl Joins {
    /// Reads all batches.
    pub(crate) fn of(batches: &Batches, families: &Families) -> Self {
        let mut joins = Joins::default();
        let mut numbers: SeededMap<u64, u32> = SeededMap::default();
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

    /// The tag of a key by a choice, as a hash.
    pub fn tag_of(&self, key: &TouchedKey, choice: Choice) -> u64 {
        tag_hash(choice, key.name, key.tag, self.values(key))
    }

    /// How many batches there are.
    pub(crate) fn batches(&self) -> usize {
        self.ends.len()
    }

    /// The keys of a batch, as numbers.
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

/// The hash of a tag of today: never that of a value.
pub(crate) fn braced(tag: u64) -> u64 {
    fold(tag, 0x7B7B_7B7B_7B7B_7B7B)
}

/// The hash of the tag that a choice makes of a name with these hashes.
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
    /// Whether a scheme brings all keys of a batch like this one to one slot.
    pub(crate) fn is_in_one_slot(&self, scheme: &Scheme) -> bool {
        let mut common = None;
        self.families.iter().all(|family| {
            let tag = family.tag_by(scheme.get(family.family));
            tag.is_some() && *common.get_or_insert(tag) == tag
        })
    }
}

/// The classes of a tag; a tag of today is never equal to a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TagClass {
    /// The tag that keys have.
    Today(u16),
    /// A field.
    Field(u16),
    /// Two fields.
    Pair(u16, u16),
}

impl FamilyJoin {
    /// The class of the tag by a choice, where all keys have the same.
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
