//! The points of the rows that a text may mean, and the choice of a row for each security.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use super::namesakes::{Namesake, RECEIPT_RUNS, nearest_first};
use super::reading::{self, Fit, QueryWord, RowReading, Whole, cost};
use super::spelled::Spelled;
use crate::instrument::figi::Figi;
use crate::instrument::id_type::{IdType, IdValue};
use crate::instrument::kind::Kind;
use crate::instrument::names::NameKind;
use crate::part::ranks::Standing;
use crate::part::ranks::rank::Rank;
use crate::part::rows::Row;
use crate::query::Keywords;
use crate::search::named::is_in_capitals;
use crate::words::forms::{class_of, forms, has_class};
use crate::words::names::common_name;
use crate::words::{for_each_word, squeeze};

/// The points that a row gains when the whole text is one of its identifying numbers, such as an
/// ISIN. `WHOLE` is for a text that is the ticker, the name or a symbol of the row.
const NUMBER: i32 = 5_000;
const WHOLE: i32 = reading::WHOLE_NAME;

/// The points that a row gains when the text is its ticker with an exchange or a market sector, or
/// its ticker in another spelling.
const SPELLED: i32 = 190;

/// In an index with importances, the points that a row without an importance loses. A row with an
/// importance loses these points in proportion to the number of larger importances. In such an
/// index, the cost of the other signals is divided by `IMPORTANCE_SHARE`.
const IMPORTANCE: i32 = 400;
const IMPORTANCE_SHARE: i32 = 2;

/// The points that a row loses when the whole text means another one. No importance outweighs them.
const NOT_MEANT: i32 = 700;

/// The points that a row without an importance loses when the text is written like a ticker, and is
/// that of another row and the name of this one.
const NAME_IN_CAPITALS: i32 = 200;

/// The fewest bytes of a text that, if it is the name of a share, is not the beginning of another.
const LONG_NAME_BYTES: usize = 5;

/// The points that a security loses when the text is the ticker of another row than its best
/// listing. Many exchanges give foreign shares tickers that other companies have at home.
const TICKER_ELSEWHERE: i32 = 60;

/// The points that a row loses when the text names a share class, and the row names another one or
/// none. Neither importances nor the words of a name outweigh these costs.
const OTHER_CLASS: i32 = 900;
const NO_CLASS: i32 = 450;

/// The way in which the whole text finds a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum As {
    /// The text is an identifying number of the row.
    Number,
    /// The text is the ticker, the name or a symbol of the row.
    Whole,
    /// The text is the ticker of the row with an addition or in another spelling, or one of its
    /// numbers with a label.
    Spelled,
    /// The text has the form of a name, an other name or an alias of the row.
    Form,
}

/// The tickers and the names that the whole text may be.
pub(crate) struct WholeText {
    /// The squeezed tickers.
    tickers: Vec<String>,
    /// The common names.
    names: Vec<String>,
    /// The forms of the text.
    pub(crate) forms: Vec<String>,
}

impl WholeText {
    pub(crate) fn new(keywords: &Keywords, spelled: &[Spelled]) -> Self {
        let before = keywords.before_last().map(|(before, _)| before);
        let texts = || [Some(keywords.text()), before].into_iter().flatten();
        let spelled = spelled.iter().map(|spelled| &spelled.id_value);
        let spelled = spelled.filter(|id_value| id_value.id_type() == IdType::Ticker);
        let spelled = spelled.map(IdValue::as_str);
        Self {
            tickers: texts().chain(spelled).map(squeeze).collect(),
            names: texts().map(common_name).collect(),
            forms: forms(keywords.text()),
        }
    }

    /// The points of a row that the whole text finds. `words` are the typed words.
    pub(crate) fn fit(&self, reading: &RowReading, words: &[QueryWord], found_as: As) -> Fit {
        let is_ticker = self.tickers.iter().any(|text| reading.has_ticker(text));
        let is_name = self.names.iter().any(|said| reading.has_name(said));
        let mut fit = reading.fit(words).unwrap_or_default();
        if found_as == As::Form {
            return self.fit_form(fit, reading);
        }
        let is_other = found_as == As::Number || !is_ticker && !is_name;
        fit.whole = Whole { ticker: is_ticker, name: is_name, brand: false, other: is_other };
        if is_ticker || is_name {
            fit.known_as = None;
        }
        fit.matched.ticker |= is_ticker;
        fit.matched.name |= is_name;
        fit.matched.identifier |= is_other;
        fit.matched.description = false;
        fit.matched.exact = true;
        fit.points = fit.points.max(reading::WHOLE_MIN);
        fit.and(match found_as {
            As::Number => NUMBER,
            As::Whole => WHOLE,
            As::Spelled => SPELLED,
            As::Form => 0,
        })
    }

    /// The points of a row that is found by the form of a name. `fit` is that of the words.
    fn fit_form(&self, mut fit: Fit, reading: &RowReading) -> Fit {
        let said = self.names.first().map_or("", String::as_str);
        let Some((known_as, points)) = reading.whole_name(said, &self.forms) else { return fit };
        fit.points = fit.points.max(reading::WHOLE_MIN);
        fit.known_as = known_as;
        let kind = known_as.map(|place| reading.kind_of(place));
        let is_brand = kind == Some(Some(NameKind::Brand));
        let (is_name, is_other) = (kind.is_none(), kind.is_some() && !is_brand);
        fit.whole = Whole { ticker: false, name: is_name, brand: is_brand, other: is_other };
        let is_alias = known_as.is_some_and(|place| reading.kind_of(place).is_none());
        fit.matched.name |= !is_alias;
        fit.matched.description |= is_alias;
        fit.and(points)
    }
}

/// The best-fitting row of a security.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OfSecurity<R> {
    pub(crate) row: R,
    points: i32,
    pub(crate) fit: Fit,
    /// Whether the text asks for this row: it names its exchange, or is its FIGI.
    pub(crate) is_meant: bool,
}

/// The fewest securities whose best listings are compared.
const COMPARED: usize = 10;

/// The best-fitting row of each security, the likeliest first: `limit`, or [`COMPARED`] if that is
/// more. `importances` is the number of different importances. Rows with equal points are sorted by
/// importance, the largest first, and then by their identities `R`.
pub(crate) fn best<'a, R: Copy + Ord>(
    fits: impl Iterator<Item = (R, Rank, Fit)>,
    said: &Said<'_>,
    importances: usize,
    limit: usize,
    row: impl Fn(R) -> Row<'a>,
) -> Vec<OfSecurity<R>> {
    let keywords = said.keywords;
    let fits: Vec<_> = fits.collect();
    let meaning = Meaning::among(&fits, said, importances > 0);
    let scored = fits.into_iter().map(|(name, rank, fit)| {
        let of_class = said.class.as_deref().map_or(0, |class| cost_of_class(class, row(name)));
        let of_meaning = meaning.cost(&fit, rank);
        let of_kind = cost_of_kind(rank.kind(), said);
        let points = fit.points - of_kind - of_class - of_meaning - cost_of(rank, importances);
        ((-points, Reverse(rank.ordinal()), name), fit)
    });
    let mut all: Vec<_> = scored.collect();
    all.sort_unstable_by_key(|(order, _)| *order);
    let own = Figi::parse(keywords.squeezed()).ok();
    let mut seen = BTreeSet::new();
    let mut best = Vec::new();
    for ((lost, _, name), fit) in all {
        if best.len() == limit.max(COMPARED) {
            break;
        }
        let found = row(name);
        if seen.insert(found.security()) {
            let is_meant = fit.is_narrowed || own == Some(found.figi());
            best.push(OfSecurity { row: name, points: -lost, fit, is_meant });
        }
    }
    best
}

/// The rows to show, at most `limit`, each once: for each security, the row that fits best and the
/// row to show for it, which is another one if that is its best listing. Then the security is of
/// the kind of that listing and, unless it is a guess, of the better rank of the two. So a share
/// comes before a receipt of the same name, of which only some rows are called a receipt. Of
/// [namesakes](super::namesakes) the one that is nearest to its home market comes first. The second
/// result is the bytes of the names whose forms were compared.
pub(crate) fn arranged<'a, R: Copy + Ord>(
    found: impl Iterator<Item = (OfSecurity<R>, R)>,
    said: &Said<'_>,
    importances: usize,
    limit: usize,
    facts: impl Fn(R) -> (Rank, Standing),
    row: impl Fn(R) -> Row<'a>,
) -> (Vec<(R, OfSecurity<R>)>, usize) {
    let arranged = found.map(|(of, shown)| {
        let [own, best] = [of.row, shown].map(|row| facts(row).0);
        let kind = kind_shown(best.kind(), row(shown));
        let of_kind = cost_of_kind(own.kind(), said) - cost_of_kind(kind, said);
        let of_rank = cost_of(own, importances) - cost_of(best, importances);
        let of_rank = if of.fit.matched.guess { 0 } else { of_rank.max(0) };
        let of_class = said.class.as_deref().map_or(0, |class| {
            let [own, best] = [of.row, shown].map(|name| cost_of_class(class, row(name)));
            if best == OTHER_CLASS { own - best } else { 0 }
        });
        let is_elsewhere = of.fit.whole.ticker && !of.fit.whole.name;
        let has_other_ticker = || {
            let tickers = [of.row, shown].map(|name| row(name).ticker());
            let [own, best] = tickers.map(|it| it.map(|ticker| squeeze(&ticker.to_string())));
            own != best
        };
        let is_elsewhere = is_elsewhere && of.row != shown && has_other_ticker();
        let of_ticker = if is_elsewhere { TICKER_ELSEWHERE } else { 0 };
        let points = of.points + of_kind + of_rank + of_class - of_ticker;
        let ordinal = own.ordinal().max(best.ordinal());
        ((-points, Reverse(ordinal), of.row), (kind, shown, of))
    });
    let mut all: Vec<_> = arranged.collect();
    all.sort_unstable_by_key(|(order, _)| *order);
    let mut seen = BTreeSet::new();
    // A row without a share class may have the best listing of another security.
    all.retain(|(_, (_, shown, _))| seen.insert(*shown));
    // A row whose ticker is the text, or that it asks for, keeps its place. A class is not looked
    // for in a namesake.
    let namesake = |kind: Kind, shown: R, of: &OfSecurity<R>| {
        let is_ticker = of.fit.whole.ticker && said.keywords.words().len() == 1;
        let is_kept = of.is_meant || is_ticker || said.class.is_some() || !said.kinds.is_empty();
        (!is_kept).then(|| Namesake::of(kind, facts(shown).1.distance, row(shown)))?
    };
    let all =
        all.into_iter().map(|(_, (kind, shown, of))| (namesake(kind, shown, &of), (shown, of)));
    let mut all: Vec<_> = all.collect();
    // The first ones are the same for any limit.
    let first = all.len().min(COMPARED);
    let compared = nearest_first(&mut all[..first]);
    (all.into_iter().take(limit).map(|(_, shown)| shown).collect(), compared)
}

/// The meaning of the whole text. Rows that are found in another way are less likely meant.
struct Meaning {
    /// For a single word that is the ticker of rows, the ordinal of their largest importance, 0 if
    /// none of them has one.
    ticker: Option<u16>,
    is_in_capitals: bool,
    /// Whether the text is the name of a share, or has its form.
    is_name: bool,
    /// Whether it is one, and too long to be only the beginning of another name.
    is_long_name: bool,
    /// Whether the index has importances.
    has_importances: bool,
}

impl Meaning {
    fn among<R>(fits: &[(R, Rank, Fit)], said: &Said<'_>, has_importances: bool) -> Self {
        let is_ticker =
            |(_, rank, fit): &&(R, Rank, Fit)| fit.whole.ticker && rank.kind() <= Kind::Index;
        let tickers = fits.iter().filter(is_ticker);
        let ticker = tickers.map(|(_, rank, _)| rank.ordinal()).max();
        let is_name =
            |(_, rank, fit): &(R, Rank, Fit)| rank.kind() == Kind::Share && fit.whole.name;
        let is_name = fits.iter().any(is_name);
        Self {
            ticker: ticker.filter(|_| said.keywords.words().len() == 1),
            has_importances,
            is_in_capitals: is_in_capitals(said.keywords.text()),
            is_name,
            is_long_name: is_name && said.keywords.squeezed().len() >= LONG_NAME_BYTES,
        }
    }

    /// The points that a row loses because the whole text means another row. A row whose own name
    /// has or begins with the text is as likely as one with the text as its ticker if it is more
    /// important (contract 10.9), unless the text is written like a ticker.
    fn cost(&self, fit: &Fit, rank: Rank) -> i32 {
        let is_whole = fit.whole.is_any();
        let is_other_than_ticker = match self.ticker {
            _ if is_whole => false,
            None => false,
            Some(_) if self.is_in_capitals || !fit.is_by_own_name() => true,
            // Where others have an importance, a row without one is as unknown as the ticker.
            Some(0) => {
                let is_unknown = self.has_importances && rank.ordinal() == 0;
                fit.matched.guess || is_unknown && !fit.matched.exact
            }
            Some(ordinal) => rank.ordinal() <= ordinal,
        };
        let is_found_otherwise = fit.matched.guess || fit.known_as.is_some();
        let is_other_than_name = match is_whole {
            true => self.is_name && fit.whole.is_only_brand(),
            false if self.is_name && is_found_otherwise => true,
            false => self.is_long_name && !fit.matched.exact,
        };
        // Nothing else says which of two rows without an importance is meant.
        let is_name_in_capitals =
            self.ticker == Some(0) && self.is_in_capitals && !fit.whole.ticker;
        match () {
            () if is_other_than_ticker || is_other_than_name => NOT_MEANT,
            () if is_name_in_capitals && rank.ordinal() == 0 => NAME_IN_CAPITALS,
            () => 0,
        }
    }
}

/// The kinds and the share class that a text names.
pub(crate) struct Said<'a> {
    keywords: &'a Keywords,
    /// The kinds that are named next to other words.
    kinds: Vec<Kind>,
    /// The letter of the share class.
    class: Option<String>,
}

impl<'a> Said<'a> {
    /// Reads the text, which costs about as much as its forms.
    pub(crate) fn of(keywords: &'a Keywords) -> Self {
        let kinds = match keywords.words() {
            words @ [_, _, ..] => {
                words.iter().filter_map(|word| Kind::named_by(&word.squeezed)).collect()
            }
            _ => Vec::new(),
        };
        Self { keywords, kinds, class: class_of(keywords.text()) }
    }
}

/// The points that a row loses by its kind, unless the text names the kind.
fn cost_of_kind(kind: Kind, said: &Said<'_>) -> i32 {
    if said.kinds.contains(&kind) { 0 } else { cost(kind) }
}

/// The points that a row loses by its share class: the letter after `/` in its ticker, or that of
/// its name. The text names the class `letter`.
fn cost_of_class(letter: &str, row: Row<'_>) -> i32 {
    let ticker = row.ticker().map(|ticker| ticker.to_string());
    let of_ticker = ticker.as_deref().and_then(|ticker| ticker.rsplit_once('/'));
    let of_ticker = of_ticker.filter(|(_, class)| class.len() == 1);
    let has_class = match of_ticker {
        Some((_, class)) => Some(class.eq_ignore_ascii_case(letter)),
        None => row.name().and_then(|name| has_class(&name.to_string(), letter)),
    };
    match has_class {
        Some(true) => 0,
        Some(false) => OTHER_CLASS,
        None => NO_CLASS,
    }
}

/// The kind of a row that is shown. Of rows that their type calls shares, the name may say that
/// they are receipts, also in words such as `GDRS144A` by which no kind is recognised for ranks.
fn kind_shown(kind: Kind, row: Row<'_>) -> Kind {
    let Some(name) = row.name().filter(|_| kind == Kind::Share) else { return kind };
    let mut is_receipt = false;
    for_each_word(&name.to_string(), |word| {
        is_receipt |= word.runs().any(|run| RECEIPT_RUNS.contains(&run));
    });
    if is_receipt { Kind::Receipt } else { kind }
}

/// The points that a row loses by its rank, in a catalogue with `importances` different
/// importances.
fn cost_of(rank: Rank, importances: usize) -> i32 {
    if importances == 0 {
        return rank.cost();
    }
    let larger = importances - usize::from(rank.ordinal()).min(importances);
    IMPORTANCE * larger as i32 / importances as i32 + rank.cost() / IMPORTANCE_SHARE
}
