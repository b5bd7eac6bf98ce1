//! The random numbers of the generator, from a seed and a position in the universe.
//!
//! They are implemented here because the same seed must always give the same bytes, but crates for
//! random numbers may change their values in a later release. All arithmetic is on integers, so all
//! machines compute the same.

/// SplitMix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number
/// generators", OOPSLA 2014; constants of the public-domain version by Vigna).
pub(crate) struct Random(u64);

impl Random {
    /// The random numbers of one issue. They depend only on the seed, the kind and the ordinal, so
    /// that issues can be made in any order or in parallel.
    pub(crate) const fn of(seed: u64, kind: u64, ordinal: u64) -> Self {
        Self(mix(mix(seed).wrapping_add(kind)).wrapping_add(ordinal))
    }

    /// A number of 64 random bits.
    pub(crate) const fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        mix(self.0)
    }

    /// A number below `bound`, all equally likely up to one in 2^64 / `bound`
    /// (the multiplication of Lemire, "Fast random integer generation in an
    /// interval", without its correction).
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(bound)) >> 64) as u64
    }

    /// True once in `times`.
    pub(crate) fn one_in(&mut self, times: u64) -> bool {
        self.below(times) == 0
    }

    /// One of `choices`, all equally likely. There must be at least one.
    pub(crate) fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len() as u64) as usize]
    }

    /// One of `choices` by Zipf's law, like the words of a language: the second is half as
    /// frequent as the first, the third a third.
    pub(crate) fn pick_by_rank<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.rank(choices.len() as u64) as usize]
    }

    /// One of `choices`, with a probability proportional to its weight. The weights must not all be
    /// 0.
    pub(crate) fn pick_weighted<'a, T>(
        &mut self,
        choices: &'a [T],
        weight: impl Fn(&T) -> u64,
    ) -> &'a T {
        let mut rest = self.below(choices.iter().map(&weight).sum());
        let is_drawn = |choice: &&T| match rest.checked_sub(weight(choice)) {
            Some(left) => {
                rest = left;
                false
            }
            None => true,
        };
        choices.iter().find(is_drawn).expect("the number is below the sum of the weights")
    }

    /// A rank below `count`, where rank r has a weight of about 1 / (r + 1). It draws a power of
    /// two and then a rank of that size, which needs no logarithm.
    pub(crate) fn rank(&mut self, count: u64) -> u64 {
        let powers = u64::from(u64::BITS - count.leading_zeros());
        let width = 1 << self.below(powers);
        (width - 1 + self.below(width)) % count
    }
}

/// The last step of SplitMix64: a bijection in which every output bit depends on every input
/// bit.
const fn mix(number: u64) -> u64 {
    let number = (number ^ (number >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    number ^ (number >> 31)
}

/// A bijection of the numbers below 2^`bits` that looks random. Two numbers never have the same
/// image. So identifiers that are made from images are unique without a list of used ones.
pub(crate) const fn scramble(number: u64, bits: u32, seed: u64) -> u64 {
    let mask = (1 << bits) - 1;
    let number = (number ^ mix(seed)) & mask;
    let number = number.wrapping_mul(0x9E37_79B9_7F4A_7C15) & mask;
    let number = number ^ (number >> (bits / 2 + 1));
    number.wrapping_mul(0xD1B5_4A32_D192_ED03) & mask
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first values that the published program prints for the state 1234567.
    #[test]
    fn the_generator_is_the_published_one() {
        let mut random = Random(1_234_567);
        let values: Vec<u64> = (0..3).map(|_| random.next()).collect();
        assert_eq!(
            values,
            [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]
        );
    }

    #[test]
    fn scrambling_is_a_bijection() {
        for bits in [4, 12, 17] {
            let mut images: Vec<u64> = (0..1 << bits).map(|n| scramble(n, bits, 7)).collect();
            images.sort_unstable();
            assert!(images.into_iter().eq(0..1 << bits), "{bits} bits");
        }
    }

    #[test]
    fn low_ranks_are_frequent_and_all_ranks_occur() {
        let mut random = Random::of(1, 2, 3);
        let mut counts = [0_u32; 100];
        for _ in 0..100_000 {
            counts[random.rank(100) as usize] += 1;
        }
        assert!(counts.iter().all(|&count| count > 0));
        assert!(counts[0] > 8 * counts[50], "{counts:?}");
    }
}
