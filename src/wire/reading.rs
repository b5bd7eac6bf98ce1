//! The reading of a typed question, in the answers of `/suggest` and `/find` (contract 16.17,
//! 16.18).

use figdex_index::{
    Attribute, Chip, Date, DateInterval, Filters, Known, Level, Narrowing, NumberInterval, OneOf,
    QuestionReading, Vocabulary,
};

use super::json::{array, string};

/// Writes a reading: the words to search for, the chips, the pieces that are left out, and all
/// filters together, as a body of a search has them.
pub(super) fn write(out: &mut Vec<u8>, reading: &QuestionReading, vocabulary: &Vocabulary) {
    let QuestionReading { keywords, chips, left_out, filters, .. } = reading;
    out.extend_from_slice(b"{\"query\":");
    string(out, keywords.text());
    out.extend_from_slice(b",\"chips\":");
    array(out, chips, |out, chip| self::chip(out, chip, vocabulary));
    if !left_out.is_empty() {
        out.extend_from_slice(b",\"leftOut\":");
        array(out, left_out, |out, text| string(out, text));
    }
    out.extend_from_slice(b",\"filters\":");
    self::filters(out, filters, vocabulary);
    out.push(b'}');
}

fn chip(out: &mut Vec<u8>, Chip { text, without, narrowing }: &Chip, vocabulary: &Vocabulary) {
    out.extend_from_slice(b"{\"text\":");
    string(out, text);
    out.extend_from_slice(b",\"property\":");
    match narrowing {
        Narrowing::Values(values) => {
            string(out, values.first().map_or("", |known| known.property().name()));
            out.extend_from_slice(b",\"values\":");
            self::values(out, values.iter().copied(), vocabulary);
        }
        Narrowing::Number(attribute, interval) => {
            string(out, attribute.name());
            out.extend_from_slice(b",\"interval\":");
            numbers(out, *interval);
        }
        Narrowing::Day(attribute, interval) => {
            string(out, attribute.name());
            out.extend_from_slice(b",\"interval\":");
            days(out, *interval);
        }
    }
    out.extend_from_slice(b",\"without\":");
    string(out, without);
    out.push(b'}');
}

fn filters(out: &mut Vec<u8>, filters: &Filters, vocabulary: &Vocabulary) {
    let Filters { known, levels, numbers: of_numbers, dates, include_unlisted_equities } = filters;
    out.push(b'{');
    let mut is_first = true;
    let mut name = |out: &mut Vec<u8>, name: &str| {
        if !is_first {
            out.push(b',');
        }
        is_first = false;
        string(out, name);
        out.push(b':');
    };
    for one_of in known.iter() {
        name(out, OneOf::property(one_of).name());
        values(out, one_of.values(), vocabulary);
    }
    if !levels.is_empty() {
        name(out, "level");
        let levels: Vec<Level> = levels.iter().collect();
        array(out, &levels, |out, level| string(out, level.name()));
    }
    for (attribute, interval) in Attribute::NUMBERS.into_iter().zip(of_numbers) {
        if let Some(interval) = interval {
            name(out, attribute.name());
            numbers(out, *interval);
        }
    }
    for (attribute, interval) in Attribute::DATES.into_iter().zip(dates) {
        if let Some(interval) = interval {
            name(out, attribute.name());
            days(out, *interval);
        }
    }
    if *include_unlisted_equities {
        name(out, "includeUnlistedEquities");
        out.extend_from_slice(b"true");
    }
    out.push(b'}');
}

fn values(out: &mut Vec<u8>, values: impl Iterator<Item = Known>, vocabulary: &Vocabulary) {
    let values: Vec<&str> = values.map(|known| vocabulary.text(known)).collect();
    array(out, &values, |out, text| string(out, text));
}

fn numbers(out: &mut Vec<u8>, interval: NumberInterval) {
    array(out, &[interval.low(), interval.high()], |out, bound| match bound {
        Some(bound) => out.extend_from_slice(bound.to_string().as_bytes()),
        None => out.extend_from_slice(b"null"),
    });
}

fn days(out: &mut Vec<u8>, interval: DateInterval) {
    let days: [Date; 2] = [interval.first(), interval.last()];
    array(out, &days, |out, day| string(out, &day.to_string()));
}
