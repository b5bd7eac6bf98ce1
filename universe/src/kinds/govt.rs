//! Government debt: bonds, bills and strips of a few sovereigns.

use crate::dump::{Dump, Issue};
use crate::figis::YEARS;
use crate::identifiers::Security;
use crate::rng::Random;
use crate::row::{Column, Row, thousandths};
use crate::terms::{Coupon, maturity, terms};
use crate::{figis, identifiers};

/// A debt programme of a sovereign.
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

/// The programmes, the most frequent first.
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

/// Writes the bond, bill or strip with that ordinal.
pub(super) fn write(issue: &Issue, row: &mut Row, dump: &mut Dump) {
    let &Issue { seed, ordinal, .. } = issue;
    let mut random = Random::of(seed, 12, ordinal);
    let programme = random.pick_by_rank(&PROGRAMMES);
    let year = YEARS.start() + random.below(16);
    let is_bill = matches!(programme.ticker, "B" | "S");
    let years = if programme.ticker == "B" { 1 } else { 2 + random.rank(29) };
    let matures = maturity(year + years, &mut random);
    let number = if is_bill { 0 } else { 125 * random.below(48) };
    let coupon = Coupon::Fixed(number);

    let Programme { ticker, country, security_type, security_type2, currency, .. } = programme;
    row.begin(["Govt", security_type, security_type2, currency]);
    row.set(Column::Figi, figis::GOVTS.issue(year, ordinal).take());
    row.set(Column::Name, programme.name);
    row.set(Column::Description, terms(ticker, &coupon.fraction(), matures));
    let mut text = terms(ticker, &coupon.decimal(), matures);
    if *ticker == "S" {
        text += &format!(" ++{}", 1 + random.below(60));
    }
    row.set(Column::Ticker, text);
    row.copy(Column::Ticker, Column::SecNumDes);
    row.set(Column::Coupon, thousandths(number));
    row.set(Column::Maturity, matures);
    if !programme.exch_codes.is_empty() && random.one_in(2) {
        row.set(Column::ExchCode, random.pick(programme.exch_codes));
    }
    identifiers::fill(row, country, Security::Govt, issue);
    // The legacy identifier of eight characters.
    row.set(Column::Bb8Chr, format_args!("EG{:06}", ordinal % 1_000_000));
    dump.push(row);
}
