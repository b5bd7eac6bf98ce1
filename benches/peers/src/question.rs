//! The questions, as the texts that a caller has before asking any engine.

use figdex_index::{IdType, Property};

/// The number of rows of a page. Engines read one more, to know whether more follow.
pub(crate) const PAGE_ROWS: usize = 100;

/// The text after the rows of a page when more follow.
pub(crate) const MORE: &str = "more";

/// The pair of properties of [`Kind::PairPage`] and [`Kind::PairCount`].
pub(crate) const PAIR: [Property; 2] = [Property::ExchCode, Property::SecurityType2];

/// The kinds of questions; each has a line in the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Map an identifier with one row.
    MapOne,
    /// Map an ISIN with 10 to 30 rows.
    MapSeveral,
    /// A page of two filters, after a cursor.
    Page,
    /// Only the FIGIs of such a page: finding without writing rows.
    PageFigis,
    /// The number of rows that pass two dense filters.
    Count,
    /// Two common words: the first hundred rows by FIGI.
    CommonFirst,
    /// Two common words: the best hundred rows in the engine's ranking.
    CommonBest,
    /// A word with at most twenty rows.
    Rare,
    /// [`Kind::Page`], after the peers got an index for exactly this pair.
    PairPage,
    /// [`Kind::Count`], after the peers got that index.
    PairCount,
}

impl Kind {
    pub(crate) const ALL: [Self; 10] = [
        Self::MapOne,
        Self::MapSeveral,
        Self::Page,
        Self::PageFigis,
        Self::Count,
        Self::CommonFirst,
        Self::CommonBest,
        Self::Rare,
        Self::PairPage,
        Self::PairCount,
    ];

    pub(crate) const fn title(self) -> &'static str {
        match self {
            Self::MapOne => "map: identifier of one row",
            Self::MapSeveral => "map: ISIN of 10 to 30 rows",
            Self::Page => "page: 100 rows, two filters, any cursor",
            Self::PageFigis => "page: only the FIGIs",
            Self::Count => "count: two dense filters",
            Self::CommonFirst => "two common words: first 100 by FIGI",
            Self::CommonBest => "two common words: best 100, own ranking",
            Self::Rare => "rare word: all its rows",
            Self::PairPage => "page, the peers with an index for the pair",
            Self::PairCount => "count, the peers with an index for the pair",
        }
    }

    /// The minimum ratios of the times of SQLite and PostgreSQL to Figdex's (engine 13.11).
    pub(crate) const fn bounds(self) -> [f64; 2] {
        match self {
            Self::MapOne => [1.5, 12.0],
            Self::MapSeveral => [1.2, 6.0],
            Self::Page => [1.3, 4.5],
            Self::PageFigis => [6.0, 22.0],
            Self::Count => [300.0, 300.0],
            Self::CommonFirst => [1.1, 250.0],
            Self::CommonBest => [70.0, 50.0],
            Self::Rare => [0.7, 3.5],
            Self::PairPage => [1.2, 4.0],
            Self::PairCount => [5.0, 20.0],
        }
    }

    /// Whether the peers get an additional index first.
    pub(crate) const fn needs_pair_index(self) -> bool {
        matches!(self, Self::PairPage | Self::PairCount)
    }

    /// Whether an answer is a number.
    pub(crate) const fn is_count(self) -> bool {
        matches!(self, Self::Count | Self::PairCount)
    }

    /// Whether the order of the rows differs between engines.
    pub(crate) const fn is_ranked(self) -> bool {
        matches!(self, Self::CommonBest)
    }

    /// The number of questions in a round.
    pub(crate) const fn per_round(self) -> usize {
        match self {
            Self::MapOne => 200,
            Self::MapSeveral | Self::Page | Self::PageFigis | Self::PairPage => 60,
            Self::Rare => 30,
            Self::Count => 8,
            Self::CommonFirst | Self::CommonBest => 5,
            Self::PairCount => 2,
        }
    }
}

/// Values of two properties. A row must have both.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Pair(pub(crate) [(Property, String); 2]);

/// One question.
#[derive(Clone, Debug)]
pub(crate) enum Question {
    /// The rows with an identifier.
    Map { id_type: IdType, id_value: String },
    /// The next hundred rows after the FIGI `after`, and whether more follow.
    Page { pair: Pair, after: String, only_figis: bool },
    /// The number of rows that pass both filters.
    Count(Pair),
    /// The first hundred rows with all these words.
    First(Vec<String>),
    /// The best hundred rows with all these words.
    Best(Vec<String>),
    /// The number of rows with all these words, to compare the engines.
    CountWords(Vec<String>),
}

/// The questions of one kind. When they are timed, each is asked only once, so that no engine can
/// answer from a cache.
pub(crate) struct Pool {
    pub(crate) kind: Kind,
    pub(crate) questions: Vec<Question>,
}

impl Pool {
    /// The questions of round `round` of `rounds`, which are dealt out like cards.
    pub(crate) fn of_round(&self, round: usize, rounds: usize) -> Vec<Question> {
        self.questions.iter().skip(round).step_by(rounds).cloned().collect()
    }
}
