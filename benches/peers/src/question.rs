//! The questions, as texts: what a caller has in hand before any engine is asked.

use figdex_index::{IdType, Property};

/// Rows of a page; a further row tells that more follow.
pub(crate) const PAGE_ROWS: usize = 100;

/// What is written after the rows of a page when more follow.
pub(crate) const MORE: &str = "more";

/// The pair of properties that [`Kind::PairPage`] and [`Kind::PairCount`] ask by.
pub(crate) const PAIR: [Property; 2] = [Property::ExchCode, Property::SecurityType2];

/// The kinds of question, a line of the table each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// An identifier of one row.
    MapOne,
    /// An ISIN of 10 to 30 rows.
    MapSeveral,
    /// A page of two filters after a cursor.
    Page,
    /// The FIGIs alone of such a page: finding without writing rows.
    PageFigis,
    /// How many rows pass two dense filters.
    Count,
    /// Two common words, the first hundred rows by FIGI.
    CommonFirst,
    /// Two common words, the hundred rows that the engine thinks best.
    CommonBest,
    /// A word of at most twenty rows.
    Rare,
    /// [`Kind::Page`], where the peers have an index for the very pair.
    PairPage,
    /// [`Kind::Count`], likewise.
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
            Self::PageFigis => "page: the FIGIs alone",
            Self::Count => "count: two dense filters",
            Self::CommonFirst => "two common words: first 100 by FIGI",
            Self::CommonBest => "two common words: best 100, own ranking",
            Self::Rare => "rare word: all its rows",
            Self::PairPage => "page, the peers with an index for the pair",
            Self::PairCount => "count, the peers with an index for the pair",
        }
    }

    /// Promise 11: how many times as long SQLite and PostgreSQL take, at least.
    pub(crate) const fn bounds(self) -> Option<[f64; 2]> {
        match self {
            Self::MapOne | Self::MapSeveral => Some([8.0, 25.0]),
            Self::Page | Self::PageFigis => Some([30.0, 100.0]),
            Self::Count => Some([50.0, 50.0]),
            Self::CommonFirst | Self::CommonBest | Self::Rare => Some([10.0, 10.0]),
            Self::PairPage | Self::PairCount => None,
        }
    }

    /// Whether the peers get an index first that no other question has.
    pub(crate) const fn needs_pair_index(self) -> bool {
        matches!(self, Self::PairPage | Self::PairCount)
    }

    /// Whether an answer is a number.
    pub(crate) const fn is_count(self) -> bool {
        matches!(self, Self::Count | Self::PairCount)
    }

    /// Whether each engine has its own opinion of which rows come first.
    pub(crate) const fn is_ranked(self) -> bool {
        matches!(self, Self::CommonBest)
    }

    /// Questions of a round.
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

/// Two values that a row must have, of two properties.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Pair(pub(crate) [(Property, String); 2]);

/// One question.
#[derive(Clone, Debug)]
pub(crate) enum Question {
    /// The rows of an identifier.
    Map { id_type: IdType, id_value: String },
    /// The hundred rows after a row, and whether more follow.
    Page { pair: Pair, after: String, figis_alone: bool },
    /// How many rows pass both filters.
    Count(Pair),
    /// The first hundred rows that hold all these words.
    First(Vec<String>),
    /// The best hundred rows that hold all these words.
    Best(Vec<String>),
    /// How many rows hold all these words: asked when answers are compared.
    CountWords(Vec<String>),
}

/// The questions of one kind. When they are timed each is asked once, so that no engine
/// can answer from what it kept of the last time.
pub(crate) struct Pool {
    pub(crate) kind: Kind,
    pub(crate) questions: Vec<Question>,
}

impl Pool {
    /// What is asked in one of so many rounds: the questions are dealt out like cards.
    pub(crate) fn of_round(&self, round: usize, rounds: usize) -> Vec<Question> {
        self.questions.iter().skip(round).step_by(rounds).cloned().collect()
    }
}
