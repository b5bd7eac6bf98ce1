//! `figdex explain`: shows how an index would answer a question.

use std::collections::BTreeMap;
use std::time::Instant;
use std::{fs, io};

use anyhow::{Context as _, anyhow, bail};
use figdex_index::{
    Catalogue, Filters, Hit, Keywords, Meter, Narrowing, ReadingsTried, RowSource as _, Suggest,
    Vocabulary,
};
use figdex_io::{Address, escaped, escaped_path, grouped, terminal};
use serde::de::IgnoredAny;

use crate::callers::error::ApiError;
use crate::callers::limits::{JOBS_MOST, PAGE_ROWS_MAX};
use crate::callers::version::Version;
use crate::config::ExplainFlags;
use crate::wire::{self, Checked, Job, SearchRequest, Several};

/// Prints the plan for the question that the flags name.
pub(super) fn run(flags: &ExplainFlags) -> anyhow::Result<()> {
    let question = match flags.question.as_os_str() == "-" {
        true => io::read_to_string(io::stdin()),
        false => fs::read_to_string(&flags.question),
    };
    let question = question.with_context(|| escaped_path(&flags.question).to_string())?;
    let index = match &flags.index {
        Address::Folder(index) => index,
        Address::Storage(address) => bail!(
            "{address} has no plan to explain: name the --cache of a server, which is a folder with \
             its index"
        ),
        Address::Cluster(address) => bail!(
            "{address} is in a cluster, which plans its questions itself: explain shows the plan \
             of an index in a folder"
        ),
    };
    let catalogue = Catalogue::open(index)?;
    let start = Instant::now();
    let plans = explain(&catalogue, &question)?;
    let millis = start.elapsed().as_secs_f64() * 1e3;
    Ok(terminal::print(&format_args!("{plans}planned, found and counted in {millis:.1} ms\n"))?)
}

/// The number of instruments that a question of v3 finds, and the plan of the question, for people.
/// The question is JSON. An object with `idType` or `idValue` is a mapping job, any other object is
/// a search or filter request, an array holds mapping jobs, and a text is one for `/find`.
///
/// # Errors
/// When a server would refuse the question, or the index cannot answer it.
pub fn explain(catalogue: &Catalogue, question: &str) -> anyhow::Result<String> {
    if question.trim_start().starts_with('[') {
        let jobs = jobs(catalogue, question)?.into_iter().zip(1..);
        let plans = jobs.map(|(plan, number)| {
            let plan = plan.with_context(|| format!("job {number}"))?;
            Ok(format!("job {number}\n{plan}"))
        });
        return plans.collect();
    }
    if question.trim_start().starts_with('"') {
        let text: String =
            serde_json::from_str(question).map_err(|_| refused(ApiError::BadRequest))?;
        return typed(catalogue, &text);
    }
    let members = serde_json::from_str::<BTreeMap<String, IgnoredAny>>(question);
    if members.is_ok_and(|names| names.contains_key("idType") || names.contains_key("idValue")) {
        return jobs(catalogue, &format!("[{question}]"))?.into_iter().collect();
    }
    let request = SearchRequest::parse(question.as_bytes(), Version::V3).map_err(refused)?;
    let search = asked(request.check(catalogue.vocabulary(), Several::Yes))?;
    let meter = Meter::unlimited();
    let hits = catalogue.count(&search, &meter)?.context("the meter allows any work")?;
    let found = match search.keywords {
        Some(_) => catalogue.search(&search, None, PAGE_ROWS_MAX, &meter)?.map(|page| page.hits),
        None => catalogue.filter(&search, None, PAGE_ROWS_MAX, &meter)?.map(|page| page.hits),
    };
    let mut text = with_hits(hits, &catalogue.explain(&search)?);
    for hit in found.unwrap_or_default().into_iter().take(BEST_LISTINGS) {
        text += &best_listing(catalogue, hit)?;
    }
    Ok(text)
}

/// The first hits whose best listing is explained.
const BEST_LISTINGS: usize = 3;

/// The best listing of the security of a hit, and the rule that chose it (contract 16.15).
fn best_listing(catalogue: &Catalogue, hit: Hit) -> anyhow::Result<String> {
    let (best, by) = catalogue.best_by(hit)?;
    let shown = |hit: Hit| {
        let row = catalogue.row(hit);
        let texts = [row.ticker(), row.exch_code()].map(|text| text.map(|text| text.to_string()));
        let texts = texts.into_iter().flatten().collect::<Vec<_>>().join(" ");
        format!("{} {}", row.figi(), escaped(&texts))
    };
    let of = if best == hit { "it is".to_owned() } else { format!("{} is", shown(best)) };
    Ok(format!("{}: {of} the best listing: {}\n", shown(hit), by.text()))
}

/// The readings of a text, as `/find` tries them, and the plan of the one that it takes.
fn typed(catalogue: &Catalogue, text: &str) -> anyhow::Result<String> {
    let keywords = Keywords::parse(text)?;
    let typed = Suggest { keywords, filters: Filters::default() };
    let ReadingsTried { readings, decision } = catalogue.readings_tried(&typed)?;
    let mut said = String::new();
    said += match (readings.is_empty(), decision.words_find) {
        (true, _) => "no word is a form, a term or a place\n",
        (_, true) => "the words as typed find a row\n",
        (_, false) => "the words as typed find nothing\n",
    };
    for (number, reading) in readings.iter().enumerate() {
        let is_tried = decision.taken.is_none_or(|taken| number <= taken);
        let outcome = match decision.taken == Some(number) {
            true => "taken",
            false if decision.words_find => "not tried: the words as typed find a row",
            false if !is_tried => "not tried: an earlier reading was taken",
            false => "not taken: it finds nothing",
        };
        said += &format!("reading {}: {}\n", number + 1, escaped(outcome));
        said += &format!("  words: {}\n", escaped(reading.keywords.text()));
        for chip in &reading.chips {
            let narrowing = described(&chip.narrowing, catalogue.vocabulary());
            said += &format!("  {}: {}\n", escaped(&chip.text), escaped(&narrowing));
        }
        for left_out in &reading.left_out {
            said += &format!("  {}: left out\n", escaped(left_out));
        }
    }
    let search = match decision.taken {
        Some(taken) => readings[taken].search(),
        None => typed.search(),
    };
    let hits = catalogue.count(&search, &Meter::unlimited())?;
    let hits = hits.context("the meter allows any work")?;
    Ok(said + &with_hits(hits, &catalogue.explain(&search)?))
}

/// The condition of a chip, as text.
fn described(narrowing: &Narrowing, vocabulary: &Vocabulary) -> String {
    match narrowing {
        Narrowing::Values(values) => {
            let name = values.first().map_or("", |known| known.property().name());
            let texts: Vec<&str> = values.iter().map(|known| vocabulary.text(*known)).collect();
            format!("{name} {}", texts.join(", "))
        }
        Narrowing::Number(attribute, interval) => {
            let ends = [interval.low(), interval.high()];
            let ends = ends.map(|end| end.map_or_else(String::new, |end| end.to_string()));
            format!("{} {}", attribute.name(), ends.join(".."))
        }
        Narrowing::Day(attribute, interval) => {
            format!("{} {}..{}", attribute.name(), interval.first(), interval.last())
        }
    }
}

/// A plan, preceded by the number of instruments that it finds.
fn with_hits(hits: u64, plan: &str) -> String {
    let matching = if hits == 1 { "instrument matches" } else { "instruments match" };
    format!("{} {matching}\n{plan}", grouped(hits))
}

/// The plan for each mapping job of an array.
fn jobs(catalogue: &Catalogue, jobs: &str) -> anyhow::Result<Vec<anyhow::Result<String>>> {
    let plan = |job: Job<'_>| {
        let lookup = asked(job.check(Version::V3, catalogue.vocabulary()))?;
        let hits = catalogue.lookup(&lookup, usize::MAX).map_err(|_| anyhow!("too many rows"))?;
        Ok(with_hits(hits.len() as u64, &catalogue.explain_lookup(&lookup)))
    };
    wire::jobs(jobs.as_bytes(), Version::V3, JOBS_MOST, plan).map_err(refused)
}

/// The question of a request, unless a server would refuse it.
fn asked<T>(checked: Checked<T>) -> anyhow::Result<T> {
    match checked.question {
        Ok(Some(question)) if checked.enums_hold => Ok(question),
        Err(fault) if checked.enums_hold => bail!("{}", escaped(&*fault)),
        _ => Err(refused(ApiError::InvalidEnumField)),
    }
}

fn refused(error: ApiError) -> anyhow::Error {
    let (_, text) = error.line();
    match error {
        ApiError::BadRequest => anyhow!(text).context(
            "the question is not a search, a filter, a mapping job or an array of mapping jobs \
             in JSON",
        ),
        _ => anyhow!(text),
    }
}
