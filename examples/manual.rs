//! Writes the manual pages and the shell completions of both programs, from their flags. This is a
//! separate program because only packaging needs it.
//!
//! ```text
//! cargo run --example manual -- DIR
//! ```
//! `DIR/man1` has a page for each command and subcommand; `DIR/bash`, `DIR/zsh` and
//! `DIR/fish` have a file for each program, with the name that the shell expects.

use std::fs;
use std::path::Path;

use anyhow::Context as _;
use clap::{Command, CommandFactory as _};
use clap_complete::{Shell, generate_to};

fn main() -> anyhow::Result<()> {
    let arguments: Vec<_> = std::env::args_os().skip(1).collect();
    let [folder] = &arguments[..] else { anyhow::bail!("usage: manual DIR") };
    let folder = Path::new(folder);
    for program in [figdex::config::Flags::command(), figdex_ingest::flags::Flags::command()] {
        write(program, folder).with_context(|| folder.display().to_string())?;
    }
    Ok(())
}

/// Writes the manual pages and completions of one program.
fn write(mut program: Command, folder: &Path) -> anyhow::Result<()> {
    let pages = folder.join("man1");
    fs::create_dir_all(&pages)?;
    // Before the completions, which add a subcommand `help` to the program.
    clap_mangen::generate_to(program.clone(), &pages)?;
    let name = program.get_name().to_owned();
    for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
        let folder = folder.join(shell.to_string());
        fs::create_dir_all(&folder)?;
        let written = generate_to(shell, &mut program, &name, &folder)?;
        // bash looks for a completion under the name of the command.
        if shell == Shell::Bash {
            fs::rename(written, folder.join(&name))?;
        }
    }
    Ok(())
}
