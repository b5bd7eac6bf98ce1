//! Compares the answers of all engines, then their times.

use std::time::Duration;

use anyhow::{Context as _, Result, ensure};

use crate::engine::{Answer, Engine};
use crate::question::{Kind, Pool, Question};

/// The median times of one kind of question.
pub(crate) struct Line {
    pub(crate) kind: Kind,
    /// The number of different questions.
    pub(crate) questions: usize,
    /// The mean number of rows that a question finds.
    pub(crate) rows: f64,
    /// The time of each engine; `None` when it does not answer this kind.
    pub(crate) times: Vec<Option<Duration>>,
}

/// Lets every engine that answers this kind answer every question, and compares the answers byte by
/// byte. For questions by words the totals are compared too. For ranked answers, whose order
/// differs between engines, only the number of rows is compared. Returns the mean number of rows
/// that a question finds.
///
/// # Errors
/// When the answers of two engines differ.
pub(crate) fn answers(engines: &mut [Box<dyn Engine>], pool: &Pool) -> Result<f64> {
    let mut found = 0;
    for question in &pool.questions {
        let mut answer = agreed(engines, pool.kind, question)?;
        if let Question::First(words) | Question::Best(words) = question {
            answer = agreed(engines, pool.kind, &Question::CountWords(words.clone()))?;
        }
        found += match answer.rows() {
            0 => str::from_utf8(answer.text())?.parse()?,
            rows => rows,
        };
    }
    Ok(found as f64 / pool.questions.len() as f64)
}

/// Asks every question once, so that all data it needs are in memory. Counts are left out, because
/// engines may cache their answers.
pub(crate) fn warm(engines: &mut [Box<dyn Engine>], pool: &Pool) -> Result<()> {
    if !pool.kind.is_count() {
        for engine in engines.iter_mut().filter(|engine| engine.answers(pool.kind)) {
            engine.time(&pool.questions)?;
        }
    }
    Ok(())
}

/// The answer that all engines agree on.
fn agreed(engines: &mut [Box<dyn Engine>], kind: Kind, question: &Question) -> Result<Answer> {
    let mut first: Option<(&'static str, Answer)> = None;
    let is_ranked = kind.is_ranked() && matches!(question, Question::Best(_));
    for engine in engines.iter_mut().filter(|engine| engine.answers(kind)) {
        let mut answer = Answer::default();
        engine.answer(question, &mut answer)?;
        let Some((other, expected)) = &first else {
            first = Some((engine.name(), answer));
            continue;
        };
        let same = if is_ranked {
            answer.rows() == expected.rows()
        } else {
            answer.text() == expected.text()
        };
        ensure!(
            same,
            "{question:?}: {other} answers\n{}\nand {}\n{}",
            expected.text().escape_ascii(),
            engine.name(),
            answer.text().escape_ascii()
        );
    }
    let (_, answer) = first.context("no engine answers this kind of question")?;
    Ok(answer)
}

/// Times the engines in turns. Every round has other questions, the same for all engines.
pub(crate) fn measure(
    engines: &mut [Box<dyn Engine>],
    pool: &Pool,
    rows: f64,
    rounds: usize,
) -> Result<Line> {
    let mut times: Vec<Vec<Duration>> = vec![Vec::new(); engines.len()];
    for round in 0..rounds {
        let questions = pool.of_round(round, rounds);
        let turns = engines.iter_mut().zip(&mut times);
        for (engine, times) in turns.filter(|(engine, _)| engine.answers(pool.kind)) {
            times.push(engine.time(&questions)? / questions.len() as u32);
        }
    }
    let times = times.into_iter().map(median).collect();
    Ok(Line { kind: pool.kind, questions: pool.questions.len(), rows, times })
}

fn median(mut times: Vec<Duration>) -> Option<Duration> {
    times.sort_unstable();
    times.get(times.len() / 2).copied()
}
