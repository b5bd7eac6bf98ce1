//! What the filters have no use for, yet a dump said: whether `listed` was given, and
//! which of the two dates were the instrument's own.
//!
//! The filters see one date in both columns where only one was given (decisions, last
//! case of the table), and of `listed` only an equity that is not. One small number
//! more lets an instrument be read back as it came. Four bits at the most, and none
//! where all instruments of a part are alike.

use crate::date::Date;
use crate::instrument::Instrument;

/// Both dates, none, or the expiration alone: what the columns say by themselves, or
/// what is true of most.
const EXPIRATION_OR_PLAIN: u64 = 0;
const MATURITY_ALONE: u64 = 1;
const BOTH_ON_ONE_DAY: u64 = 2;
const DATES: u64 = 3;

/// What the number means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Given {
    pub(crate) listed: Option<bool>,
    pub(crate) expiration: Option<Date>,
    pub(crate) maturity: Option<Date>,
}

impl Given {
    pub(crate) fn of(instrument: &Instrument) -> Self {
        let Instrument { listed, expiration, maturity, .. } = *instrument;
        Self { listed, expiration, maturity }
    }

    pub(crate) fn code(self) -> u64 {
        let dates = match (self.expiration, self.maturity) {
            (None, Some(_)) => MATURITY_ALONE,
            (Some(expiration), Some(maturity)) if expiration == maturity => BOTH_ON_ONE_DAY,
            _ => EXPIRATION_OR_PLAIN,
        };
        let listed = match self.listed {
            None => 0,
            Some(true) => 1,
            Some(false) => 2,
        };
        listed * DATES + dates
    }

    /// The meaning of a code beside the dates that the filters compare; `None` when
    /// [`Given::code`] gives no such code.
    pub(crate) fn read(code: u64, dates: (Option<Date>, Option<Date>)) -> Option<Self> {
        let (expiration, maturity) = match (code % DATES, dates) {
            (MATURITY_ALONE, (_, maturity)) => (None, maturity),
            (EXPIRATION_OR_PLAIN, (expiration, maturity)) if expiration == maturity => {
                (expiration, None)
            }
            (_, dates) => dates,
        };
        let listed = match code / DATES {
            0 => None,
            1 => Some(true),
            2 => Some(false),
            _ => return None,
        };
        Some(Self { listed, expiration, maturity })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figi::Figi;

    #[test]
    fn every_case_comes_back() {
        let days = [None, Date::from_days(1), Date::from_days(2)];
        for listed in [None, Some(true), Some(false)] {
            for (expiration, maturity) in days.iter().flat_map(|&a| days.map(|b| (a, b))) {
                let instrument = Instrument {
                    listed,
                    expiration,
                    maturity,
                    ..Instrument::new(Figi::parse("BBG000BLNNH6").unwrap())
                };
                let given = Given::of(&instrument);
                let read = Given::read(given.code(), instrument.filter_dates());
                assert_eq!(read, Some(given));
            }
        }
        assert_eq!(Given::read(9, (None, None)), None);
    }
}
