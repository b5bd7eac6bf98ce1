//! The examples at the end of each `--help`: two or three, each a command line that the program takes.

use clap::{Command, CommandFactory as _, Parser as _};
use figdex::config;
use figdex_ingest::flags;

/// The width of help texts.
const WIDTH: usize = 80;

/// The commands of a program, itself among them, with the words that call each.
fn commands(name: &str, command: &Command) -> Vec<(String, Command)> {
    let mut found = vec![(name.to_owned(), command.clone())];
    for inner in command.get_subcommands().filter(|inner| inner.get_name() != "help") {
        found.extend(commands(&format!("{name} {}", inner.get_name()), inner));
    }
    found
}

/// The words of a command line, as a shell splits them.
fn words(line: &str) -> Vec<String> {
    let (mut words, mut quote) = (vec![String::new()], None);
    for character in line.chars() {
        match (quote, character) {
            (None, ' ') => words.push(String::new()),
            (None, '\'' | '"') => quote = Some(character),
            (Some(open), _) if open == character => quote = None,
            _ => words.last_mut().unwrap().push(character),
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

fn assert_parses(example: &str) {
    // The programs among the commands of a line that a shell runs, without what is redirected.
    let mut ran = 0;
    for command in example.split(" | ").flat_map(|part| part.split(" && ")) {
        let command = command.split(" > ").next().unwrap();
        let mut words = words(command);
        if words.starts_with(&["sudo".to_owned(), "-u".to_owned()]) {
            words.drain(..3);
        }
        let error = match &*words[0] {
            "figdex" => config::Flags::try_parse_from(&words).err(),
            "figdex-ingest" => flags::Flags::try_parse_from(&words).err(),
            _ => continue,
        };
        ran += 1;
        // A program refuses addresses of a kind that it was built without.
        let is_absent =
            |error: &clap::Error| error.to_string().contains("this program was built without");
        assert!(error.as_ref().is_none_or(is_absent), "{example}: {error:?}");
    }
    assert!(ran > 0, "{example}");
}

#[test]
fn each_help_ends_with_examples_that_are_true() {
    let programs =
        [("figdex", config::Flags::command()), ("figdex-ingest", flags::Flags::command())];
    let commands = programs.iter().flat_map(|(name, command)| commands(name, command));
    for (name, command) in commands {
        let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
        let examples = help.split_once("Examples:\n").unwrap_or_else(|| panic!("{name}: none")).1;
        assert!(help.lines().all(|line| line.chars().count() <= WIDTH), "{name}: {help}");
        let joined = examples.replace("\\\n", "");
        let examples: Vec<&str> = joined.lines().map(str::trim).collect();
        assert!((2..=3).contains(&examples.len()), "{name}: {examples:?}");
        for example in examples {
            assert!(example.contains(&*name) || !name.contains(' '), "{name}: {example}");
            assert_parses(example);
        }
        let about = command.get_about().map(ToString::to_string).unwrap_or_default();
        let printed = command.clone().render_help().to_string();
        assert!(printed.starts_with(&about) && !about.is_empty(), "{name}: {printed}");
    }
}
