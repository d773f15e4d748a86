//! One definition of names: ids in keys, patterns with placeholders for them, and families of patterns.
//!
//! **Tokens.** A token is a run of ASCII letters and digits; all other bytes are between tokens. Only tokens with a
//! digit can be ids, and the rule looks at the positions of digits, letters and other bytes, never at their values:
//! keys that agree in these positions have one pattern, so patterns of billions of keys are cheap.
//!
//! | in a key | mark | rule |
//! |---|---|---|
//! | `1001` | `<n>` | all digits |
//! | `news001` | `news<n>` | three or more digits that end a word |
//! | `v1`, `s3`, `host7`, `utf8` | none | one or two digits that end a word; see families |
//! | `0a9f33c1` | `<hex>` | eight or more hexadecimal digits, a decimal one among them |
//! | `deadbeef`, `profile` | none | no digit |
//! | `a1b2c`, `x7y` | none | mixed, but short; see families |
//! | `k3jf82ls0qpw1mz8` | `<id>` | sixteen or more, mixed |
//! | `123e4567-e89b-12d3-a456-426614174000` | `<uuid>` | 8-4-4-4-12 hexadecimal digits, alone |
//! | `2026-11-01`, `2026/11/01` | `<date>` | 4-2-2 digits, alone |
//! | `20261101`, `2026-11`, `1717269600` | `<n>`, `<n>-<n>`, `<n>` | a number by its form, a time by its value: [`times`] |
//! | `10.0.0.1` | `<ip>` | four numbers of up to three digits, alone |
//!
//! The scalar rule is in [`ids`]; the engine finds the same ids with vectors.
//!
//! **Families.** Patterns that differ in a single word are siblings. If there are many, the word is an id that its form
//! did not reveal; [`families`] has the rules.
//!
//! | siblings | family | rule |
//! |---|---|---|
//! | `host1` to `host9` | nine | a few numbered things are told apart: versions, shards |
//! | `host1` to `host10` | `host<n>` | more than nine numbers after a word |
//! | ten words like `a1b2c` | `<id>` | more than nine words that look random and hold little |
//! | 101 words like `ann` | `<id>` | more than a hundred words that hold little |
//! | `Qx_-aB7` next to an id | `<id>` | pieces that joiners join to an id |
//! | few `<n>` next to many `<hex>` | `<hex>` | ids that happen to lack a letter |
//! | a word that holds much | itself | one percent of the bytes or operations, or one key in a thousand |
#![deny(missing_docs)]

pub mod families;
pub mod ids;
pub mod parts;
pub mod times;
