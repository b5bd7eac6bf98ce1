//! The large issuers, whose shares are listed in the United States. Options are written on them,
//! and they issue bonds.
//!
//! The seed and the number of an issuer determine its ticker and its names. The kinds that refer to
//! an issuer (an option to its underlying, a bond to its borrower) compute them, so nothing is
//! stored.

use super::names;
use super::rng::{Random, scramble};

/// Number of tiers of issuers. A higher tier is traded more.
pub(crate) const TIERS: u64 = 4;

/// The letters that begin the syllables of a coined name, and form its ticker.
const CONSONANTS: &[u8; 20] = b"BCDFGHJKLMNPQRSTVWXZ";

/// One large issuer.
pub(crate) struct Issuer {
    seed: u64,
    number: u64,
    ticker: String,
}

impl Issuer {
    /// The issuer at `place` of `tier`, both from 0.
    pub(crate) fn at(seed: u64, tier: u64, place: u64) -> Self {
        Self::numbered(seed, place * TIERS + tier)
    }

    /// The issuer with that number. Tickers are unique for numbers below 2^14. All issuers with
    /// options have such numbers.
    pub(crate) fn numbered(seed: u64, number: u64) -> Self {
        // The most traded issuers have three letters, the others four. So the two sets do not
        // overlap, and a bijection numbers each of them.
        let (length, mut rest) = if number % TIERS == TIERS - 1 {
            (3, scramble((number / TIERS) % (1 << 12), 12, seed))
        } else {
            (4, scramble(number % (1 << 17), 17, seed))
        };
        let letter = || {
            let letter = CONSONANTS[(rest % 20) as usize];
            rest /= 20;
            char::from(letter)
        };
        let letters: Vec<char> = std::iter::repeat_with(letter).take(length).collect();
        Self { seed, number, ticker: letters.into_iter().rev().collect() }
    }

    /// The ticker: three or four letters.
    pub(crate) fn ticker(&self) -> &str {
        &self.ticker
    }

    /// The name of the shares: a coined word made from the ticker, a trade and a legal form.
    pub(crate) fn name(&self) -> String {
        let mut random = self.random();
        let (coined, trade) = (self.coined(&mut random), names::trade(&mut random));
        let legal_form = random.pick(&["INC", "CORP", "CO", "INC", "CORP"]);
        names::cut(format!("{coined} {trade} {legal_form}"))
    }

    /// The shorter name as a borrower, such as `IBM CORP`.
    pub(crate) fn borrower(&self) -> String {
        format!("{} CORP", self.coined(&mut self.random()))
    }

    fn coined(&self, random: &mut Random) -> String {
        let mut coined = String::with_capacity(12);
        for letter in self.ticker.chars() {
            coined.extend([letter, char::from(random.pick(b"AEIO"))]);
        }
        coined + random.pick(&["", "N", "X", "R", "S", "TEC"])
    }

    fn random(&self) -> Random {
        Random::of(self.seed, 1, self.number)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn tickers_of_the_issuers_with_options_are_unique() {
        let tickers: HashSet<String> =
            (0..1 << 14).map(|number| Issuer::numbered(9, number).ticker).collect();
        assert_eq!(tickers.len(), 1 << 14);
    }

    #[test]
    fn a_name_spells_its_ticker() {
        for number in 0..100 {
            let issuer = Issuer::numbered(9, number);
            let (name, borrower) = (issuer.name(), issuer.borrower());
            let letters: String = name.chars().step_by(2).collect();
            assert!(letters.starts_with(issuer.ticker()));
            assert_eq!(name[..6], borrower[..6], "both begin with the coined word");
        }
    }
}
