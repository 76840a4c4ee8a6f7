//! The choice of columns: names, numbers, ranges and patterns.

use numeric_table::DataDictionary;
use regex::Regex;

use crate::cells::names_of;
use crate::failure::{Failure, Outcome};

/// Returns the numbers of the columns that a list of choices names, in the order of the list, each once.
///
/// A choice is a name, a number from 0, a range `2..5`, `2..` or `a..c` (with its end, if names), a pattern with `*`
/// and `?`, or a regular expression between slashes. One that begins with `-` leaves its columns out.
pub(crate) fn choose(choices: &[String], dictionary: &DataDictionary) -> Outcome<Vec<usize>> {
    let names = names_of(dictionary);
    let mut chosen: Vec<usize> = Vec::new();
    let mut left_out: Vec<usize> = Vec::new();
    let has_positive = choices.iter().any(|choice| find(choice, &names).is_some() || !choice.starts_with('-'));
    for choice in choices {
        match find(choice, &names) {
            Some(found) => found.into_iter().for_each(|column| {
                if !chosen.contains(&column) {
                    chosen.push(column);
                }
            }),
            None => match choice.strip_prefix('-').map(|rest| (rest, find(rest, &names))) {
                Some((_, Some(found))) => left_out.extend(found),
                Some((rest, None)) => return Err(unknown(rest, &names)),
                None => return Err(unknown(choice, &names)),
            },
        }
    }
    if !has_positive {
        chosen = (0..names.len()).collect();
    }
    chosen.retain(|column| !left_out.contains(column));
    if chosen.is_empty() && !names.is_empty() {
        return Err(Failure::usage("--columns leaves no column"));
    }
    Ok(chosen)
}

/// Returns the number of one column by its name or number.
pub(crate) fn one(choice: &str, dictionary: &DataDictionary) -> Outcome<usize> {
    let names = names_of(dictionary);
    match find(choice, &names).as_deref() {
        Some(&[column]) => Ok(column),
        Some(_) => Err(Failure::usage(format!("{choice:?} names several columns; one is needed"))),
        None => Err(unknown(choice, &names)),
    }
}

fn find(choice: &str, names: &[String]) -> Option<Vec<usize>> {
    let index = |text: &str| -> Option<usize> {
        names.iter().position(|name| name == text).or_else(|| text.parse().ok().filter(|&column| column < names.len()))
    };
    if let Some(column) = index(choice) {
        return Some(vec![column]);
    }
    if let Some(pattern) = choice.strip_prefix('/').and_then(|rest| rest.strip_suffix('/')) {
        return matching(&Regex::new(pattern).ok()?, names);
    }
    if let Some((first, last)) = choice.split_once("..") {
        let is_number = |text: &str| text.is_empty() || text.bytes().all(|byte| byte.is_ascii_digit());
        if is_number(first) && is_number(last) {
            let (first, last) = (first.parse().unwrap_or(0), last.parse().unwrap_or(names.len()));
            return (first < last && last <= names.len()).then(|| (first..last).collect());
        }
        let first = if first.is_empty() { 0 } else { index(first)? };
        let last = if last.is_empty() { names.len().checked_sub(1)? } else { index(last)? };
        return (first <= last).then(|| (first..=last).collect());
    }
    if choice.contains(['*', '?']) {
        let pattern = regex::escape(choice).replace("\\*", ".*").replace("\\?", ".");
        return matching(&Regex::new(&format!("^(?s:{pattern})$")).ok()?, names);
    }
    None
}

fn matching(pattern: &Regex, names: &[String]) -> Option<Vec<usize>> {
    let found: Vec<usize> = (0..names.len()).filter(|&column| pattern.is_match(&names[column])).collect();
    (!found.is_empty()).then_some(found)
}

fn unknown(choice: &str, names: &[String]) -> Failure {
    if let Some(pattern) = choice.strip_prefix('/').and_then(|rest| rest.strip_suffix('/')) {
        return Failure::usage(match Regex::new(pattern) {
            Ok(_) => format!("no column matches {choice}: the columns are {}", shown(names)),
            Err(error) => {
                // The last line has the reason, and those before point at the place.
                let reason = error.to_string();
                format!("{choice} is not a regular expression: {}", reason.trim_start_matches("regex parse error:"))
            }
        });
    }
    let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if choice.bytes().any(|byte| byte.is_ascii_digit()) && choice.split("..").all(is_number) {
        let last = names.len().saturating_sub(1);
        return Failure::usage(format!("no columns {choice}: the columns are 0 to {last}, a range leaves out its end"));
    }
    let near = names.iter().min_by_key(|name| distance(&name.to_lowercase(), &choice.to_lowercase()));
    let near = near.filter(|name| distance(&name.to_lowercase(), &choice.to_lowercase()) <= choice.len().div_ceil(3));
    let hint = match near {
        Some(name) => format!("did you mean {name:?}?"),
        None => format!("the columns are {}", shown(names)),
    };
    Failure::usage(format!("no column is called {choice:?}: {hint}"))
}

fn shown(names: &[String]) -> String {
    let more = if names.len() > 12 { ", ..." } else { "" };
    let shown: Vec<&str> = names.iter().take(12).map(String::as_str).collect();
    format!("{}{more}", shown.join(", "))
}

/// Levenshtein's distance of two short texts.
fn distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().take(64).collect();
    let mut line: Vec<usize> = (0..=other.len()).collect();
    for (row, character) in one.chars().take(64).enumerate() {
        let mut corner = line[0];
        line[0] = row + 1;
        for column in 0..other.len() {
            let changed = corner + usize::from(character != other[column]);
            corner = line[column + 1];
            line[column + 1] = changed.min(corner + 1).min(line[column] + 1);
        }
    }
    line.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use numeric_table::{ElementType, Feature};

    fn chosen(choices: &[&str]) -> Result<Vec<usize>, String> {
        let names = ["id", "x1", "x2", "y", "-z"];
        let dictionary = names.map(|name| Feature::new(ElementType::F32).named(name)).into_iter().collect();
        let choices: Vec<String> = choices.iter().map(|&choice| choice.to_owned()).collect();
        choose(&choices, &dictionary).map_err(|failure| failure.to_string())
    }

    #[test]
    fn names_numbers_ranges_and_patterns_choose_columns_in_order() {
        assert_eq!(chosen(&["y", "0"]), Ok(vec![3, 0]));
        assert_eq!(chosen(&["1..3", "x2"]), Ok(vec![1, 2]));
        assert_eq!(chosen(&["x1..y"]), Ok(vec![1, 2, 3]));
        assert_eq!(chosen(&["3.."]), Ok(vec![3, 4]));
        assert_eq!(chosen(&["x*"]), Ok(vec![1, 2]));
        assert_eq!(chosen(&["/^(id|y)$/"]), Ok(vec![0, 3]));
        assert_eq!(chosen(&["-x?"]), Ok(vec![0, 3, 4]));
        assert_eq!(chosen(&["-z"]), Ok(vec![4]));
        assert_eq!(chosen(&["..", "-id"]), Ok(vec![1, 2, 3, 4]));
    }

    #[test]
    fn a_wrong_choice_is_named_with_a_hint() {
        assert_eq!(chosen(&["X1"]), Err("no column is called \"X1\": did you mean \"x1\"?".to_owned()));
        assert_eq!(
            chosen(&["temperature"]),
            Err("no column is called \"temperature\": the columns are id, x1, x2, y, -z".to_owned())
        );
        assert!(chosen(&["q*"]).is_err());
        assert_eq!(chosen(&["/^q/"]), Err("no column matches /^q/: the columns are id, x1, x2, y, -z".to_owned()));
        let wrong = chosen(&["/(x/"]).unwrap_err();
        assert!(wrong.starts_with("/(x/ is not a regular expression: ") && wrong.contains("unclosed group"), "{wrong}");
        for choice in ["7", "3..9", "3..2"] {
            let error = format!("no columns {choice}: the columns are 0 to 4, a range leaves out its end");
            assert_eq!(chosen(&[choice]), Err(error));
        }
        assert_eq!(chosen(&["-/.*/"]), Err("--columns leaves no column".to_owned()));
    }
}
