//! Government debt: bonds, bills and strips of a few sovereigns.

use super::figis::{self, YEARS};
use super::identifiers::{self, Security};
use super::rng::Random;
use super::row::{Column, Row, push_number, push_thousandths};
use super::terms::{Coupon, maturity, push_terms};
use super::{Dump, Issue};

/// A programme of a sovereign.
struct Programme {
    ticker: &'static str,
    name: &'static str,
    country: &'static str,
    currency: &'static str,
    security_type: &'static str,
    security_type2: &'static str,
    exch_codes: &'static [&'static str],
}

macro_rules! programmes {
    ($($ticker:literal $name:literal $country:literal $currency:literal
        $type:literal $type2:literal [$($exch_code:literal),*];)*) => {
        [$(&Programme {
            ticker: $ticker,
            name: $name,
            country: $country,
            currency: $currency,
            security_type: $type,
            security_type2: $type2,
            exch_codes: &[$($exch_code),*],
        },)*]
    };
}

/// Frequent ones first.
const PROGRAMMES: [&Programme; 9] = programmes! {
    "T" "US TREASURY N/B" "US" "USD" "US GOVERNMENT" "Note" ["BERLIN", "FRANKFURT", "STUTTGART"];
    "B" "TREASURY BILL" "US" "USD" "US GOVERNMENT" "Bill" [];
    "S" "STRIPS" "US" "USD" "US DOMESTIC" "Govt" ["NOT LISTED"];
    "BTPS" "BUONI POLIENNALI DEL TES" "IT" "EUR" "EURO-ZONE" "Govt" ["EURONEXT-MILAN"];
    "DBR" "BUNDESREPUB. DEUTSCHLAND" "DE" "EUR" "EURO-ZONE" "Govt" ["FRANKFURT", "ALL GERMAN SE"];
    "JGB" "JAPAN (GOVT OF)" "JP" "JPY" "DOMESTIC" "Govt" ["TOKYO"];
    "FRTR" "FRANCE (GOVT OF)" "FR" "EUR" "EURO-ZONE" "Govt" ["EURONEXT-PARIS"];
    "UKT" "UK TSY GILT" "GB" "GBP" "DOMESTIC" "Govt" ["LONDON"];
    "CAN" "CANADA-GOV'T" "CA" "CAD" "DOMESTIC" "Govt" ["NOT LISTED"];
};

/// Writes the debt with that ordinal.
pub(super) fn write(issue: &Issue, row: &mut Row, dump: &mut Dump) {
    let &Issue { seed, ordinal, .. } = issue;
    let mut random = Random::of(seed, 12, ordinal);
    let programme = random.pick_by_rank(&PROGRAMMES);
    let year = YEARS.start() + random.below(16);
    let is_bill = matches!(programme.ticker, "B" | "S");
    let years = if programme.ticker == "B" { 1 } else { 2 + random.rank(29) };
    let matures = maturity(year + years, &mut random);
    let coupon = if is_bill { Coupon::Fixed(0) } else { Coupon::Fixed(125 * random.below(48)) };

    row.clear();
    row.set(Column::Figi, &figis::GOVTS.issue(year, ordinal).take());
    row.set(Column::Name, programme.name.as_bytes());
    row.set(Column::MarketSector, b"Govt");
    row.set(Column::SecurityType, programme.security_type.as_bytes());
    row.set(Column::SecurityType2, programme.security_type2.as_bytes());
    row.set(Column::Currency, programme.currency.as_bytes());
    row.fill(Column::Description, |text| {
        let coupon = |text: &mut Vec<u8>| coupon.push_fraction(text);
        push_terms(text, programme.ticker.as_bytes(), matures, coupon);
    });
    row.fill(Column::Ticker, |text| {
        let coupon = |text: &mut Vec<u8>| coupon.push_decimal(text);
        push_terms(text, programme.ticker.as_bytes(), matures, coupon);
        if programme.ticker == "S" {
            text.extend_from_slice(b" ++");
            push_number(text, 1 + random.below(60), 1);
        }
    });
    row.copy(Column::Ticker, Column::SecNumDes);
    if let Coupon::Fixed(thousandths) = coupon {
        row.fill(Column::Coupon, |text| push_thousandths(text, thousandths));
    }
    row.fill(Column::Maturity, |text| matures.push_iso(text));
    if !programme.exch_codes.is_empty() && random.one_in(2) {
        row.set(Column::ExchCode, random.pick(programme.exch_codes).as_bytes());
    }
    identifiers::fill(row, programme.country, Security::Govt(ordinal), seed);
    // Legacy identifiers of eight characters.
    row.fill(Column::Bb8Chr, |text| {
        text.extend_from_slice(b"EG");
        push_number(text, ordinal % 1_000_000, 6);
    });
    dump.push(row);
}
