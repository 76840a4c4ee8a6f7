#!/usr/bin/env python3
"""Checks the links of the pages, and makes the sources of the documentation site from them.

Without arguments, checks that every relative link in the pages of the repository leads to a file, and to a heading if
it names one. With `--sources FOLDER`, also writes the pages in the form that mdBook takes: the same paths as in the
repository, so that the same links work, beside the pictures and files that they show. With `--built FOLDER`, checks
every link of the pages that mdBook has written. Prints each broken link and fails if there is one. `.ci/site` calls it.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

ROOT = Path(__file__).resolve().parent.parent

# The chapters: the title of a part, and its pages. A page's title is its first heading, unless the list has another.
PARTS = {
    "Guide": [
        "docs/tour.md", "docs/how-do-i/README.md", "docs/programs.md", "docs/formats.md", "docs/table-files.md",
        "docs/cost.md", "docs/scale.md", "docs/coming-from-daal.md",
    ],
    "What you can rely on": ["docs/guarantees.md", "docs/stability.md", "docs/evidence.md", "SECURITY.md"],
    "Crates and packages": [
        ("numeric-table-arrow", "crates/numeric-table-arrow/README.md"),
        ("numeric-table-execution", "crates/numeric-table-execution/README.md"),
        ("numeric-table-learning", "crates/numeric-table-learning/README.md"),
        ("numeric-table-object-store", "crates/numeric-table-object-store/README.md"),
        ("numeric-table-sprs", "crates/numeric-table-sprs/README.md"),
        ("ntable, the tool", "crates/numeric-table-cli/README.md"),
        ("Python", "python/README.md"),
        ("MPI", "distributed/mpi/README.md"),
        ("DataFusion", "distributed/datafusion/README.md"),
    ],
    "Results": ["examples/README.md", "benches/README.md", "data/README.md"],
    "Project": ["ARCHITECTURE.md", "CONTRIBUTING.md", "RELEASING.md", "CHANGELOG.md"],
}
# The pages below another page, in the order in which the other page links them.
FOLDERS = {
    "docs/how-do-i/README.md": "docs/how-do-i",
    "crates/numeric-table-arrow/README.md": "crates/numeric-table-arrow/docs",
    "crates/numeric-table-execution/README.md": "crates/numeric-table-execution/docs",
    "crates/numeric-table-learning/README.md": "crates/numeric-table-learning/docs",
    "crates/numeric-table-object-store/README.md": "crates/numeric-table-object-store/docs",
    "python/README.md": "python",
    "benches/README.md": "benches/logs",
    "ARCHITECTURE.md": "src",
    "CONTRIBUTING.md": "tests",
}
# The documentation of a crate, whose links are names of Rust.
RUSTDOC = {"crates/numeric-table-execution/docs/overview.md"}

FENCE = re.compile(r"^(`{3,}|~{3,}).*?^\1[ \t]*$", re.M | re.S)
CODE = re.compile(r"(`+)(?!`).+?(?<!`)\1(?!`)", re.S)
INLINE = re.compile(r"\]\(\s*<?([^()\s>]+(?:\([^()\s]*\))?[^()\s>]*)>?(?:\s+\"[^\"]*\")?\s*\)")
REFERENCE = re.compile(r"^ {0,3}\[([^\]]+)\]:\s*(\S+)[ \t]*$", re.M)


def pages() -> list[str]:
    """Returns the paths of all pages of the repository, the new ones included."""
    listed = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.md"]
    output = subprocess.run(listed, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return sorted(page for page in set(output.split()) if (ROOT / page).is_file() and not page.startswith(".github"))


def links(text: str) -> list[str]:
    """Returns the targets of the links of a page, without those in code."""
    plain = CODE.sub("", FENCE.sub("", text))
    return [*INLINE.findall(plain), *(target for _, target in REFERENCE.findall(plain))]


def mentioned(page: str, text: str) -> list[str]:
    """Returns the paths that a page links, in the order in which a reader meets them."""
    references = dict(REFERENCE.findall(text))
    used = re.findall(r"\]\[([^\]]+)\]|\]\(([^)\s]+)\)", FENCE.sub("", text))
    targets = [references.get(name, "") or target for name, target in used]
    return [resolve(page, target)[0] for target in targets if target and not outside(target)]


def anchors(text: str) -> set[str]:
    """Returns the anchors that the headings of a page have."""
    found: dict[str, int] = {}
    result = set(re.findall(r"<a (?:id|name)=\"([^\"]+)\"", text))
    for heading in re.findall(r"^#{1,6} +(.+?) *#*$", FENCE.sub("", text), re.M):
        plain = re.sub(r"\[([^\]]*)\](?:\([^)]*\)|\[[^\]]*\])?", r"\1", heading).replace("`", "").replace("*", "")
        anchor = re.sub(r"[^\w\- ]", "", plain.strip().lower()).replace(" ", "-")
        count = found.get(anchor, 0)
        found[anchor] = count + 1
        result.add(f"{anchor}-{count}" if count else anchor)
    return result


def outside(target: str) -> bool:
    """Reports whether a link leads out of the repository."""
    return bool(urlsplit(target).scheme)


def resolve(page: str, target: str) -> tuple[str, str]:
    """Returns the path in the repository and the anchor of a relative link."""
    path, _, anchor = unquote(target).partition("#")
    return (os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page), anchor


def broken_links(texts: dict[str, str]) -> list[str]:
    """Returns a sentence about each relative link that leads nowhere."""
    found = []
    known = {page: anchors(text) for page, text in texts.items()}
    for page, text in texts.items():
        if page in RUSTDOC:
            continue
        for target in links(text):
            if outside(target):
                continue
            path, anchor = resolve(page, target)
            if not (ROOT / path).exists():
                found.append(f"{page}: {target} is not in the repository")
            elif anchor and path in known and anchor not in known[path]:
                found.append(f"{page}: {target} names a heading that {path} does not have")
    return found


def chapters(texts: dict[str, str]) -> list[tuple[int, str, str]]:
    """Returns the depth, the title and the path of each chapter. A title of depth -1 begins a part."""
    found = [(0, "numeric-table", "README.md")]
    taken = {"README.md"} | {page for part in PARTS.values() for page in map(path_of, part)}
    for part, entries in PARTS.items():
        found.append((-1, part, ""))
        for entry in entries:
            page = path_of(entry)
            if page not in texts:
                continue
            found.append((0, entry[0] if isinstance(entry, tuple) else title(texts[page]), page))
            if page in FOLDERS:
                linked = mentioned(page, texts[page])
                folder = FOLDERS[page] + "/"
                below = [other for other in texts if other.startswith(folder) and other not in taken | RUSTDOC]
                below.sort(key=lambda other: (linked.index(other) if other in linked else len(linked), other))
                taken.update(below)
                found += [(1, title(texts[other]), other) for other in below]
    left = set(texts) - taken - RUSTDOC
    if left:
        sys.exit(f"docs/site.py: PARTS and FOLDERS have no place for {', '.join(sorted(left))}")
    return found


def path_of(entry) -> str:
    return entry[1] if isinstance(entry, tuple) else entry


def title(text: str) -> str:
    return re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", re.search(r"^# +(.+)$", text, re.M).group(1)).replace("`", "")


def without_link(text: str, page: str, goes: set[str]) -> str:
    """Replaces links to what the site does not have, folders and pages of Rust, by their text."""

    def is_gone(target: str) -> bool:
        return not outside(target) and resolve(page, target)[0] in goes

    def inline(match: re.Match) -> str:
        return match.group(1) if is_gone(match.group(2)) else match.group(0)

    text = re.sub(r"(?<!!)\[([^\]]+)\]\(([^()\s]+)\)", inline, text)
    for name in {name for name, target in REFERENCE.findall(text) if is_gone(target)}:
        text = re.sub(r"\[([^\]]+)\]\[" + re.escape(name) + r"\]", r"\1", text)
    return text


def as_index(link: str) -> str:
    """Replaces the name of a folder's page by that of mdBook, which does not follow links to `README.md`."""
    return re.sub(r"(?<=[/(\s])README\.md|^README\.md", "index.md", link) if "://" not in link else link


def write_sources(texts: dict[str, str], folder: Path) -> None:
    """Writes the pages, the table of contents and the files that they show."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    summary = ["# Summary", ""]
    for depth, name, page in chapters(texts):
        if depth < 0:
            summary += ["", f"# {name}", ""]
        else:
            summary.append(f"{'  ' * depth}{'- ' if page != 'README.md' else ''}[{name}]({as_index(page)})")
    (folder / "SUMMARY.md").write_text("\n".join(summary) + "\n")
    for page, text in texts.items():
        if page in RUSTDOC:
            continue
        reached = [resolve(page, target)[0] for target in links(text) if not outside(target)]
        text = without_link(text, page, {path for path in reached if (ROOT / path).is_dir() or path in RUSTDOC})
        text = INLINE.sub(lambda match: as_index(match.group(0)), text)
        text = REFERENCE.sub(lambda match: as_index(match.group(0)), text)
        written = folder / as_index(page)
        written.parent.mkdir(parents=True, exist_ok=True)
        # mdBook would take `{{#include ...}}` as an instruction.
        written.write_text(text.replace("{{#", "\\{{#"))
        for path in reached:
            source = ROOT / path
            if source.is_file() and path not in texts:
                (folder / path).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(source, folder / path)


class Page(HTMLParser):
    """Collects the links and the anchors of a page."""

    def __init__(self):
        super().__init__()
        self.links: list[str] = []
        self.anchors: set[str] = set()

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if value and name in ("href", "src"):
                self.links.append(value)
            elif value and name in ("id", "name"):
                self.anchors.add(value)


def broken_built_links(folder: Path) -> list[str]:
    """Returns a sentence about each link of the built site that leads nowhere."""
    parsed = {}
    for path in folder.rglob("*.html"):
        parsed[path.resolve()] = page = Page()
        page.feed(path.read_text())
    found = []
    for path, page in parsed.items():
        # The page for a missing address takes its paths from the root of the site.
        if path.name in ("404.html", "print.html", "toc.html"):
            continue
        for target in page.links:
            if outside(target) or target.startswith("//"):
                continue
            name, _, anchor = unquote(target).partition("#")
            other = (path.parent / name).resolve() if name else path
            other = other / "index.html" if other.is_dir() else other
            shown = path.relative_to(folder.resolve())
            if not other.exists():
                found.append(f"{shown}: {target} is not in the site")
            elif anchor and other in parsed and anchor not in parsed[other].anchors:
                found.append(f"{shown}: {target} names an anchor that the page does not have")
    return sorted(set(found)) if parsed else [f"{folder} has no pages"]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sources", type=Path, metavar="FOLDER", help="write the sources of the site to this folder")
    parser.add_argument("--built", type=Path, metavar="FOLDER", help="check the links of the site in this folder")
    options = parser.parse_args()
    if options.built:
        broken = broken_built_links(options.built)
        print("\n".join(broken) or "ok: every link of the built site")
        return bool(broken)
    texts = {page: (ROOT / page).read_text() for page in pages()}
    broken = broken_links(texts)
    print("\n".join(broken) or f"ok: every relative link of {len(texts)} pages")
    if options.sources and not broken:
        write_sources(texts, options.sources)
    return bool(broken)


if __name__ == "__main__":
    sys.exit(main())
