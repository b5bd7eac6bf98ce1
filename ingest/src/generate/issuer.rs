//! The large issuers, whose shares are listed in the United States: the ones
//! that options are written on and that borrow by bonds.
//!
//! An issuer is known by its number alone. The kinds that point at it (an option
//! at its underlying, a bond at its borrower) make its ticker and name from the
//! number again, so nothing has to be kept.

use super::names;
use super::rng::{Random, scramble};

/// How many tiers of issuers there are: the higher, the more traded.
pub(super) const TIERS: u64 = 4;

/// Letters that begin the syllables of a coined name, and make its ticker.
const CONSONANTS: &[u8; 20] = b"BCDFGHJKLMNPQRSTVWXZ";

/// One large issuer.
pub(super) struct Issuer {
    seed: u64,
    number: u64,
    letters: [u8; 4],
    letters_len: usize,
}

impl Issuer {
    /// The issuer at `place` of `tier`, both from 0.
    pub(super) fn at(seed: u64, tier: u64, place: u64) -> Self {
        Self::numbered(seed, place * TIERS + tier)
    }

    /// The issuer of that number. Its ticker is its own as long as numbers stay
    /// below 2^14, which holds for all that have options.
    pub(super) fn numbered(seed: u64, number: u64) -> Self {
        // The most traded have three letters, the others four: the two sets
        // cannot meet, and each is numbered through a bijection.
        let (letters_len, mut rest) = if number % TIERS == TIERS - 1 {
            (3, scramble((number / TIERS) % (1 << 12), 12, seed))
        } else {
            (4, scramble(number % (1 << 17), 17, seed))
        };
        let mut letters = [b' '; 4];
        for letter in letters[..letters_len].iter_mut().rev() {
            *letter = CONSONANTS[(rest % 20) as usize];
            rest /= 20;
        }
        Self { seed, number, letters, letters_len }
    }

    /// Three or four letters.
    pub(super) fn ticker(&self) -> &[u8] {
        &self.letters[..self.letters_len]
    }

    /// Appends the name of the shares: a coined word whose consonants are the
    /// ticker, a trade, a legal form.
    pub(super) fn push_name(&self, text: &mut Vec<u8>) {
        let mut random = self.random();
        let start = text.len();
        self.push_coined(text, &mut random);
        text.push(b' ');
        names::push_trade(text, &mut random);
        text.push(b' ');
        text.extend_from_slice(random.pick(&["INC", "CORP", "CO", "INC", "CORP"]).as_bytes());
        names::cut(text, start);
    }

    /// Appends the shorter name under which the issuer borrows: `IBM CORP`, so
    /// to speak.
    pub(super) fn push_borrower(&self, text: &mut Vec<u8>) {
        self.push_coined(text, &mut self.random());
        text.extend_from_slice(b" CORP");
    }

    fn push_coined(&self, text: &mut Vec<u8>, random: &mut Random) {
        for &letter in self.ticker() {
            text.extend_from_slice(&[letter, random.pick(b"AEIO")]);
        }
        text.extend_from_slice(random.pick(&["", "N", "X", "R", "S", "TEC"]).as_bytes());
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
        let tickers: HashSet<Vec<u8>> =
            (0..1 << 14).map(|number| Issuer::numbered(9, number).ticker().to_vec()).collect();
        assert_eq!(tickers.len(), 1 << 14);
    }

    #[test]
    fn a_name_spells_its_ticker() {
        for number in 0..100 {
            let issuer = Issuer::numbered(9, number);
            let (mut name, mut borrower) = (Vec::new(), Vec::new());
            issuer.push_name(&mut name);
            issuer.push_borrower(&mut borrower);
            let letters: Vec<u8> = name.iter().step_by(2).copied().collect();
            assert!(letters.starts_with(issuer.ticker()));
            assert_eq!(name[..6], borrower[..6], "both begin with the coined word");
        }
    }
}
