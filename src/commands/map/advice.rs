//! The advice at the end: the option that would decide ambiguous rows, if there is one, and what may
//! be wrong when no row of a whole file is found. Steps are tried on the first ambiguous identifiers. The rows that are written stay the same.

use std::borrow::Cow;
use std::collections::HashMap;

use figdex_index::{Field, IdType, ListField, Status};
use figdex_io::grouped;
use parking_lot::Mutex;

use super::answerer::{Answer, Answerer, Asked, has_several_readings};
use super::columns::{Columns, Reading};
use super::quoted;
use super::report::Counts;
use crate::config::map::{Many, MapFlags};

/// The field with the exchange of a row.
const EXCH_CODE: ListField = ListField::Row(Field::ExchCode);

/// The most identifiers that steps are tried on.
const TRIED_MAX: usize = 100;

/// The most exchange codes that the advice lists.
const CODES_MAX: usize = 6;

/// The fewest rows of which it is said that none was found.
const NONE_FOUND_MIN: u64 = 3;

/// The first ambiguous identifiers of a run.
#[derive(Default)]
pub(super) struct Undecided(Mutex<First>);

#[derive(Default)]
struct First {
    /// Identifiers with several rows.
    listings: Vec<Asked<'static>>,
    /// The readings of the first text whose readings disagree.
    readings: Vec<IdType>,
}

impl Undecided {
    /// Keeps an identifier if it is one of the first ambiguous ones.
    pub(super) fn note<R>(&self, asked: &Asked<'_>, answer: &Answer<R>) {
        let resolution = &answer.resolution;
        // No step decides what a name means, nor which security a former identifier meant.
        let is_ambiguous = matches!(resolution.status, Status::Ambiguous(_));
        if !is_ambiguous || resolution.is_name_like || answer.is_former {
            return;
        }
        let mut first = self.0.lock();
        if has_several_readings(resolution) {
            if first.readings.is_empty() {
                first.readings.clone_from(&resolution.id_types);
            }
        } else if first.listings.len() < TRIED_MAX {
            let text = Cow::Owned(asked.text.clone().into_owned());
            let Asked { reading, narrowing, day, .. } = *asked;
            first.listings.push(Asked { text, reading, narrowing, day });
        }
    }

    /// The advice, a line for each kind of ambiguous rows.
    pub(super) fn advice<A: Answerer>(
        self,
        answerer: &A,
        flags: &MapFlags,
        columns: &Columns,
        counts: &Counts,
    ) -> Vec<String> {
        let First { listings, readings } = self.0.into_inner();
        let mut lines = Vec::new();
        // If all rows are written, nothing has to be decided.
        let has_listings = !listings.is_empty() && flags.many != Many::All;
        if has_listings {
            let others = counts.with_several_readings() + counts.name_like();
            let others = others + counts.formerly_several();
            let rows = of_rows(counts.ambiguous() - others);
            lines.push(format!(
                "{rows} may mean several listings: {}",
                step(answerer, flags, &listings)
            ));
        }
        if counts.name_like() > 0 && flags.many != Many::All {
            lines.push(format!(
                "{} written like a name, and found only as a ticker: --names-as-candidates says \
                 what it may mean",
                of_rows(counts.name_like())
            ));
        }
        if counts.not_accepted() > 0 {
            let verb = if counts.not_accepted() == 1 { "is" } else { "are" };
            lines.push(format!(
                "{} {verb} historical: --accept historical fills the fields with the row that the \
                 FIGI has now",
                of_rows(counts.not_accepted())
            ));
        }
        let named = columns.identifiers.iter().find(|column| column.reading == Reading::Each);
        if let ([id_type, ..], Some(column)) = (&*readings, named) {
            let rows = of_rows(counts.with_several_readings());
            let column = quoted(&columns.names[column.column]);
            lines.push(format!(
                "{rows} may mean several securities, by the ways to read them: --id \
                 {column}:{} says how the column is read",
                id_type.name()
            ));
        }
        if counts.is_none_known(NONE_FOUND_MIN)
            && let [only] = &*columns.identifiers
            && let Reading::OfColumn(id_type) | Reading::Given(id_type) = only.reading
        {
            lines.push(format!(
                "no row is found by {}: the index may have no such identifiers; --id names \
                 another column",
                id_type.name()
            ));
        }
        lines
    }
}

fn of_rows(count: u64) -> String {
    match count {
        1 => "1 row".to_owned(),
        count => format!("{} rows", grouped(count)),
    }
}

/// The steps that would decide these identifiers, or some of them.
fn step<A: Answerer>(answerer: &A, flags: &MapFlags, listings: &[Asked<'_>]) -> String {
    const STATED: &str = "--prefer says which one is meant, such as --prefer composite --prefer \
                          'exchCode=US|LN'";
    const UNDECIDED: &str = "no step that was tried decides; --many all writes all of them";
    let mut steps = flags.prefer.clone();
    let mut added = Vec::new();
    let mut decided = 0;
    if !flags.prefer.iter().any(|step| step == "composite") {
        steps.push("composite".to_owned());
        added.push("--prefer composite".to_owned());
    }
    // A server counts questions in its rate limit, so it is not asked for advice. An index has
    // already answered all rows: if it fails now, only the advice is lost.
    let Ok(Some(tried)) = answerer.try_steps(listings, &steps) else { return STATED.to_owned() };
    if !added.is_empty() {
        decided = resolved(&tried);
    }
    let mut codes = Vec::new();
    if decided < listings.len() {
        codes = codes_of(answerer, &tried);
        if let Some(code) = codes.first() {
            steps.push(format!("exchCode={code}"));
            let by_code = answerer.try_steps(listings, &steps).ok().flatten();
            let by_code = by_code.map_or(0, |tried| resolved(&tried));
            match by_code > decided {
                true => {
                    added.push(format!("--prefer {}", quoted(&format!("exchCode={code}"))));
                    decided = by_code;
                }
                false => codes.clear(),
            }
        }
    }
    if decided == 0 {
        return UNDECIDED.to_owned();
    }
    let mut line = format!("{} would resolve {decided} of ", added.join(" "));
    line += &match listings.len() {
        TRIED_MAX => format!("the {TRIED_MAX} that were tried"),
        count => count.to_string(),
    };
    if let [_, others @ ..] = &*codes
        && !others.is_empty()
    {
        let mut listed = others.iter().take(CODES_MAX).cloned().collect::<Vec<_>>().join(", ");
        if others.len() > CODES_MAX {
            listed.push_str(" …");
        }
        line += &format!("; other exchange codes are {listed}");
    }
    line
}

fn resolved<R>(answers: &[Answer<R>]) -> usize {
    let statuses = answers.iter().map(|answer| &answer.resolution.status);
    statuses.filter(|status| matches!(status, Status::Resolved(_))).count()
}

/// The exchange codes of the candidates. The codes of the most identifiers come first.
fn codes_of<A: Answerer>(answerer: &A, answers: &[Answer<A::Row>]) -> Vec<String> {
    let mut codes: Vec<(String, usize)> = Vec::new();
    let mut places = HashMap::new();
    for answer in answers {
        let mut own = Vec::new();
        for row in &answer.rows {
            let mut code = Vec::new();
            if answerer.field(row, EXCH_CODE, &mut code) && !own.contains(&code) {
                own.push(code);
            }
        }
        for code in own {
            let code = String::from_utf8_lossy(&code).into_owned();
            let place = *places.entry(code.clone()).or_insert(codes.len());
            match codes.get_mut(place) {
                Some((_, count)) => *count += 1,
                None => codes.push((code, 1)),
            }
        }
    }
    // A stable sort: equally frequent codes stay in the order of a search.
    codes.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    codes.into_iter().map(|(code, _)| code).collect()
}
