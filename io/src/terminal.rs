//! Text for people, on standard output and standard error of both programs.
//!
//! All such text is printed here. It may contain parts of a dump, an index, a path or an argument.
//! So hidden characters are escaped, and the users and passwords of addresses are masked. In rows
//! for scripts, characters are only escaped. The progress bars of a build, which show only numbers,
//! are drawn elsewhere. Dumps and JSON files are written elsewhere, too.

use std::backtrace::{Backtrace, BacktraceStatus};
use std::fmt::Display;
use std::io::{self, Write};
use std::panic::PanicHookInfo;
use std::process::ExitCode;

use rustix::io::Errno;
use rustix::process::{Uid, geteuid};

use crate::printable::{escaped, escaped_lines, is_hidden, masked, masked_words};

/// Prints a text on standard output.
///
/// # Errors
/// When it cannot be written. A pipe that its reader has closed is not an error.
pub fn print(text: &dyn Display) -> io::Result<()> {
    write(&shown(text))
}

/// Prints rows on standard output for scripts: a line per row, with tabs between the fields. Hidden
/// characters are escaped, but nothing is masked.
///
/// # Errors
/// As [`print()`].
pub fn print_rows<const N: usize>(rows: impl Iterator<Item = [String; N]>) -> io::Result<()> {
    let row =
        |fields: [String; N]| fields.map(|field| escaped(field).to_string()).join("\t") + "\n";
    write(&rows.map(row).collect::<String>())
}

/// The text, made safe for a terminal.
fn shown(text: &dyn Display) -> String {
    let text = text.to_string();
    escaped_lines(masked_words(&text)).to_string()
}

fn write(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        Err(error) => Err(io::Error::new(error.kind(), format!("standard output: {error}"))),
    }
}

/// Prints a text and a line end on standard error. A failure is ignored, since there is no other
/// place to report it.
pub fn note(text: &dyn Display) {
    let line = format!("{}\n", shown(text));
    io::stderr().lock().write_all(line.as_bytes()).ok();
}

/// Prints the error that ended a program, with its causes. If the system refused access, the text
/// also names the user that runs the program.
pub fn error(program: &str, error: &dyn Display) {
    let mut text = format!("{error:#}");
    // Some errors were collected as texts, so their kinds are unknown here.
    if text.contains(&io::Error::from(Errno::ACCESS).to_string()) {
        let user = user_name(geteuid());
        text += &format!(
            "\n  this program runs as the user {user}: give that user access to what is named \
             here,\n  or run the program as a user who has it"
        );
    }
    note(&format_args!("{program}: {}", indented(&text)));
}

/// The name of a user; the number if the system's list does not have it.
fn user_name(user: Uid) -> String {
    let number = user.as_raw().to_string();
    let users = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
    let name = users.lines().find_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next()?;
        (fields.nth(1) == Some(&*number)).then(|| name.to_owned())
    });
    name.unwrap_or(number)
}

/// The messages of number parsers, and their replacements for people.
const OF_NUMBERS: [(&str, &str); 3] = [
    ("invalid digit found in string", "expected a whole number in digits, such as 1000"),
    ("cannot parse integer from empty string", "expected a whole number, such as 1000"),
    ("number too large to fit in target type", "the number is too large"),
];

/// Prints clap's message about a command line: a usage error, the help or the version. Returns
/// clap's exit code.
pub fn usage(mut error: clap::Error) -> ExitCode {
    use clap::error::ContextValue;
    // A value may be an address whose password contains a space or a quote.
    let escape = |text: &String| escaped(masked(text)).to_string();
    let is_withheld = |text: &str| text.contains(is_hidden) || masked(text) != text;
    let values: Vec<_> = error.context().map(|(kind, value)| (kind, value.clone())).collect();
    for (kind, value) in values {
        let value = match value {
            ContextValue::String(text) => ContextValue::String(escape(&text)),
            ContextValue::Strings(texts) => {
                ContextValue::Strings(texts.iter().map(escape).collect())
            }
            // This suggestion repeats the argument.
            ContextValue::StyledStr(text) if is_withheld(&text.to_string()) => ContextValue::None,
            ContextValue::StyledStrs(mut texts) => {
                texts.retain(|text| !is_withheld(&text.to_string()));
                ContextValue::StyledStrs(texts)
            }
            _ => continue,
        };
        error.insert(kind, value);
    }
    let mut text = error.render().to_string();
    if error.kind() == clap::error::ErrorKind::ValueValidation {
        for (said, plain) in OF_NUMBERS {
            text = text.replace(said, plain);
        }
    }
    if error.use_stderr() {
        note(&text.trim_end_matches('\n'));
    } else {
        // A failure to print the help is not an error of the program.
        print(&text).ok();
    }
    u8::try_from(error.exit_code()).map_or(ExitCode::FAILURE, ExitCode::from)
}

/// Prints panics with [`note`] from now on, since a panic message may quote a dump.
pub fn print_panics() {
    std::panic::set_hook(Box::new(|panic| note(&panic_text(panic))));
}

fn panic_text(panic: &PanicHookInfo<'_>) -> String {
    let thread = std::thread::current();
    let name = thread.name().unwrap_or("<unnamed>");
    let mut text = format!("thread '{name}' {}", indented(&panic.to_string()));
    let backtrace = Backtrace::capture();
    if backtrace.status() == BacktraceStatus::Captured {
        text = format!("{text}\n{backtrace}");
    }
    text
}

/// The text with all lines except the first indented, so that no line can look like another
/// message.
fn indented(text: &str) -> String {
    match text.lines().skip(1).all(|line| line.starts_with("  ")) {
        true => text.to_owned(),
        false => text.replace('\n', "\n  "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A panic may quote a text with line ends and hidden characters.
    #[test]
    fn a_panic_is_printed_as_one_message() {
        use std::panic;
        let (send, texts) = std::sync::mpsc::channel();
        let earlier = panic::take_hook();
        panic::set_hook(Box::new(move |panic| {
            send.send(escaped_lines(panic_text(panic)).to_string()).unwrap();
        }));
        let thread = std::thread::Builder::new().name("hostile\x1b".to_owned());
        let panicking = thread.spawn(|| panic!("not {}", "a\x1b[2J\nfigdex: forged")).unwrap();
        assert!(panicking.join().is_err());
        panic::set_hook(earlier);
        let text = texts.iter().find(|text| text.contains("hostile")).unwrap();
        assert!(text.starts_with("thread 'hostile\\u001b' panicked at "), "{text}");
        assert!(text.contains("not a\\u001b[2J\n  figdex: forged"), "{text}");
    }

    #[test]
    fn no_line_looks_like_a_second_message() {
        for (text, shown) in [
            ("one", "one"),
            ("2 faults\n  a\n  b", "2 faults\n  a\n  b"),
            ("a\nfigdex: b\n  c", "a\n  figdex: b\n    c"),
        ] {
            assert_eq!(indented(text), shown);
        }
    }
}
