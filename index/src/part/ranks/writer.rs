//! Ranking all rows, once all parts are written and the listings of each security are counted.
//!
//! Rows of all parts are ranked together, so that no answer depends on the division into parts
//! (contract 10.7).

use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::fs::{self, File};
use std::io::{BufReader, BufWriter, Read as _, Seek as _, SeekFrom, Write as _};
use std::num::{NonZeroU16, NonZeroU64};
use std::path::{Path, PathBuf};

use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{DocSet as _, SegmentReader, TERMINATED};
use tempfile::SpooledTempFile;

use super::choice::{Among, BEST, BestBy, Choice, Distance, Standing, bytes};
use super::importances::{Collected, Values};
use super::lists::{LISTED_MIN, LISTS, WORDS, put};
use super::rank::{Comparison, FACTS_BYTES, Facts, RANK_BITS, REPORTING, Rank};
use super::{FIRSTS, ORDER, Runs, VALUES, width};
use crate::error::{Error, Result};
use crate::instrument::Instrument;
use crate::instrument::figi::Figi;
use crate::instrument::markets::Countries;
use crate::part::file_writer::{FileWriter, write_file};
use crate::part::rows::Rows;

/// The file with the facts of a part's rows. It is removed when the part is ranked.
const FACTS: &str = "ranks.facts";

/// The bytes that [`Securities::of_rows`] keeps of a row.
const KEPT_BYTES: u64 = 8 + FACTS_BYTES as u64;

/// Writes the facts of a part's rows. Instruments are added in FIGI order.
pub(crate) struct FactsWriter(FileWriter);

impl FactsWriter {
    pub(crate) fn create(part: &Path) -> Result<Self> {
        FileWriter::create(part.join(FACTS)).map(Self)
    }

    pub(crate) fn add(&mut self, instrument: &Instrument) -> Result<()> {
        self.0.write(&Facts::of(instrument).to_bytes())
    }

    pub(crate) fn finish(self) -> Result<()> {
        self.0.finish()
    }
}

/// The securities of all parts with their listings, the sizes of the markets, and the importances.
pub(crate) struct Securities {
    /// The securities that may have several rows.
    by_key: HashMap<Key, Security>,
    /// The best listing (contract 16.15) of each share class and, for rows without one, of each
    /// composite. Unlike the rank, it does not unite rows by their ISIN: it is looked up by these
    /// FIGIs.
    best_listings: HashMap<Figi, (Choice, Figi)>,
    /// The composites that have a row, except rows of kinds that end on a day.
    composites: HashSet<Figi>,
    /// The share class of each ISIN, for rows with an unknown share class.
    share_classes: HashMap<NonZeroU64, Figi>,
    /// The number of rows of each exchange code, without kinds that end on a day.
    markets: HashMap<NonZeroU16, u32>,
    /// The number of rows of the largest market.
    largest: u32,
    pub(super) importances: Values,
    countries: Countries,
}

/// The identity of a security: its share class, else its ISIN, else its composite.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Key {
    Figi(Figi),
    Isin(NonZeroU64),
}

struct Security {
    listings: u32,
    best: Listing,
    /// The smallest of its ISINs, for rows without one.
    isin: Option<NonZeroU64>,
}

/// The sort key of a listing within its security, the best one first: whether trades are only
/// reported, the ordinal of its importance, its class, its FIGI.
type Listing = (bool, Reverse<u16>, u32, Figi);

impl Securities {
    /// Collects the securities of all rows. `visit` is called three times; it calls its argument
    /// with the FIGI and the facts of every row.
    pub(crate) fn of(
        countries: Countries,
        visit: impl Fn(&mut dyn FnMut(Figi, &Facts)) -> Result<()>,
    ) -> Result<Self> {
        let mut all = Self {
            by_key: HashMap::new(),
            best_listings: HashMap::new(),
            composites: HashSet::new(),
            share_classes: HashMap::new(),
            markets: HashMap::new(),
            largest: 0,
            importances: Collected::default().finish(),
            countries,
        };
        let mut importances = Collected::default();
        visit(&mut |figi, facts| {
            if let Some(importance) = facts.importance {
                importances.add(importance);
            }
            if facts.has_siblings() && facts.composite == Some(figi) {
                all.composites.insert(figi);
            }
            if let Some(code) = facts.exch_code.filter(|_| !facts.kind.ends()) {
                *all.markets.entry(code).or_default() += 1;
            }
            if let (Some(isin), Some(share_class)) = (facts.isin, facts.share_class) {
                let known = all.share_classes.entry(isin).or_insert(share_class);
                *known = share_class.min(*known);
            }
        })?;
        all.importances = importances.finish();
        let mut by_key: HashMap<Key, Security> = HashMap::new();
        visit(&mut |figi, facts| {
            if let Some(key) = all.key(facts) {
                let class = all.listing_class(figi, facts);
                let ordinal = all.importances.ordinal(facts.importance);
                let listing = (class == REPORTING, Reverse(ordinal), class, figi);
                let security = by_key.entry(key);
                let security =
                    security.or_insert(Security { listings: 0, best: listing, isin: None });
                security.listings += 1;
                security.best = security.best.min(listing);
                let isins = [security.isin, facts.isin];
                security.isin = isins.into_iter().flatten().min();
            }
        })?;
        all.largest = all.markets.values().copied().max().unwrap_or(0);
        all.by_key = by_key;
        let mut best_listings: HashMap<Figi, (Choice, Figi)> = HashMap::new();
        visit(&mut |figi, facts| {
            if let (true, Some(identity)) =
                (facts.has_siblings(), facts.share_class.or(facts.composite))
            {
                let choice = (all.choice(figi, facts), figi);
                let best = best_listings.entry(identity).or_insert(choice);
                *best = choice.min(*best);
            }
        })?;
        Ok(Self { best_listings, ..all })
    }

    /// Collects the securities of these parts, from the files of [`FactsWriter`].
    pub(crate) fn of_parts(countries: Countries, parts: &[PathBuf]) -> Result<Self> {
        Self::of(countries, |each| parts.iter().try_for_each(|part| for_each(part, &mut *each)))
    }

    /// Collects the securities of rows that take long to read: `visit` is called once, with a function
    /// that takes the FIGI and the facts of every row. The facts that are needed again are in memory or,
    /// if they have more than `memory` bytes, in a temporary file without a name.
    ///
    /// # Errors
    /// Those of `visit`, and those of the temporary file.
    pub(crate) fn of_rows(
        countries: Countries,
        memory: usize,
        visit: impl FnOnce(&mut dyn FnMut(Figi, &Facts) -> Result<()>) -> Result<()>,
    ) -> Result<Self> {
        let folder = std::env::temp_dir();
        let mut kept = BufWriter::new(SpooledTempFile::new(memory));
        visit(&mut |figi, facts| {
            if facts.decide_of_others() {
                kept.write_all(&figi.to_u64().to_le_bytes()).map_err(Error::io(&folder))?;
                kept.write_all(&facts.to_bytes()).map_err(Error::io(&folder))?;
            }
            Ok(())
        })?;
        let kept = kept.into_inner().map_err(|error| Error::io(&folder)(error.into_error()))?;
        let kept = RefCell::new(kept);
        Self::of(countries, |each| {
            let mut kept = kept.borrow_mut();
            let mut read = || {
                let count = kept.seek(SeekFrom::End(0))? / KEPT_BYTES;
                kept.rewind()?;
                let mut kept = BufReader::new(&mut *kept);
                for _ in 0..count {
                    let (mut figi, mut facts) = ([0; 8], [0; FACTS_BYTES]);
                    kept.read_exact(&mut figi)?;
                    kept.read_exact(&mut facts)?;
                    each(Figi::from_u64(u64::from_le_bytes(figi)), &Facts::from_bytes(&facts));
                }
                Ok(())
            };
            read().map_err(Error::io(&folder))
        })
    }

    /// The security of a row; `None` when no other row can belong to the same security.
    fn key(&self, facts: &Facts) -> Option<Key> {
        if !facts.has_siblings() {
            return None;
        }
        let known = || facts.isin.and_then(|isin| self.share_classes.get(&isin).copied());
        let figi = facts.share_class.or_else(known).map(Key::Figi);
        figi.or(facts.isin.map(Key::Isin)).or(facts.composite.map(Key::Figi))
    }

    fn listing_class(&self, figi: Figi, facts: &Facts) -> u32 {
        let stands_for_market = facts.composite.is_none_or(|composite| {
            composite == figi || !facts.kind.ends() && !self.composites.contains(&composite)
        });
        facts.listing_class(stands_for_market)
    }

    /// The ISIN of a row or, if it has none, that of its security.
    fn isin(&self, facts: &Facts) -> Option<NonZeroU64> {
        let of_security = || self.by_key.get(&self.key(facts)?).and_then(|it| it.isin);
        facts.isin.or_else(of_security)
    }

    /// The place of a row among the listings of its security.
    fn choice(&self, figi: Figi, facts: &Facts) -> Choice {
        let has_own_market = facts
            .composite
            .is_some_and(|composite| composite == figi || !self.composites.contains(&composite));
        let among = Among {
            has_own_market,
            isin: self.isin(facts),
            ordinal: self.importances.ordinal(facts.importance),
            class: self.listing_class(figi, facts),
            halvings: self.halvings(facts),
        };
        Choice::of(facts, among, &self.countries)
    }

    /// Whether a row is the best listing of its security, whether it is a home listing, and how far
    /// its market is from home. A row is the best listing, too, if no other rows are found by its
    /// share class or its composite.
    pub(crate) fn standing(&self, figi: Figi, facts: &Facts) -> Standing {
        if !facts.has_siblings() {
            return Standing::ONLY;
        }
        let own = self.choice(figi, facts);
        let identity = facts.share_class.or(facts.composite);
        let (choice, best) = identity
            .and_then(|identity| self.best_listings.get(&identity).copied())
            .unwrap_or((own, figi));
        let distance = Distance::of(facts, self.isin(facts), &self.countries);
        Standing { is_best: best == figi, is_home: own.is_home(choice), distance }
    }

    /// The rule that chose a row as the best listing of its security.
    pub(crate) fn best_by(&self, figi: Figi, facts: &Facts) -> BestBy {
        let security = self.key(facts).and_then(|key| self.by_key.get(&key));
        match security {
            Some(security) if security.listings > 1 => self.choice(figi, facts).by(),
            _ => BestBy::Only,
        }
    }

    /// The number of times that the largest market must be halved to become as small as the row's.
    fn halvings(&self, facts: &Facts) -> u32 {
        let rows = facts.exch_code.and_then(|code| self.markets.get(&code)).copied();
        let largest = self.largest.max(1);
        largest.ilog2() - rows.unwrap_or(1).min(largest).ilog2()
    }

    /// The rank of a row.
    pub(crate) fn rank(&self, figi: Figi, facts: &Facts) -> Rank {
        let security = self.key(facts).and_then(|key| self.by_key.get(&key));
        let signals = facts.signals(Comparison {
            listing_class: self.listing_class(figi, facts),
            is_best: security.is_none_or(|security| security.best.3 == figi),
            listings: security.map_or(1, |security| security.listings),
            halvings: self.halvings(facts),
        });
        Rank::new(signals, self.importances.ordinal(facts.importance))
    }

    /// The significant bits that are kept of each importance, if there were too many different
    /// ones.
    pub(crate) fn importance_bits(&self) -> Option<u32> {
        self.importances.bits()
    }
}

/// Writes the ranks of a part's rows and the lists of its frequent words.
pub(crate) fn write(
    part: &Path,
    securities: &Securities,
    segment: &SegmentReader,
    words: Field,
) -> Result<()> {
    let (mut ranks, mut standings): (Vec<Rank>, Vec<Standing>) = Default::default();
    for_each(part, |figi, facts| {
        ranks.push(securities.rank(figi, facts));
        standings.push(securities.standing(figi, facts));
    })?;
    write_file(&part.join(BEST), &bytes(&standings))?;
    drop(standings);
    let path = part.join(FACTS);
    fs::remove_file(&path).map_err(Error::io(&path))?;

    let width = width(securities.importances.count());
    let mut values = FileWriter::create(part.join(VALUES))?;
    for rank in &ranks {
        let [a, b] = rank.signals().to_le_bytes();
        let [c, d] = rank.ordinal().to_le_bytes();
        values.write(&[a, b, c, d][..width])?;
    }
    values.finish()?;
    securities.importances.write(part)?;

    let order = sorted(&ranks);
    let mut runs = Runs::default();
    let mut positions = vec![0_u32; ranks.len()];
    for (position, doc) in (0_u32..).zip(&order) {
        runs.add(ranks[*doc as usize], position);
        positions[*doc as usize] = position;
    }
    write_file(&part.join(FIRSTS), &runs.finish(ranks.len() as u32))?;
    drop(ranks);
    let order: Vec<u8> = order.into_iter().flat_map(u32::to_le_bytes).collect();
    write_file(&part.join(ORDER), &order)?;
    drop(order);
    write_lists(part, &positions, segment, words)
}

/// The DocIds in the order of their ranks. DocIds of equal rank ascend.
fn sorted(ranks: &[Rank]) -> Vec<u32> {
    // A radix sort from the last digits on: each pass keeps the order of the previous pass among
    // equal digits.
    const DIGIT_BITS: u32 = 11;
    const DIGITS: usize = 1 << DIGIT_BITS;
    let mut order: Vec<u32> = (0..ranks.len() as u32).collect();
    let mut next_order = vec![0; ranks.len()];
    for shift in (0..RANK_BITS).step_by(DIGIT_BITS as usize) {
        let digit = |rank: Rank| (rank.sort_key(0) >> shift) as usize % DIGITS;
        let mut places = [0_usize; DIGITS];
        for rank in ranks {
            places[digit(*rank)] += 1;
        }
        let mut before = 0;
        for count in &mut places {
            (*count, before) = (before, before + *count);
        }
        for doc in &order {
            let place = &mut places[digit(ranks[*doc as usize])];
            next_order[*place] = *doc;
            *place += 1;
        }
        std::mem::swap(&mut order, &mut next_order);
    }
    order
}

/// Writes the list of each frequent word: the positions of its rows. `positions` has the position
/// of each DocId.
fn write_lists(
    part: &Path,
    positions: &[u32],
    segment: &SegmentReader,
    words: Field,
) -> Result<()> {
    let mut lists = FileWriter::create(part.join(LISTS))?;
    let inverted = segment.inverted_index(words)?;
    let mut terms = inverted.terms().stream().map_err(Error::io(part))?;
    let (mut entries, mut start) = (Vec::new(), 0_u64);
    let (mut list, mut of_word) = (Vec::new(), Vec::new());
    let mut holding = vec![0_u64; positions.len().div_ceil(64)];
    while terms.advance() {
        let info = terms.value().clone();
        if info.doc_freq < LISTED_MIN {
            continue;
        }
        let postings_start = u32::try_from(info.postings_range.start)
            .map_err(|_| Error::PartTooLarge("bytes of posting lists"))?;
        let postings = inverted.read_postings_from_terminfo(&info, IndexRecordOption::Basic);
        let mut postings = postings.map_err(Error::io(part))?;
        of_word.clear();
        // Setting bits sorts many positions faster, comparing sorts few faster.
        let is_dense = info.doc_freq as usize > positions.len() / 128;
        while postings.doc() != TERMINATED {
            let position = positions[postings.doc() as usize];
            match is_dense {
                true => holding[position as usize / 64] |= 1 << (position % 64),
                false => of_word.push(position),
            }
            postings.advance();
        }
        if is_dense {
            for (place, bits) in (0_u32..).zip(&mut holding) {
                while *bits != 0 {
                    of_word.push(64 * place + bits.trailing_zeros());
                    *bits &= *bits - 1;
                }
            }
        } else {
            of_word.sort_unstable();
        }
        entries.extend_from_slice(&postings_start.to_le_bytes());
        entries.extend_from_slice(&(of_word.len() as u32).to_le_bytes());
        entries.extend_from_slice(&start.to_le_bytes());
        list.clear();
        put(&of_word, &mut list);
        lists.write(&list)?;
        start += list.len() as u64;
    }
    lists.finish()?;
    write_file(&part.join(WORDS), &entries)
}

/// Calls `each` with the FIGI and the facts of every row of a part.
fn for_each(part: &Path, mut each: impl FnMut(Figi, &Facts)) -> Result<()> {
    let rows = Rows::open(part)?;
    let path = part.join(FACTS);
    let mut facts = BufReader::new(File::open(&path).map_err(Error::io(&path))?);
    let mut bytes = [0; FACTS_BYTES];
    for doc in 0..rows.len() as u32 {
        if let Err(error) = facts.read_exact(&mut bytes) {
            return Err(Error::io(&path)(error));
        }
        each(rows.figi(doc), &Facts::from_bytes(&bytes));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::instrument::id_type::IdType;
    use crate::instrument::importance::Importance;
    use crate::instrument::vocabulary::Property;

    /// Shares with several listings each, and bonds, of which some have an importance.
    fn instruments() -> Vec<Instrument> {
        let mut digits = (0..300_u64).map(|number| {
            let text = format!("FDG{number:08}");
            (0..10).find_map(|digit| Figi::parse(&format!("{text}{digit}")).ok()).unwrap()
        });
        let figis: Vec<Figi> = digits.by_ref().collect();
        let isin = |text| IdType::Isin.admit(text).unwrap();
        let each = figis.iter().enumerate().map(|(place, figi)| {
            let mut instrument = Instrument::new(*figi);
            let sector = if place % 3 == 0 { "Corp" } else { "Equity" };
            let exchange = ["US", "UN", "GR", "LN"][place % 4];
            instrument.properties[Property::MarketSecDes as usize] = Some(sector.to_owned());
            instrument.properties[Property::ExchCode as usize] = Some(exchange.to_owned());
            instrument.name = Some("NAME ".repeat(1 + place % 5));
            instrument.composite_figi = Some(figis[place / 4 * 4]);
            instrument.share_class_figi = (place % 7 > 0).then(|| figis[place / 20 * 20]);
            instrument.importance = Importance::new((place % 11) as f64).filter(|_| place % 2 == 0);
            instrument.identifiers.extend((place % 5 == 0).then(|| isin("US4592001014")));
            instrument
        });
        each.collect()
    }

    /// Facts that are read once, in memory or in a file, give the ranks of those that are read as often
    /// as needed.
    #[test]
    fn facts_are_kept() {
        let instruments = instruments();
        let facts: Vec<_> = instruments.iter().map(|it| (it.figi, Facts::of(it))).collect();
        assert!(facts.iter().any(|(_, facts)| !facts.decide_of_others()));
        assert!(facts.iter().any(|(_, facts)| facts.kind.ends() && facts.decide_of_others()));
        let countries = Countries::default();
        let all = Securities::of(countries.clone(), |each| {
            facts.iter().for_each(|(figi, facts)| each(*figi, facts));
            Ok(())
        })
        .unwrap();
        for memory in [100, 1 << 20] {
            let kept = Securities::of_rows(countries.clone(), memory, |each| {
                facts.iter().try_for_each(|(figi, facts)| each(*figi, facts))
            })
            .unwrap();
            for (figi, facts) in &facts {
                assert_eq!(kept.rank(*figi, facts), all.rank(*figi, facts), "{figi}");
                assert_eq!(kept.standing(*figi, facts), all.standing(*figi, facts), "{figi}");
                assert_eq!(kept.best_by(*figi, facts), all.best_by(*figi, facts), "{figi}");
            }
        }
        let ranks: HashSet<_> =
            facts.iter().map(|(figi, facts)| all.rank(*figi, facts).rest()).collect();
        assert!(ranks.len() > 20, "{}", ranks.len());
    }
}
