//! The kind of an instrument, such as share or bond, and the words that name a kind.

use crate::instrument::Instrument;
use crate::instrument::vocabulary::Property;
use crate::words::words;

/// The kind of an instrument. A search orders rows in this order (contract 10.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub(crate) enum Kind {
    Share,
    Fund,
    Receipt,
    Index,
    Preferred,
    Right,
    Currency,
    Warrant,
    Bond,
    Option,
    Future,
    /// Unknown: the data do not show the kind.
    Other,
}

/// The words that name a kind, in questions and in the names of instruments.
const KIND_WORDS: &[(Kind, &[&str])] = &[
    (Kind::Receipt, &["adr", "ads", "gdr", "cdr", "bdr", "cedear", "sdr", "drc", "depositary"]),
    (Kind::Fund, &["etf", "etn", "etp", "etc", "etfs", "ucits", "fund", "funds", "fd", "fds"]),
    (Kind::Preferred, &["pfd", "pref", "preferred", "preference", "prf"]),
    (Kind::Warrant, &["warrant", "warrants", "wts", "wt", "wrt", "cw", "pw"]),
    (Kind::Right, &["right", "rights", "rts", "rt"]),
    (Kind::Index, &["index", "indices"]),
    (Kind::Bond, &["bond", "bonds", "note", "notes", "debenture"]),
    (Kind::Option, &["option", "options", "call", "calls", "put", "puts"]),
    (Kind::Future, &["future", "futures"]),
];

impl Kind {
    pub(crate) const ALL: [Self; 12] = [
        Self::Share,
        Self::Fund,
        Self::Receipt,
        Self::Index,
        Self::Preferred,
        Self::Right,
        Self::Currency,
        Self::Warrant,
        Self::Bond,
        Self::Option,
        Self::Future,
        Self::Other,
    ];

    /// Whether instruments of this kind end on a day. Many of them share one name.
    pub(crate) fn ends(self) -> bool {
        matches!(self, Self::Warrant | Self::Bond | Self::Option | Self::Future)
    }

    /// Whether it is an option, a warrant or a future. There are far more of these than of all
    /// others, and most end within a year.
    pub(crate) fn is_derivative(self) -> bool {
        matches!(self, Self::Option | Self::Warrant | Self::Future)
    }

    /// The kind that a folded word names.
    pub(crate) fn named_by(word: &str) -> Option<Self> {
        KIND_WORDS.iter().find(|(_, words)| words.contains(&word)).map(|(kind, _)| *kind)
    }

    /// The kind of an instrument.
    pub(crate) fn of(instrument: &Instrument) -> Self {
        let security_type2 = instrument.property(Property::SecurityType2).unwrap_or_default();
        let security_type = instrument.property(Property::SecurityType).unwrap_or_default();
        match security_type2 {
            "Option" => return Self::Option,
            "Warrant" => return Self::Warrant,
            "Future" => return Self::Future,
            "Depositary Receipt" => return Self::Receipt,
            "Mutual Fund" => return Self::Fund,
            "Preferred Stock" => return Self::Preferred,
            "Right" | "Unit" => return Self::Right,
            "Index" => return Self::Index,
            _ => {}
        }
        if instrument.property(Property::OptionType).is_some() {
            return Self::Option;
        }
        match instrument.property(Property::MarketSecDes) {
            Some("Comdty") => return Self::Future,
            Some("Curncy") => return Self::Currency,
            Some("Index") => return Self::Index,
            Some("Pfd") => return Self::Preferred,
            Some("Corp" | "Govt" | "Muni" | "Mtge" | "M-Mkt") => return Self::Bond,
            Some(_) => {}
            None if security_type.is_empty()
                && instrument.share_class_figi.is_none()
                && instrument.composite_figi.is_none() =>
            {
                return Self::Other;
            }
            None => {}
        }
        // The instrument counts as an equity. Dumps call depositary receipts shares, and leave the
        // type of many rows blank. So the name decides.
        let name = instrument.name.as_deref().unwrap_or_default();
        let named = words(name).find_map(|word| word.pieces().find_map(Self::named_by));
        match named {
            Some(Self::Receipt) => Self::Receipt,
            Some(kind @ (Self::Fund | Self::Preferred | Self::Warrant | Self::Right))
                if security_type2.is_empty() =>
            {
                kind
            }
            _ => Self::Share,
        }
    }
}

/// Whether a row is a derivative ([`Kind::is_derivative`]).
pub(crate) fn is_derivative(row: &Instrument) -> bool {
    Kind::of(row).is_derivative()
}
