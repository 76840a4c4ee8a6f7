//! Suggestions for a name that no column has: names that are similar to it.

use crate::base::text::excerpt;

/// Largest number of columns that are compared; there may be a million.
const COLUMNS: usize = 1 << 16;
/// Largest number of characters of a name that is compared.
const LENGTH: usize = 64;
/// Largest number of suggestions.
const COUNT: usize = 3;

/// Returns the most similar names, as the end of an error message; empty if there are none.
pub(crate) fn near<'n>(wanted: &str, names: impl Iterator<Item = &'n str>) -> String {
    let Some(wanted) = folded(wanted) else { return String::new() };
    let most = ((wanted.len() + 1) / 3).min(3);
    let names = names.take(COLUMNS);
    let mut found: Vec<(usize, &str)> =
        names.filter_map(|name| Some((distance(&wanted, &folded(name)?, most)?, name))).collect();
    found.sort_by_key(|&(distance, _)| distance); // stable: names of equal distance stay in order
    found.dedup();
    let names: Vec<String> =
        found.iter().take(COUNT).map(|(_, name)| format!("{:?}", excerpt(name.as_bytes()))).collect();
    if names.is_empty() { String::new() } else { format!("; near it are {}", names.join(", ")) }
}

/// Returns the first names, as the end of an error message; empty if there are none.
#[cfg(feature = "csv")]
pub(crate) fn first<'n>(names: impl Iterator<Item = &'n str>) -> String {
    let mut shown: Vec<String> = names.take(COUNT + 1).map(|name| format!("{:?}", excerpt(name.as_bytes()))).collect();
    if shown.len() > COUNT {
        shown[COUNT] = "...".to_owned();
    }
    if shown.is_empty() { String::new() } else { format!("; the names are {}", shown.join(", ")) }
}

/// Returns the characters of a name in lower case, unless there are too many.
fn folded(name: &str) -> Option<Vec<char>> {
    let characters: Vec<char> = name.chars().take(LENGTH + 1).flat_map(char::to_lowercase).collect();
    (characters.len() <= LENGTH).then_some(characters)
}

/// Returns the edit distance of two names: the number of characters to change, insert or delete; `None` if it exceeds a
/// limit.
fn distance(one: &[char], other: &[char], most: usize) -> Option<usize> {
    if one.len().abs_diff(other.len()) > most {
        return None;
    }
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (line, &left) in one.iter().enumerate() {
        let mut before = std::mem::replace(&mut row[0], line + 1);
        for (column, &right) in other.iter().enumerate() {
            let change = before + usize::from(left != right);
            before = row[column + 1];
            row[column + 1] = change.min(before + 1).min(row[column] + 1);
        }
        if row.iter().all(|&changes| changes > most) {
            return None;
        }
    }
    row.last().copied().filter(|&changes| changes <= most)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(wanted: &str, names: &[&str]) -> String {
        near(wanted, names.iter().copied())
    }

    #[test]
    fn near_names_differ_in_few_characters() {
        assert_eq!(told("widht", &["height", "width", "with"]), "; near it are \"width\", \"with\"");
        assert_eq!(told("widthh", &["height", "width", "widths"]), "; near it are \"width\", \"widths\"");
        assert_eq!(told("POPULATION", &["population"]), "; near it are \"population\"");
        assert_eq!(told("e", &["a", "b", "E"]), "; near it are \"E\"");
        assert_eq!(
            told("area", &["aria", "aera", "are", "area2", "ärea"]),
            "; near it are \"aria\", \"are\", \"area2\""
        );
        for (wanted, names) in [("", &[""; 0][..]), ("x", &["y"]), ("length", &["breadth"]), ("abc", &["abcdef"])] {
            assert_eq!(told(wanted, names), "");
        }
    }

    #[test]
    fn long_and_many_names_take_no_long_time() {
        let long = "x".repeat(1 << 20);
        assert_eq!(told(&long, &[&long[1..]]), "");
        assert_eq!(told("x", &[&long]), "");
        let many = std::iter::repeat_n("same name", 1 << 20);
        assert_eq!(near("same nam", many), "; near it are \"same name\"");
    }
}
