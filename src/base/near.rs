//! Suggestions for unknown column names.

use crate::base::text::excerpt;

/// The largest number of columns that are compared, because a table may have a million.
const COLUMNS: usize = 1 << 16;
/// The largest number of characters of a name that is compared.
const LENGTH: usize = 64;
/// The largest number of suggestions.
const COUNT: usize = 3;

/// Returns the most similar names as the end of an error message; empty if there are none.
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
    if names.is_empty() { String::new() } else { format!("; similar names: {}", names.join(", ")) }
}

/// Returns the first names as the end of an error message; empty if there are none.
#[cfg(feature = "csv")]
pub(crate) fn first<'n>(names: impl Iterator<Item = &'n str>) -> String {
    let mut shown: Vec<String> = names.take(COUNT + 1).map(|name| format!("{:?}", excerpt(name.as_bytes()))).collect();
    if shown.len() > COUNT {
        shown[COUNT] = "...".to_owned();
    }
    if shown.is_empty() { String::new() } else { format!("; available names: {}", shown.join(", ")) }
}

/// Returns the characters of a name in lower case, unless it is too long.
fn folded(name: &str) -> Option<Vec<char>> {
    let characters: Vec<char> = name.chars().take(LENGTH + 1).flat_map(char::to_lowercase).collect();
    (characters.len() <= LENGTH).then_some(characters)
}

/// Returns the edit distance of two names: the number of characters to change, insert or delete. `None` if it exceeds
/// the limit.
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
        assert_eq!(told("widht", &["height", "width", "with"]), "; similar names: \"width\", \"with\"");
        assert_eq!(told("widthh", &["height", "width", "widths"]), "; similar names: \"width\", \"widths\"");
        assert_eq!(told("POPULATION", &["population"]), "; similar names: \"population\"");
        assert_eq!(told("e", &["a", "b", "E"]), "; similar names: \"E\"");
        assert_eq!(
            told("area", &["aria", "aera", "are", "area2", "ärea"]),
            "; similar names: \"aria\", \"are\", \"area2\""
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
        assert_eq!(near("same nam", many), "; similar names: \"same name\"");
    }
}
