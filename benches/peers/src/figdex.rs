//! Figdex in process: from the texts of a question to the bytes of an answer, through the public
//! interface of the library.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use figdex_index::{
    Catalogue, Figi, Filters, Hit, Keywords, Lookup, Manifest, Meter, Page, RowSource as _, Search,
    Text, Vocabulary,
};
use figdex_ingest::{Build, Input};

use crate::engine::{Answer, Built, Engine, time_each};
use crate::question::{MORE, PAGE_ROWS, Pair, Question};

/// The maximum number of rows of one identifier.
const HITS_MAX: usize = 15_000;

/// The reason why there is always an answer.
const ANY: &str = "an answer may take any effort";

pub(crate) struct Figdex {
    index: PathBuf,
    catalogue: Catalogue,
    built: Built,
    /// The buffer for fields that are composed of several pieces.
    buffer: Vec<u8>,
}

impl Figdex {
    /// Builds an index from a dump, as `figdex-ingest` does, and opens it.
    pub(crate) fn build(dump: PathBuf, index: &Path, instruments: u64) -> Result<Self> {
        let started = Instant::now();
        let report = Build::new(vec![Input::File(dump)], index).run(&mut |_| {})?;
        let elapsed = started.elapsed();
        ensure!(report.total().instruments == instruments, "the build left rows out: {report}");
        let bytes = Manifest::published(index)?.bytes();
        let catalogue = Catalogue::open(index)?;
        Ok(Self {
            index: index.to_owned(),
            catalogue,
            built: Built { elapsed, bytes },
            buffer: Vec::new(),
        })
    }

    pub(crate) fn catalogue(&self) -> &Catalogue {
        &self.catalogue
    }

    fn write(&mut self, hits: &[Hit], answer: &mut Answer) -> Result<()> {
        for hit in hits {
            let row = self.catalogue.row(*hit);
            let figi = |figi: Option<Figi>, answer: &mut Answer| {
                answer.field(figi.map(Figi::to_chars).as_ref().map(<[u8; 12]>::as_slice));
            };
            let mut text = |text: Option<Text<'_>>, answer: &mut Answer| {
                answer.field(whole(text, &mut self.buffer)?);
                Ok::<_, anyhow::Error>(())
            };
            figi(Some(row.figi()), answer);
            text(row.name(), answer)?;
            text(row.ticker(), answer)?;
            text(row.exch_code(), answer)?;
            figi(row.composite_figi(), answer);
            text(row.security_type(), answer)?;
            text(row.market_sector(), answer)?;
            figi(row.share_class_figi(), answer);
            text(row.security_type2(), answer)?;
            text(row.security_description(), answer)?;
            answer.end_row();
        }
        Ok(())
    }

    fn page<P>(&mut self, page: Option<Page<P>>, answer: &mut Answer) -> Result<()> {
        let page = page.context(ANY)?;
        self.write(&page.hits, answer)?;
        answer.note(if page.next.is_some() { MORE } else { "" });
        Ok(())
    }

    fn count(&self, search: &Search, answer: &mut Answer) -> Result<()> {
        let total = self.catalogue.count(search, &Meter::unlimited())?.context(ANY)?;
        answer.note(&total.to_string());
        Ok(())
    }
}

/// The whole text of a field, which may consist of several pieces.
fn whole<'a>(text: Option<Text<'_>>, buffer: &'a mut Vec<u8>) -> Result<Option<&'a [u8]>> {
    let Some(text) = text else { return Ok(None) };
    buffer.clear();
    write!(buffer, "{text}")?;
    Ok(Some(buffer))
}

/// No filters. Unlisted equities are included, because the peers have no such rule.
fn everything() -> Filters {
    Filters { include_unlisted_equities: true, ..Filters::default() }
}

fn by_pair(pair: &Pair, vocabulary: &Vocabulary) -> Result<Search> {
    let mut filters = everything();
    for (property, value) in &pair.0 {
        let known = vocabulary.admit(*property, value);
        filters
            .known
            .require(known.with_context(|| format!("the index does not have the value {value}"))?);
    }
    Ok(Search { keywords: None, filters })
}

fn by_words(words: &[String]) -> Result<Search> {
    Ok(Search { keywords: Some(Keywords::parse(&words.join(" "))?), filters: everything() })
}

impl Engine for Figdex {
    fn name(&self) -> &'static str {
        "Figdex"
    }

    fn version(&self) -> String {
        format!("Figdex {}", self.catalogue.manifest().library)
    }

    fn built(&self) -> &Built {
        &self.built
    }

    fn answer(&mut self, question: &Question, answer: &mut Answer) -> Result<()> {
        let meter = Meter::unlimited();
        match question {
            Question::Map { id_type, id_value } => {
                let id_value = id_type.admit(id_value)?;
                let lookup = Lookup::new(id_value, everything());
                let hits = self.catalogue.lookup(&lookup, HITS_MAX)?;
                self.write(&hits, answer)
            }
            Question::Page { pair, after, only_figis } => {
                let search = by_pair(pair, self.catalogue.vocabulary())?;
                let after = Figi::parse(after)?;
                let page = self.catalogue.filter(&search, Some(after), PAGE_ROWS, &meter)?;
                if !only_figis {
                    return self.page(page, answer);
                }
                let page = page.context(ANY)?;
                for hit in &page.hits {
                    answer.field(Some(&self.catalogue.figi(*hit).to_chars()));
                    answer.end_row();
                }
                answer.note(if page.next.is_some() { MORE } else { "" });
                Ok(())
            }
            Question::Count(pair) => {
                let search = by_pair(pair, self.catalogue.vocabulary())?;
                self.count(&search, answer)
            }
            Question::First(words) => {
                let page = self.catalogue.filter(&by_words(words)?, None, PAGE_ROWS, &meter)?;
                self.page(page, answer)
            }
            Question::Best(words) => {
                let page = self.catalogue.search(&by_words(words)?, None, PAGE_ROWS, &meter)?;
                self.page(page, answer)
            }
            Question::CountWords(words) => self.count(&by_words(words)?, answer),
        }
    }

    fn time(&mut self, questions: &[Question]) -> Result<Duration> {
        time_each(questions, |question, answer| self.answer(question, answer))
    }

    /// Reopens the catalogue, whose cache of totals is then empty.
    fn forget(&mut self) -> Result<()> {
        self.catalogue = Catalogue::open(&self.index)?;
        Ok(())
    }
}
