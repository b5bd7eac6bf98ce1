//! An instrument as the document that tantivy indexes.

use tantivy::TantivyDocument;

use crate::given::Given;
use crate::instrument::Instrument;
use crate::rank::rank;
use crate::schema::Fields;

/// The document of an instrument: what filters and key words look at, and
/// nothing else.
pub(crate) fn document(fields: &Fields, instrument: &Instrument) -> TantivyDocument {
    let mut document = TantivyDocument::new();
    document.add_u64(fields.figi, instrument.figi.to_u64());
    for (field, value) in fields.properties.iter().zip(&instrument.properties) {
        if let Some(value) = value {
            document.add_text(*field, value);
        }
    }
    let numbers = [
        (fields.strike, instrument.strike),
        (fields.contract_size, instrument.contract_size),
        (fields.coupon, instrument.coupon),
    ];
    for (field, number) in numbers {
        if let Some(number) = number {
            document.add_f64(field, number);
        }
    }
    let (expiration, maturity) = instrument.filter_dates();
    for (field, date) in [(fields.expiration, expiration), (fields.maturity, maturity)] {
        if let Some(date) = date {
            document.add_i64(field, date.to_days());
        }
    }
    for text in instrument.words() {
        document.add_text(fields.words, text);
    }
    document.add_u64(fields.rank, rank(instrument));
    document.add_u64(fields.given, Given::of(instrument).code());
    if instrument.is_unlisted_equity() {
        document.add_bool(fields.unlisted_equity, true);
    }
    document
}
