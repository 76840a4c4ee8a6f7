//! What a dictionary takes in memory while it is read: a small multiple of the bytes that it is read from, whatever is
//! in them, and an error where there is no such memory.

use std::path::Path;

use numeric_table::{
    files::{self, SaveOptions, TableReader},
    prelude::*,
};
use test_support::tables::feature;
use test_support::test_name;

use super::counting::measured;
use super::scratch::Scratch;

type Table<T> = HomogenNumericTable<T>;

/// What is granted besides the multiple.
const SPARE: usize = 64 << 10;

/// Dictionaries of `u8` columns whose encoding is as short as their memory is large, by their names, and bytes of
/// memory for each byte of the file, in hundredths: those of the header, which is read in one piece, included.
fn dictionaries(count: usize) -> [(&'static str, DataDictionary, usize); 6] {
    let kinds = [FeatureType::Categorical, FeatureType::Ordinal, FeatureType::Continuous];
    let of_kind = |i: usize| Feature { feature_type: kinds[i % 3], ..feature::<u8>() };
    let features = |make: &dyn Fn(usize) -> Feature| (0..count).map(make).collect();
    let numbered = |i: usize| feature::<u8>().categorical(i);
    let letter = |i: usize| char::from(b'a' + (i % 26) as u8).to_string();
    [
        ("one for all", DataDictionary::uniform(feature::<u8>(), count), 100),
        ("equal ones of 3 bytes", features(&|_| feature::<u8>()), 100),
        ("three kinds of 3 bytes in turns", features(&of_kind), 240),
        ("a number of categories each", features(&numbered), 650),
        ("a letter each", features(&|i| feature::<u8>().named(letter(i))), 650),
        (
            "a number of categories here and there",
            features(&|i| if i % 4 == 0 { numbered(i) } else { feature::<u8>() }),
            500,
        ),
    ]
}

/// No rows, so many columns.
fn described(dictionary: DataDictionary) -> Table<u8> {
    let mut table = Table::new(Shape { rows: 0, columns: dictionary.len() }, AllocationFlag::DoAllocate).unwrap();
    table.set_dictionary(dictionary).unwrap();
    table
}

#[test]
fn reading_a_dictionary_from_a_file_takes_a_small_multiple_of_the_file() {
    let scratch = Scratch::new();
    for (name, dictionary, hundredths) in dictionaries(60_000) {
        let table = described(dictionary);
        table.save_with(&scratch.path, SaveOptions::new().durable(false)).unwrap();
        let limit = std::fs::metadata(&scratch.path).unwrap().len() as usize * hundredths / 100 + SPARE;
        let check = |call: &str, run: &dyn Fn() -> DataDictionary| {
            let (found, peak, _) = measured(&|| name.to_owned(), run);
            assert!(peak <= limit, "{name}, {call}: {peak} bytes, and the limit is {limit}");
            found
        };
        let path = &*scratch.path;
        let opened = check("open", &|| TableReader::open(path).unwrap().dictionary().clone());
        assert_eq!(&opened, table.dictionary(), "{name}");
        assert_eq!(check("load", &|| Table::<u8>::load(path).unwrap().dictionary().clone()), opened, "{name}");
        assert_eq!(check("load_any", &|| files::load(path).unwrap().dictionary().clone()), opened, "{name}");
        let converted = check("load_cast", &|| Table::<f32>::load_cast(path).unwrap().dictionary().clone());
        assert_eq!(converted, opened.with_element_type(ElementType::F32).unwrap(), "{name}");
    }
}

#[test]
fn a_reader_that_loads_its_table_does_not_describe_it_again() {
    let scratch = Scratch::new();
    for (name, dictionary, _) in dictionaries(20_000) {
        let table = described(dictionary);
        table.save_with(&scratch.path, SaveOptions::new().durable(false)).unwrap();
        let reader = TableReader::open(&scratch.path).unwrap();
        let (loaded, peak, _) = measured(&|| name.to_owned(), || reader.load::<u8>());
        assert_eq!(loaded.unwrap().dictionary(), table.dictionary(), "{name}");
        assert!(peak <= SPARE, "{name}: {peak} bytes");
    }
}

#[test]
fn writing_a_dictionary_takes_no_more_than_its_bytes_in_the_file() {
    let scratch = Scratch::new();
    for (name, dictionary, _) in dictionaries(60_000) {
        let table = described(dictionary);
        let save = || table.save_with(&scratch.path, SaveOptions::new().durable(false)).unwrap();
        let ((), peak, _) = measured(&|| name.to_owned(), save);
        let size = std::fs::metadata(&scratch.path).unwrap().len() as usize;
        // The header, and the front of the file.
        assert!(peak <= 2 * size + SPARE, "{name}: {peak} bytes, and the file has {size}");
    }
}

#[test]
fn reading_a_dictionary_from_an_archive_takes_at_most_twice_the_archive() {
    let _scratch = Scratch::new();
    for (name, dictionary, _) in dictionaries(20_000) {
        let table = described(dictionary);
        let bytes = table.to_bytes().unwrap();
        let (found, peak, _) = measured(&|| name.to_owned(), || Table::<u8>::from_bytes(&bytes));
        assert_eq!(found.unwrap().dictionary(), table.dictionary(), "{name}");
        assert!(peak <= 2 * bytes.len() + SPARE, "{name}: {peak} bytes for an archive of {}", bytes.len());
    }
}

#[test]
fn a_dictionary_that_differs_in_one_column_takes_a_few_bytes_for_each_other() {
    let _scratch = Scratch::new();
    let count = 30_000;
    let uniforms = [feature::<u8>(), feature::<u8>().named("pixel"), feature::<u8>().categorical(2)];
    for uniform in uniforms {
        let name = || format!("{uniform:?}");
        let (mut dictionary, peak, _) = measured(&name, || {
            let mut dictionary = DataDictionary::uniform(uniform.clone(), count);
            dictionary.set_feature(7, feature::<u8>().named("label")).unwrap();
            dictionary
        });
        assert!(peak <= 4 * count + (16 << 10), "{}: {peak} bytes", name());
        assert_eq!(dictionary.index_of("label"), Some(7));
        for i in 0..1000 {
            dictionary.set_feature(7, feature::<u8>().categorical(i)).unwrap();
        }
        let ((), peak, _) = measured(&name, || {
            for i in 0..1000 {
                dictionary.set_feature(7, feature::<u8>().categorical(i)).unwrap(); // in the place of the one before
            }
        });
        // A thousand features would take more; the harness takes some for a test that ends meanwhile.
        assert!(peak <= 16 << 10, "{}: {peak} bytes", name());
    }
}

// --- without memory ------------------------------------------------------------------------------------------------

/// Set in a child: the file that it reads.
#[cfg(target_os = "linux")]
const CHILD: &str = "NUMERIC_TABLE_DICTIONARY_TEST";

/// What a child says of a call.
#[cfg(target_os = "linux")]
fn verdict<T>(result: Result<T, Error>) -> &'static str {
    match result.map_err(Error::into_kind) {
        Ok(_) => "fits",
        Err(ErrorKind::OutOfMemory) => "refused",
        Err(other) => panic!("{other:?}"),
    }
}

#[cfg(target_os = "linux")]
fn be_a_child(path: &Path) {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmSize:")).unwrap();
    println!("\nstart {}", line.split_whitespace().nth(1).unwrap());
    println!("\nload {}", verdict(Table::<u8>::load(path)));
    println!("\nload_cast {}", verdict(Table::<f64>::load_cast(path)));
    println!("\nopen {}", verdict(TableReader::open(path)));
}

/// A process that may have no more memory than a shell grants: in KiB of address space. What its lines say.
#[cfg(target_os = "linux")]
fn run_child(test: &str, path: &Path, limit: u64) -> Vec<(String, String)> {
    let output = std::process::Command::new("sh")
        .args(["-c", "ulimit -v $1; shift; exec \"$@\"", "sh", &limit.to_string()])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture", "--test-threads=1"])
        .env(CHILD, path)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{limit} KiB: {}\n{text}\n{errors}", output.status);
    text.lines().filter_map(|line| line.split_once(' ')).map(|(key, word)| (key.to_owned(), word.to_owned())).collect()
}

#[cfg(target_os = "linux")]
#[test]
fn a_dictionary_that_memory_has_no_room_for_is_an_error_and_not_the_end_of_the_program() {
    if let Some(path) = std::env::var_os(CHILD) {
        return be_a_child(Path::new(&path));
    }
    let scratch = Scratch::new(); // first: other tests count what this one reads
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let size = status.lines().find_map(|line| line.strip_prefix("VmSize:")?.split_whitespace().next()?.parse().ok());
    if size.is_some_and(|kib: u64| kib > 1 << 30) {
        return; // AddressSanitizer reserves terabytes of addresses: no limit leaves it room
    }
    let test = &test_name!("a_dictionary_that_memory_has_no_room_for_is_an_error_and_not_the_end_of_the_program");
    let numbered = (0..300_000).map(|i| feature::<u8>().categorical(i));
    described(numbered.collect()).save_with(&scratch.path, SaveOptions::new().durable(false)).unwrap();
    let word = |said: &[(String, String)], key: &str| {
        said.iter()
            .find(|(found, _)| found == key)
            .map(|(_, word)| word.clone())
            .unwrap_or_else(|| panic!("no {key}: {said:?}"))
    };
    // So little that the system's allocator does without the 64 MiB that it reserves for each thread where it can.
    let said = run_child(test, &scratch.path, 60 << 10);
    assert_eq!(["load", "load_cast", "open"].map(|call| word(&said, call)), ["fits"; 3]);
    let start: u64 = word(&said, "start").parse().unwrap();
    let mut refused = [0; 3];
    for more in (4..40).step_by(4) {
        let said = run_child(test, &scratch.path, start + (more << 10));
        for (count, call) in refused.iter_mut().zip(["load", "load_cast", "open"]) {
            *count += u32::from(word(&said, call) == "refused");
        }
    }
    assert!(refused.iter().all(|&count| (2..10).contains(&count)), "{refused:?}");
}
