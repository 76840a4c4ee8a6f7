//! `ntable`: look into tables of numbers in the terminal, convert, check and summarize them.
//!
//! Commands: `info`; `rows` (`head`, `tail`, `sample`, `rows`); `stats` (`stats`, `corr`); `convert`; `verify`; `diff`;
//! `shards` (`split`, `join`, `repair`); `bench`; `shell` (`completions`, `man`).
//!
//! Below them: `args`: the command line; `input`: opening a file and its blocks of rows; `output`: writing such blocks;
//! `format`: formats of files; `choice`, `columns`, `filter`: the chosen columns and rows; `element`: the type of
//! several columns; `moment`: dates; `cells`: cells as text; `print`: tables, JSON and messages; `progress`: the bar;
//! `failure`: messages and exit codes; `interrupt`: Ctrl-C.
//!
//! Invariant: no command but `sample` keeps more than some blocks of rows of a file that can be read by blocks.

#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

mod args;
mod bench;
mod cells;
mod choice;
mod columns;
mod convert;
mod csv;
mod diff;
mod element;
mod failure;
mod filter;
mod format;
mod info;
mod input;
mod interrupt;
mod memory;
mod moment;
mod output;
mod print;
mod progress;
mod rows;
mod shards;
mod shell;
mod stats;
mod verify;

use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches};

use crate::args::{Cli, Command};
use crate::failure::{Failure, Outcome};

fn main() -> ExitCode {
    let mut all = Cli::command();
    let matches = all.get_matches_mut();
    let cli = match Cli::from_arg_matches(&matches) {
        Ok(cli) => cli,
        Err(error) => error.exit(),
    };
    let command = matches.subcommand_name().and_then(|name| all.find_subcommand(name));
    let options = command.into_iter().flat_map(clap::Command::get_arguments);
    failure::options_are(options.filter_map(|option| Some(format!("--{}", option.get_long()?))).collect());
    print::be_quiet(cli.quiet);
    interrupt::listen();
    match run(&cli) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            let message = failure.to_string();
            if !message.is_empty() {
                print::error(&message);
            }
            failure.code().into()
        }
    }
}

fn run(cli: &Cli) -> Outcome {
    if let Some(threads) = cli.threads {
        if threads == 0 {
            return Err(Failure::usage("--threads needs at least 1"));
        }
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build_global();
        pool.map_err(|error| Failure::usage(format!("--threads {threads}: {error}")))?;
    }
    match &cli.command {
        Command::Info(args) => info::run(args, cli.json),
        Command::Head(args) => rows::head(args, cli.json),
        Command::Tail(args) => rows::tail(args, cli.json),
        Command::Sample(args) => rows::sample(args, cli.json),
        Command::Rows(args) => rows::range(args, cli.json),
        Command::Stats(args) => stats::run(args, cli.json, cli.quiet),
        Command::Convert(args) => convert::run(args, cli.json, cli.quiet),
        Command::Verify(args) => verify::run(args, cli.json, cli.quiet),
        Command::Diff(args) => diff::run(args, cli.json),
        Command::Split(args) => shards::split(args, cli.json, cli.quiet),
        Command::Join(args) => shards::join(args, cli.json, cli.quiet),
        Command::Repair(args) => shards::repair(args, cli.json),
        Command::Bench(args) => bench::run(args, cli.json),
        Command::Completions(args) => shell::completions(args),
        Command::Man(args) => shell::man(args),
        Command::Corr(args) => stats::corr(args, cli.json, cli.quiet),
    }
}
