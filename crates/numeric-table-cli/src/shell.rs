//! Completions for shells, and man pages.

use std::path::Path;

use clap::CommandFactory;
use numeric_table::Error;

use crate::args::{Cli, CompletionsArgs, ManArgs};
use crate::failure::Outcome;

pub(crate) fn completions(args: &CompletionsArgs) -> Outcome {
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "ntable", &mut text);
    Ok(std::io::Write::write_all(&mut std::io::stdout().lock(), &text)?)
}

/// Prints the page of the program, or writes a page for it and each of its commands to a folder.
pub(crate) fn man(args: &ManArgs) -> Outcome {
    let Some(folder) = &args.folder else {
        let mut text = Vec::new();
        clap_mangen::Man::new(Cli::command()).render(&mut text)?;
        return Ok(std::io::Write::write_all(&mut std::io::stdout().lock(), &text)?);
    };
    let folder: &Path = folder;
    std::fs::create_dir_all(folder).map_err(|error| Error::io(folder, error))?;
    Ok(clap_mangen::generate_to(Cli::command(), folder).map_err(|error| Error::io(folder, error))?)
}
