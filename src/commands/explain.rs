//! `figdex explain`: shows how an index would answer a question.

use std::collections::BTreeMap;
use std::time::Instant;
use std::{fs, io};

use anyhow::{Context as _, anyhow, bail};
use figdex_index::{Catalogue, Meter};
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
/// a search or filter request, and an array holds mapping jobs.
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
    let members = serde_json::from_str::<BTreeMap<String, IgnoredAny>>(question);
    if members.is_ok_and(|names| names.contains_key("idType") || names.contains_key("idValue")) {
        return jobs(catalogue, &format!("[{question}]"))?.into_iter().collect();
    }
    let request = SearchRequest::parse(question.as_bytes(), Version::V3).map_err(refused)?;
    let search = asked(request.check(catalogue.vocabulary(), Several::Yes))?;
    let meter = Meter::unlimited();
    let hits = catalogue.count(&search, &meter)?.context("the meter allows any work")?;
    match search.keywords {
        Some(_) => drop(catalogue.search(&search, None, PAGE_ROWS_MAX, &meter)?),
        None => drop(catalogue.filter(&search, None, PAGE_ROWS_MAX, &meter)?),
    }
    Ok(with_hits(hits, &catalogue.explain(&search)?))
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
