//! Shares: share classes with their composites and venues.
//!
//! One issue is a share class. Every 64th is that of a large issuer, and is listed on 16 to 20
//! venues of the United States. One in 32 of these is also listed on about two hundred other
//! venues. The other share classes are those of small companies with a home market and sometimes a
//! foreign listing. A market with one venue has a composite FIGI without a row.

use crate::dump::{Dump, Issue};
use crate::figis::Figis;
use crate::identifiers::Security;
use crate::issuer::Issuer;
use crate::markets::{
    FACILITIES, GERMANY, HOME, NASDAQ, REPORTING, REPORTING_CURRENCIES, SINGLE_REPORTING, Tickers,
    US_LISTED, Venue,
};
use crate::rng::{Random, scramble};
use crate::row::{Column, Row};
use crate::{figis, identifiers, markets, names};

/// One share class in this many is that of a large issuer.
pub(super) const LARGE_EVERY: u64 = 64;

/// Writes the rows of the share class with that ordinal.
pub(super) fn write(issue: &Issue, row: &mut Row, dump: &mut Dump) {
    let &Issue { seed, ordinal, .. } = issue;
    let mut random = Random::of(seed, 4, ordinal);
    // Half of all shares existed when FIGIs were first given out.
    let year = 2010 + if random.one_in(2) { 0 } else { random.below(16) };
    row.clear();
    row.set(Column::MarketSector, "Equity");
    row.set(Column::Listed, true);
    let number = ordinal / LARGE_EVERY;
    let is_large = ordinal.is_multiple_of(LARGE_EVERY);
    let figis = match is_large {
        true => figis::LARGE_EQUITIES.issue(year, number),
        false => figis::EQUITIES.issue(year, ordinal),
    };
    let security = Security::Share;
    let mut share = ShareClass { issue, security, row, figis, random, rows: 0, dump };
    match is_large {
        true => share.write_large(number),
        false => share.write_small(),
    }
}

/// A share class that is being written. `row` has the common values of its rows.
pub(super) struct ShareClass<'a> {
    pub(super) issue: &'a Issue,
    pub(super) security: Security,
    pub(super) row: &'a mut Row,
    pub(super) figis: Figis,
    pub(super) random: Random,
    /// Number of rows written so far.
    pub(super) rows: u64,
    pub(super) dump: &'a mut Dump,
}

impl ShareClass<'_> {
    fn write_large(&mut self, number: u64) {
        let issuer = Issuer::numbered(self.issue.seed, number);
        self.row.set(Column::Name, issuer.name());
        let kind = self.random.below(24);
        self.fill_kind(if kind < 2 { "-SPON ADR" } else { "" }, kind == 2);
        self.fill_identifiers("US");

        let mut venues = [US_LISTED.venues[0]; 20];
        venues.copy_from_slice(US_LISTED.venues);
        if self.random.one_in(2) {
            venues[0] = NASDAQ;
        }
        let count = 16 + self.random.below(5) as usize;
        self.write_line("US", &venues[..count], "USD", issuer.ticker());
        let is_everywhere = number % 32 == 3;
        if is_everywhere || self.random.one_in(2) {
            let ticker = issuer.ticker();
            let symbol = format!("{}{}{}", &ticker[..1], &ticker[2..3], number % 10);
            let count = if is_everywhere { 10 } else { 4 + self.random.below(6) as usize };
            self.write_line("GR", &GERMANY.venues[..count], "EUR", &symbol);
        }
        if is_everywhere {
            self.write_everywhere(issuer.ticker());
        }
    }

    /// Writes the further rows of a share that is traded worldwide. Most of these rows have
    /// reporting codes.
    fn write_everywhere(&mut self, ticker: &str) {
        const LONE: [(Venue, &str); 8] = [
            (Venue("LN", "XLON"), "USD"),
            (Venue("AV", "XWBO"), "EUR"),
            (Venue("PE", "XLIM"), "USD"),
            (Venue("TH", ""), "EUR"),
            (Venue("QT", ""), "EUR"),
            (Venue("PZ", ""), "USD"),
            (Venue("GZ", ""), "EUR"),
            (Venue("KZ", ""), "USD"),
        ];
        const SWISS: [Venue; 2] = [Venue("SE", "XSWX"), Venue("BW", "XBRN")];
        const MEXICAN: [Venue; 2] = [Venue("MF", "XMEX"), Venue("MU", "BIVA")];
        self.write_line("SW", &SWISS, "CHF", ticker);
        self.write_line("SW", &SWISS, "USD", &format!("{ticker}USD"));
        self.write_line("MM", &MEXICAN, "MXN", &format!("{ticker}*"));
        for (venue, currency) in LONE {
            self.write_line(venue.0, &[venue], currency, ticker);
        }
        for (suffix, currency) in REPORTING_CURRENCIES {
            let count = 15 + self.random.below(3) as usize;
            let ticker = format!("{ticker}{suffix}");
            self.write_line(REPORTING.composite, &REPORTING.venues[..count], currency, &ticker);
            for code in SINGLE_REPORTING {
                self.write_line(code, &[Venue(code, "")], currency, &ticker);
            }
        }
        for code in FACILITIES {
            for suffix in ["D", "N", "Z", "V", "M"] {
                self.write_line(code, &[Venue(code, "")], "EUR", &format!("{ticker}{suffix}"));
            }
        }
    }

    fn write_small(&mut self) {
        let market = markets::draw_home(&mut self.random);
        let legal_form = self.random.pick(market.legal_forms);
        self.row.set(Column::Name, names::company(legal_form, &mut self.random));
        if self.random.one_in(100) {
            return self.write_unlisted();
        }
        let is_american = market.composite == "US";
        let (suffix, class) = match self.random.below(20) {
            0 if is_american => ("-CL A", "/A"),
            1 if is_american => ("-CL B", "/B"),
            2 | 3 if is_american => ("-ADR", ""),
            _ => ("", ""),
        };
        let is_reit = self.random.one_in(40);
        self.fill_kind(suffix, is_reit);
        self.fill_identifiers(market.country);

        let ticker = self.ticker(market.tickers) + class;
        let is_followed = self.random.one_in(26);
        let count = market.venues.len() as u64;
        let (first, count) = match count {
            _ if is_followed => (0, count),
            1 => (0, 1),
            _ if self.random.one_in(12) => (0, 2),
            _ => (self.random.below(2), 1),
        };
        let venues = &market.venues[first as usize..(first + count) as usize];
        self.write_composite(
            market.composite,
            market.has_composite_row(),
            venues,
            market.currency,
            &ticker,
        );
        if market.composite != "GR" && (is_followed || self.random.one_in(40)) {
            let count = 2 + self.random.below(if is_followed { 8 } else { 2 }) as usize;
            let symbol = self.ticker(GERMANY.tickers);
            self.write_line("GR", &GERMANY.venues[..count], "EUR", &symbol);
        }
        if !is_american && self.random.one_in(if is_followed { 2 } else { 60 }) {
            let symbol = self.ticker(Tickers::Letters { least: 4, most: 4 }) + "F";
            self.write_line("US", HOME[0].venues, "USD", &symbol);
        }
    }

    /// Writes an unlisted share, without venue and composite and with a placeholder as ticker.
    fn write_unlisted(&mut self) {
        self.fill_kind("", false);
        self.row.set(Column::Listed, false);
        self.row.set(Column::ShareClass, self.figis.take());
        let number = scramble(self.issue.ordinal, 23, self.issue.seed);
        self.row.set(Column::Ticker, format_args!("{number:07}D"));
        self.row.copy(Column::Ticker, Column::Description);
        let figi = self.figis.take();
        self.push(&figi);
    }

    /// Fills the security types and appends `suffix` to the name. A suffix that ends in `ADR` makes
    /// the security a depositary receipt.
    fn fill_kind(&mut self, suffix: &str, is_reit: bool) {
        let (kind, kind2) = match (suffix.ends_with("ADR"), is_reit) {
            (true, _) => ("ADR", "Depositary Receipt"),
            (_, true) => ("REIT", "REIT"),
            _ => ("Common Stock", "Common Stock"),
        };
        self.row.set(Column::SecurityType, kind);
        self.row.set(Column::SecurityType2, kind2);
        if !suffix.is_empty() {
            let name = names::with_suffix(self.row.get(Column::Name), suffix);
            self.row.set(Column::Name, name);
        }
    }

    /// Fills the identifiers and the FIGI of the share class.
    pub(super) fn fill_identifiers(&mut self, country: &str) {
        identifiers::fill(self.row, country, self.security, self.issue);
        if self.random.one_in(3) {
            identifiers::fill_sedol(self.row, self.security, self.issue);
        }
        self.row.set(Column::ShareClass, self.figis.take());
    }

    /// A ticker made from the name and the number of the share.
    pub(super) fn ticker(&mut self, tickers: Tickers) -> String {
        let number = scramble(self.issue.ordinal, 28, self.issue.seed);
        tickers.draw(self.row.get(Column::Name), number, &mut self.random)
    }

    /// Writes the rows of one composite: the composite itself if there are several venues, and the
    /// venues.
    pub(super) fn write_line(
        &mut self,
        composite: &str,
        venues: &[Venue],
        currency: &str,
        ticker: &str,
    ) {
        self.write_composite(composite, venues.len() > 1, venues, currency, ticker);
    }

    /// Writes the rows of one composite: the composite itself if `has_row`, and the venues. All
    /// have the same ticker.
    fn write_composite(
        &mut self,
        composite: &str,
        has_row: bool,
        venues: &[Venue],
        currency: &str,
        ticker: &str,
    ) {
        let row = &mut *self.row;
        row.set(Column::Ticker, ticker);
        row.copy(Column::Ticker, Column::Description);
        row.copy(Column::Ticker, Column::SecNumDes);
        row.copy(Column::Ticker, Column::ExchSymbol);
        row.set(Column::Currency, currency);
        let figi = self.figis.take();
        row.set(Column::Composite, &figi);
        if has_row {
            row.set(Column::ExchCode, composite);
            row.set(Column::MicCode, "");
            row.set(Column::TradingSystem, "");
            self.push(&figi);
        }
        for venue in venues {
            let &Venue(exch_code, mic) = venue;
            self.row.set(Column::ExchCode, exch_code);
            self.row.set(Column::MicCode, mic);
            match mic {
                "" => self.row.set(Column::TradingSystem, ""),
                mic => self.row.set(Column::TradingSystem, format_args!("{ticker} {mic}")),
            }
            let figi = self.figis.take();
            self.push(&figi);
        }
    }

    /// Writes the row with that FIGI and a unique uniqueID. The uniqueID is `EQ` and sixteen
    /// digits: made from the number of the company in the first row, and a running number in the
    /// others.
    pub(super) fn push(&mut self, figi: &str) {
        self.row.set(Column::Figi, figi);
        if self.rows == 0 {
            let first = if self.security == Security::Fund { 5_010_000_000 } else { 10_000_000 };
            let company = first + self.issue.ordinal;
            self.row.set(Column::UniqueId, format_args!("EQ{company:010}001000"));
        } else {
            let number = self.figis.running_number();
            self.row.set(Column::UniqueId, format_args!("EQ{number:016}"));
        }
        self.rows += 1;
        self.dump.push(self.row);
    }
}
