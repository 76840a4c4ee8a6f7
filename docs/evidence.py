#!/usr/bin/env python3
"""Writes docs/evidence.md: each promise of the pages, what proves it, the command, and the date of the log.

Reads the promises in docs/evidence.toml and the logs in docs/logs, which `.ci/keep-log` keeps. Fails if a promise is
not a sentence of its page any more, if a test that it names does not exist, or if a promised topic has no proof. With
--check, writes nothing and fails if the page is not what it would write.
"""

import argparse
import re
import subprocess
import sys
import textwrap
import tomllib
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
PAGE = HERE / "evidence.md"
LOGS = HERE / "logs"
INTRODUCTION = """\
Each promise of this library, what proves it, and the log of the last run. `docs/evidence.py` writes this page from
`docs/evidence.toml`, which lists the promises, and from `docs/logs`, where `.ci/keep-log NAME COMMAND` keeps the lines
that count of a run. The gate fails if the page differs from them, if a promise is not on its page any more, or if a
test that proves it does not exist.
"""


@dataclass
class Log:
    """A log: its first lines are `# command`, `# date: ...`, `# commit: ...` and perhaps others."""

    name: str
    command: str = ""
    facts: dict[str, str] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)

    @property
    def passed(self) -> int:
        return sum(map(int, re.findall(r"test result: ok\. (\d+) passed", "\n".join(self.lines))))

    @property
    def skipped(self) -> list[str]:
        return [line.removeprefix("skipped:").strip() for line in self.lines if line.startswith("skipped:")]

    @property
    def failed(self) -> bool:
        return any(re.match(r"test result: FAILED|error\b", line) for line in self.lines)

    def summary(self) -> str:
        oks = sum(line.startswith("ok:") for line in self.lines)
        steps = sum(line.startswith("--- ") for line in self.lines)
        parts = {"tests passed": self.passed, "checks passed": oks, "steps": steps, "skipped": len(self.skipped)}
        return ", ".join(f"{what}: {count:,}" for what, count in parts.items() if count) or f"{len(self.lines)} lines"


def read_log(path: Path) -> Log:
    """Reads a log, or stops with the name of the line that it lacks."""
    log = Log(path.stem)
    for line in path.read_text().splitlines():
        if line.startswith("# ") and not log.lines:
            name, colon, value = line[2:].partition(": ")
            if log.command and colon:
                log.facts[name] = value
            elif not log.command:
                log.command = line[2:]
        elif line.strip():
            log.lines.append(line)
    for fact in ("date", "commit"):
        if fact not in log.facts:
            sys.exit(f"{path.relative_to(ROOT)}: there is not a line `# {fact}: ...` below the command")
    return log


def plain(text: str) -> str:
    """Returns a text without line breaks, bold type and the targets of links."""
    text = re.sub(r"\[([^\]]+)\](?:\([^)]*\)|\[[^\]]*\])", r"\1", text)
    return re.sub(r"\s+", " ", text.replace("**", ""))


def complaints(promises: list[dict], pages: dict[str, str]) -> list[str]:
    """Returns a sentence about each promise that the pages and the tests do not have any more."""
    listed = subprocess.run(["git", "ls-files", "*.rs", "*.py"], cwd=ROOT, check=True, capture_output=True, text=True)
    functions = set()
    for path in listed.stdout.split():
        if (ROOT / path).is_file():
            functions.update(re.findall(r"\b(?:fn|def) (\w+)", (ROOT / path).read_text()))
    found = []
    covered = set()
    for promise in promises:
        for sentence in promise["says"]:
            if plain(sentence) not in pages[promise["page"]]:
                found.append(f"docs/evidence.toml: {promise['page']} does not say: {sentence}")
        for test in promise.get("tests", []):
            if test not in functions:
                found.append(f"docs/evidence.toml: there is not a test {test}")
        if not promise.get("logs"):
            found.append(f"docs/evidence.toml: a promise without a log: {promise['says'][0]}")
        covered.add(promise["topic"])
    # Every topic of the page of guarantees, and every row of the README's table, has a promise here.
    topics = re.findall(r"^## (.+)$", (HERE / "guarantees.md").read_text(), re.M)
    readme = (ROOT / "README.md").read_text()
    table = readme[readme.index("## What you can rely on"):readme.index("## More")]
    topics += [name.capitalize() for name in re.findall(r"^\| \[([^\]]+)\]", table, re.M)]
    found += [f"docs/evidence.toml has no promise of the topic {topic}" for topic in topics if topic not in covered]
    return sorted(set(found))


def missing(promise: dict, logs: dict[str, Log]) -> list[str]:
    """Returns what a promise lacks: logs that were not kept, or that do not have what proves it."""
    lacks = []
    for entry in promise["logs"]:
        name, _, needed = entry.partition("/")
        if name not in logs:
            lacks.append(f"`docs/logs/{name}.txt` is missing")
        elif logs[name].failed:
            lacks.append(f"`docs/logs/{name}.txt` has a failure")
        elif needed and not any(needed in line for line in logs[name].lines if not line.startswith("skipped:")):
            lacks.append(f"`docs/logs/{name}.txt` has nothing of `{needed}`")
    return list(dict.fromkeys(lacks))


def wrapped(text: str, first: str = "", rest: str | None = None) -> list[str]:
    rest = first if rest is None else rest
    return textwrap.wrap(
        text, 120, initial_indent=first, subsequent_indent=rest, break_long_words=False, break_on_hyphens=False
    )


def link(page: str) -> str:
    return page.removeprefix("docs/") if page.startswith("docs/") else "../" + page


def cell(text: str) -> str:
    return text.replace("|", "\\|")


def page(promises: list[dict], logs: dict[str, Log], commands: dict[str, str]) -> str:
    """Returns the text of the page."""
    text = [
        "# Evidence",
        "",
        *wrapped(INTRODUCTION),
        "",
        "## Promises",
        "",
    ]
    open_promises = []
    topics = dict.fromkeys(promise["topic"] for promise in promises)
    for topic in topics:
        text += [f"### {topic}", ""]
        for promise in (promise for promise in promises if promise["topic"] == topic):
            quote = " ".join(plain(sentence) for sentence in promise["says"])
            text += [*wrapped(f"{quote} ([{promise['page']}]({link(promise['page'])}))", "> "), ""]
            lacks = missing(promise, logs)
            if lacks:
                open_promises.append((promise, lacks))
            kept = []
            for name in dict.fromkeys(entry.partition("/")[0] for entry in promise["logs"]):
                known = name in logs
                kept.append(f"[{name}](logs/{name}.txt), {logs[name].facts['date']}" if known else f"{name} is missing")
            tests = ", ".join(f"`{test}`" for test in promise.get("tests", []))
            parts = [promise["proof"], f"Tests: {tests}." if tests else "", f"Logs: {', '.join(kept)}."]
            parts.append("**Not yet proved.**" if lacks else "")
            text += [*wrapped(" ".join(filter(None, parts))), ""]
    text += ["## Not yet proved", ""]
    if open_promises:
        for promise, lacks in open_promises:
            text += wrapped(f"* {plain(promise['says'][0])} {'; '.join(lacks)}.", "", "  ")
    else:
        text.append("Every promise has its log.")
    text += ["", "## Logs", "", "| log | command | date | commit | machine | result |"]
    text.append("| --- | --- | --- | --- | --- | --- |")
    for name, log in sorted(logs.items()):
        facts = [log.facts["date"], log.facts["commit"], log.facts.get("machine", "")]
        result = "; ".join(filter(None, [log.summary(), log.facts.get("note", "")]))
        cells = [f"[{name}](logs/{name}.txt)", f"`{log.command}`", *facts, result]
        text.append(f"| {' | '.join(map(cell, cells))} |")
    named = {entry.partition("/")[0] for promise in promises for entry in promise["logs"]}
    for name in sorted(named - logs.keys()):
        command = f"`{commands[name]}`" if name in commands else ""
        text.append(f"| {name} | {command} | | | | missing |")
    text += ["", "## What could not be run", ""]
    skipped = [(name, line) for name, log in sorted(logs.items()) for line in dict.fromkeys(log.skipped)]
    text += [f"* {name}: {line}." for name, line in skipped] or ["The logs name nothing."]
    return "\n".join(text) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="compare the page instead of writing it")
    options = parser.parse_args()
    listed = tomllib.loads((HERE / "evidence.toml").read_text())
    promises, commands = listed["promise"], listed["commands"]
    pages = {name: plain((ROOT / name).read_text()) for name in {promise["page"] for promise in promises}}
    found = complaints(promises, pages)
    if found:
        print("\n".join(found))
        return 1
    logs = {path.stem: read_log(path) for path in sorted(LOGS.glob("*.txt"))} if LOGS.is_dir() else {}
    text = page(promises, logs, commands)
    if options.check:
        if not PAGE.is_file() or PAGE.read_text() != text:
            print("docs/evidence.md is not what docs/evidence.py writes from docs/evidence.toml and docs/logs: run it")
            return 1
    else:
        PAGE.write_text(text)
    unproved = sum(bool(missing(promise, logs)) for promise in promises)
    print(f"ok: {len(promises) - unproved} of {len(promises)} promises have their logs")
    return 0


if __name__ == "__main__":
    sys.exit(main())
