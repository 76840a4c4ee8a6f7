//! Files of a folder or matching a pattern, and paths in manifests.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

#[cfg(doc)]
use crate::base::error::ErrorKind;
use crate::base::error::{Error, Result};

/// The end of the names of table files.
const EXTENSION: &str = ".ntb";

/// Returns an error about a path with the given reason.
pub(super) fn refused(path: &Path, kind: io::ErrorKind, reason: &'static str) -> Error {
    Error::io(path, io::Error::new(kind, reason))
}

/// Returns the table files of a folder, sorted by name.
///
/// # Errors
/// [`ErrorKind::Io`], also if there are none.
pub(super) fn in_folder(folder: &Path) -> Result<Vec<PathBuf>> {
    let is_table = |name: &[u8]| !name.starts_with(b".") && name.ends_with(EXTENSION.as_bytes());
    let found = listed(folder, folder, is_table)?;
    match found.is_empty() {
        true => Err(refused(folder, io::ErrorKind::NotFound, "the folder has no file whose name ends with .ntb")),
        false => Ok(found),
    }
}

/// Returns the files whose names match the last component of a path, sorted by name.
///
/// # Errors
/// [`ErrorKind::Io`], also if there are none.
pub(super) fn matching(pattern: &Path) -> Result<Vec<PathBuf>> {
    let last =
        pattern.file_name().ok_or_else(|| refused(pattern, io::ErrorKind::InvalidInput, "the pattern has no name"))?;
    let last = last.as_encoded_bytes();
    let folder = pattern.parent().unwrap_or(Path::new(""));
    let read = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let is_hidden = |name: &[u8]| name.starts_with(b".") && !last.starts_with(b".");
    let found = listed(read, folder, |name| !is_hidden(name) && matches(last, name))?;
    match found.is_empty() {
        true => Err(refused(pattern, io::ErrorKind::NotFound, "no file matches the pattern")),
        false => Ok(found),
    }
}

/// Returns the files of a folder whose names a writer creates, with their numbers, sorted by number.
///
/// # Errors
/// [`ErrorKind::Io`]; [`ErrorKind::OutOfMemory`].
pub(super) fn numbered(folder: &Path) -> Result<Vec<(usize, PathBuf)>> {
    let found = listed(folder, folder, |name| number_of(name).is_some())?;
    let number = |path: PathBuf| Some((number_of(path.file_name()?.as_encoded_bytes())?, path));
    Ok(found.into_iter().filter_map(number).collect())
}

/// Returns the name of the file with a number.
pub(super) fn name_of(number: usize) -> String {
    format!("part-{number:06}{EXTENSION}")
}

fn number_of(name: &[u8]) -> Option<usize> {
    let digits = name.strip_prefix(b"part-")?.strip_suffix(EXTENSION.as_bytes())?;
    let number = str::from_utf8(digits).ok()?.parse().ok()?;
    (digits.len() == 6 && name == name_of(number).as_bytes()).then_some(number) // six digits, without a sign
}

/// Returns the paths of the entries of a folder with matching names, sorted by name, without subfolders.
fn listed(folder: &Path, prefix: &Path, is_wanted: impl Fn(&[u8]) -> bool) -> Result<Vec<PathBuf>> {
    let in_folder = |source| Error::io(folder, source);
    let mut found = Vec::new();
    for item in fs::read_dir(folder).map_err(in_folder)? {
        let name = item.map_err(in_folder)?.file_name();
        if is_wanted(name.as_encoded_bytes()) && !folder.join(&name).is_dir() {
            found.try_reserve(1).map_err(|_| Error::out_of_memory(size_of::<PathBuf>()))?;
            found.push(prefix.join(name));
        }
    }
    let name_of = |path: &PathBuf| path.file_name().map_or(Vec::new(), |name| name.as_encoded_bytes().to_vec());
    found.sort_by_cached_key(name_of);
    Ok(found)
}

/// Returns whether a name matches a pattern, in which `*` matches any number of bytes and `?` one character. O(name x
/// pattern).
fn matches(pattern: &[u8], name: &[u8]) -> bool {
    let (mut at, mut of) = (0, 0);
    let mut star = None; // where to resume if the rest after the last star does not match
    while of < name.len() {
        match pattern.get(at) {
            Some(b'*') => {
                star = Some((at + 1, of));
                at += 1;
            }
            Some(b'?') => {
                at += 1;
                of += character(&name[of..]);
            }
            Some(byte) if *byte == name[of] => (at, of) = (at + 1, of + 1),
            _ => match star {
                Some((after, from)) => {
                    star = Some((after, from + 1));
                    (at, of) = (after, from + 1);
                }
                None => return false,
            },
        }
    }
    pattern[at..].iter().all(|&byte| byte == b'*')
}

/// Returns the number of bytes of the first UTF-8 character, or 1.
fn character(bytes: &[u8]) -> usize {
    1 + bytes[1..].iter().take(3).take_while(|&&byte| bytes[0] >= 0xC0 && byte & 0xC0 == 0x80).count()
}

/// The folder of a manifest. Paths in the manifest are relative to it.
pub(super) struct Folder {
    /// The manifest, with symbolic links resolved.
    pub(super) manifest: PathBuf,
    /// The folder as the caller wrote it, unless the manifest is a link.
    given: PathBuf,
    /// The same as an absolute path.
    absolute: PathBuf,
    /// The folder, with symbolic links resolved.
    real: PathBuf,
}

impl Folder {
    /// Returns the folder of a manifest, which need not exist.
    ///
    /// # Errors
    /// [`ErrorKind::Io`] if its folder does not exist.
    pub(super) fn of(manifest: &Path) -> Result<Self> {
        let in_file = |source| Error::io(manifest, source);
        let name = manifest.file_name().ok_or_else(|| in_file(io::ErrorKind::InvalidInput.into()))?;
        let given = folder_of(manifest);
        let real = fs::canonicalize(given).map_err(in_file)?;
        let plain = real.join(name);
        let (manifest, given) = match fs::canonicalize(manifest) {
            Ok(linked) if linked != plain => {
                let folder = folder_of(&linked).to_owned();
                (linked, folder)
            }
            // The manifest may be a link to another folder: it is not replaced beside the link.
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(in_file(error)),
            _ => (plain, manifest.parent().unwrap_or(Path::new("")).to_owned()),
        };
        let real = folder_of(&manifest).to_owned();
        let absolute = std::path::absolute(folder_or_dot(&given)).map_err(|source| Error::io(&given, source))?;
        Ok(Self { manifest, given, absolute, real })
    }

    /// Returns the path of a file relative to the folder, with `/` between the components.
    ///
    /// # Errors
    /// [`ErrorKind::Io`] if the file is outside of the folder or the path is not UTF-8.
    pub(super) fn relative(&self, file: &Path) -> Result<String> {
        let in_file = |source| Error::io(file, source);
        let absolute = std::path::absolute(file).map_err(in_file)?;
        if let Some(path) = absolute.strip_prefix(&self.absolute).ok().and_then(joined) {
            return Ok(path); // without accessing the disk
        }
        let (parent, name) = (fs::canonicalize(folder_of(file)).map_err(in_file)?, file.file_name());
        let real = parent.join(name.unwrap_or(OsStr::new("")));
        let outside = || refused(file, io::ErrorKind::InvalidInput, "the file is not in the folder of the manifest");
        let inside = real.strip_prefix(&self.real).map_err(|_| outside())?;
        let not_text = "a path in a manifest must be UTF-8";
        joined(inside).ok_or_else(|| refused(file, io::ErrorKind::InvalidInput, not_text))
    }

    /// Returns the path of a file that a manifest names; `None` if it leads out of the folder or is not a relative
    /// path.
    pub(super) fn join(&self, relative: &str) -> Option<PathBuf> {
        let is_name = |part: &str| {
            let mut components = Path::new(part).components();
            matches!((components.next(), components.next()), (Some(Component::Normal(name)), None) if name == part)
        };
        relative.split('/').all(is_name).then(|| self.given.join(relative))
    }
}

/// Joins the components of a relative path with `/`; `None` if the path is not UTF-8 or leads upwards.
fn joined(relative: &Path) -> Option<String> {
    let parts = relative.components().map(|part| match part {
        Component::Normal(name) => name.to_str(),
        _ => None,
    });
    parts.collect::<Option<Vec<_>>>().map(|parts| parts.join("/")).filter(|path| !path.is_empty())
}

fn folder_of(path: &Path) -> &Path {
    folder_or_dot(path.parent().unwrap_or(Path::new("")))
}

fn folder_or_dot(folder: &Path) -> &Path {
    if folder.as_os_str().is_empty() { Path::new(".") } else { folder }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_any_characters_and_a_question_mark_for_one() {
        for (pattern, name, expected) in [
            ("part-*.ntb", "part-.ntb", true),
            ("part-*.ntb", "part-00.ntb.ntb", true),
            ("part-*.ntb", "part-00.ntb.tmp", false),
            ("*", "", true),
            ("?", "", false),
            ("?", "é", true),
            ("??", "é", false),
            ("a*b*c", "a-b-b-c", true),
            ("a*b*c", "a-c-b", false),
            ("[a]", "a", false),
            ("[a]", "[a]", true),
            ("", "", true),
            ("", "a", false),
            ("***", "abc", true),
        ] {
            assert_eq!(matches(pattern.as_bytes(), name.as_bytes()), expected, "{pattern} {name}");
        }
    }

    #[test]
    fn a_path_of_a_manifest_stays_in_its_folder() {
        let [given, real] = ["data", "/data"].map(PathBuf::from);
        let folder = Folder { manifest: "m".into(), given, absolute: real.clone(), real };
        assert_eq!(folder.join("a/b.ntb"), Some(PathBuf::from("data/a/b.ntb")));
        for path in ["", "/", "/a", "a/", "a//b", "..", "a/../b", "./a", "a/.", "../a"] {
            assert_eq!(folder.join(path), None, "{path}");
        }
    }
}
