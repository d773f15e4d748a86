//! Seeded random numbers: uniform draws, scattered ids and Zipf ranks. Integers only, so that every machine draws the
//! same.

/// A stream of 64-bit draws: splitmix64 (Steele, Lea, Flood 2014; constants of Vigna's reference code).
pub(super) struct Draw {
    state: u64,
    salt: u64,
}

impl Draw {
    pub(super) fn new(seed: u64) -> Self {
        let mut draw = Draw {
            state: seed,
            salt: 0,
        };
        draw.salt = draw.next();
        draw
    }

    /// The next draw.
    pub(super) fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A draw below `n`, which is at most 2^32; the bias of n / 2^32 is negligible here.
    pub(super) fn below(&mut self, n: usize) -> usize {
        (((self.next() >> 32) * n as u64) >> 32) as usize
    }

    /// Id number `n` of `kind`: each block of 2^`bits` numbers is shuffled within itself, so ids look random, never
    /// repeat, and have as many digits as the block needs. The shuffle depends on the seed and the kind.
    ///
    /// Every step is a bijection modulo 2^`bits`: addition, multiplication by an odd number, and XOR with the upper
    /// half.
    pub(super) fn scatter(&self, kind: u64, bits: u32, n: u64) -> u64 {
        let mask = u64::MAX >> (64 - bits);
        let half = bits.div_ceil(2);
        let mut x = n.wrapping_add(self.salt ^ kind.wrapping_mul(0xA076_1D64_78BD_642F)) & mask;
        x = x.wrapping_mul(0xBF58_476D_1CE4_E5B9) & mask;
        x = (x ^ (x >> half)).wrapping_mul(0x94D0_49BB_1331_11EB) & mask;
        x = (x ^ (x >> half)).wrapping_mul(0x9E37_79B9_7F4A_7C15) & mask;
        (n & !mask) | (x ^ (x >> half))
    }
}

/// The state of a key family, which makes its keys distinct.
#[derive(Clone, Copy, Default)]
pub(super) struct Turn {
    made: u64,
    owner: u64,
    part: usize,
    left: usize,
}

impl Turn {
    /// The next unused number of this family: 0, 1, 2...
    pub(super) fn number(&mut self) -> u64 {
        self.made += 1;
        self.made - 1
    }

    /// The next pair (owner, part): owners 0, 1, 2... with parts 0, 1... each, at most `most`.
    pub(super) fn part(&mut self, draw: &mut Draw, most: usize) -> (u64, usize) {
        if self.left == 0 {
            self.owner += 1;
            self.part = 0;
            self.left = 1 + draw.below(most);
        }
        self.left -= 1;
        self.part += 1;
        (self.owner - 1, self.part - 1)
    }
}

/// Ranks 0..n with weights 1, 1/2, 1/3... by Walker's alias method: one draw and one lookup per rank (Vose 1991). A
/// binary search over cumulative sums would miss the cache 17 times for 100,000 ranks.
pub(super) struct Zipf {
    columns: Vec<Column>,
}

/// A column of the alias table: rank `own` below the threshold, rank `alias` above.
struct Column {
    threshold: u32,
    alias: u32,
}

impl Zipf {
    /// The table for `ranks` ranks, 8 bytes each; exact in integers except for a rounding of 2^-32 per column.
    pub(super) fn new(ranks: u32) -> Self {
        let n = u64::from(ranks);
        let mut rest: Vec<u64> = (1..=n).map(|rank| ((1 << 40) / rank) * n).collect();
        let full: u64 = rest.iter().sum::<u64>() / n; // exact: every term is a multiple of n
        let mut columns: Vec<Column> = (0..ranks)
            .map(|own| Column {
                threshold: u32::MAX,
                alias: own,
            })
            .collect();
        let (mut light, mut heavy): (Vec<u32>, Vec<u32>) =
            (0..ranks).partition(|own| rest[*own as usize] < full);
        while let (Some(own), Some(&alias)) = (light.pop(), heavy.last()) {
            let kept = rest[own as usize];
            let threshold = ((u128::from(kept) << 32) / u128::from(full)) as u32;
            columns[own as usize] = Column { threshold, alias };
            rest[alias as usize] -= full - kept;
            if rest[alias as usize] < full {
                heavy.pop();
                light.push(alias);
            }
        }
        Zipf { columns }
    }

    /// The next rank.
    pub(super) fn rank(&self, draw: &mut Draw) -> u64 {
        let bits = draw.next();
        let own = ((bits >> 32) * self.columns.len() as u64) >> 32;
        let column = &self.columns[own as usize];
        if (bits as u32) < column.threshold {
            own
        } else {
            u64::from(column.alias)
        }
    }
}

impl Draw {
    /// A rank below 2^`octaves` - 1 with weights 1, 1/2, 1/3... without a table, for millions of ranks. All octaves are
    /// equally heavy if each rank is given the weight of its octave's first; rejection sampling corrects that, with 3
    /// of 10 draws rejected.
    pub(super) fn long_tail(&mut self, octaves: u32) -> u64 {
        loop {
            let first = 1u64 << self.below(octaves as usize);
            let rank = first + self.below(first as usize) as u64;
            if (self.next() >> 32) * rank < first << 32 {
                return rank - 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_draws_are_those_of_the_published_splitmix64() {
        let mut draw = Draw {
            state: 1_234_567,
            salt: 0,
        };
        assert_eq!(
            [draw.next(), draw.next()],
            [6_457_827_717_110_365_317, 3_203_168_211_198_807_973]
        );
    }

    #[test]
    fn scattering_is_a_bijection_of_each_block() {
        let draw = Draw::new(7);
        for bits in [1, 2, 3, 11, 16] {
            for block in [0, 5] {
                let size = 1u64 << bits;
                let mut seen: Vec<u64> = (block * size..(block + 1) * size)
                    .map(|n| draw.scatter(3, bits, n))
                    .collect();
                seen.sort_unstable();
                assert!(
                    seen.into_iter().eq(block * size..(block + 1) * size),
                    "{bits} bits"
                );
            }
        }
    }

    #[test]
    fn an_owner_has_every_part_once() {
        let (mut turn, mut draw) = (Turn::default(), Draw::new(1));
        let pairs: Vec<_> = (0..1000).map(|_| turn.part(&mut draw, 3)).collect();
        assert!(pairs.is_sorted_by(|a, b| a < b));
        assert!(pairs.iter().all(|(_, part)| *part < 3));
    }
}
