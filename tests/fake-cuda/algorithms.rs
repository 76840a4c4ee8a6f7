//! What the kernels of algorithms do, in Rust, on bytes. Results that are kept between kernels are bits here.

use numeric_table::convert::cast;
use numeric_table::{ElementType, bf16, f16};

use crate::device::Device;
use crate::kernels::{bytes_of, size};
use crate::{Answer, INVALID_VALUE};

/// A kernel of an algorithm. Widths are numbers of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Algorithm {
    /// `(in, count, type, keys)`
    SortKeys(usize),
    /// `(keys, count, shift, span, parts, counts)`
    DigitCounts(usize),
    /// `(keys, indices, count, shift, span, parts, before, totals, sorted_keys, sorted_indices)`
    DigitScatter(usize),
    /// `(counts, rows, parts, totals)`
    Offsets,
    /// `(in, flags, count, type, span, parts, counts)`
    SelectCounts,
    /// `(in, flags, count, type, span, parts, before, out, room)`
    SelectCopy,
    /// `(in, count, type, edges, bins, counts)`
    Histogram,
    /// `(in, count, type, operation, sums)`
    Reduce(Kept),
    /// `(sums, count, range, operation, before, totals)`
    Combine(Kept),
    /// `(in, count, type, operation, is_exclusive, before, before_range, range, out)`
    Scan(Kept),
}

/// How results of a reduction are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kept {
    Words,
    F32,
    F64,
}

impl Algorithm {
    /// Finds a kernel by its name.
    pub(crate) fn of_name(name: &str) -> Option<Self> {
        match name {
            "offsets" => return Some(Self::Offsets),
            "select_counts" => return Some(Self::SelectCounts),
            "select_copy" => return Some(Self::SelectCopy),
            "histogram" => return Some(Self::Histogram),
            _ => {}
        }
        let (form, rest) = name.rsplit_once('_')?;
        let width = || rest.parse().ok().filter(|width| [4, 8].contains(width));
        let kept = || match rest {
            "words" => Some(Kept::Words),
            "f32" => Some(Kept::F32),
            "f64" => Some(Kept::F64),
            _ => None,
        };
        match form {
            "sort_keys" => width().map(Self::SortKeys),
            "digit_counts" => width().map(Self::DigitCounts),
            "digit_scatter" => width().map(Self::DigitScatter),
            "reduce" => kept().map(Self::Reduce),
            "combine" => kept().map(Self::Combine),
            "scan" => kept().map(Self::Scan),
            _ => None,
        }
    }

    /// The number of parameters.
    pub(crate) fn parameters(self) -> usize {
        match self {
            Self::SortKeys(_) | Self::Offsets => 4,
            Self::Reduce(_) => 5,
            Self::DigitCounts(_) | Self::Histogram | Self::Combine(_) => 6,
            Self::SelectCounts => 7,
            Self::SelectCopy | Self::Scan(_) => 9,
            Self::DigitScatter(_) => 10,
        }
    }

    /// Runs the kernel with its arguments, in their order.
    pub(crate) fn run(self, device: &Device, arguments: &[u64]) -> Answer {
        match (self, arguments) {
            (Self::SortKeys(width), &[input, count, element, keys]) => {
                let element = element_of(element)?;
                let found = load(device, input, count, element.size_in_bytes())?;
                let found: Vec<u64> = found.into_iter().map(|bits| sort_key(bits, element)).collect();
                store(device, keys, width, &found)
            }
            (Self::DigitCounts(width), &[keys, count, shift, span, parts, counts]) => {
                let mut found = vec![0; size(parts)? * 256];
                for (place, key) in load(device, keys, count, width)?.into_iter().enumerate() {
                    found[digit(key, shift) * size(parts)? + place / size(span)?] += 1;
                }
                store(device, counts, 8, &found)
            }
            (Self::DigitScatter(width), &[keys, indices, count, shift, span, parts, before, totals, to_keys, to]) => {
                let keys = load(device, keys, count, width)?;
                let indices = if indices == 0 { (0..count).collect() } else { load(device, indices, count, 8)? };
                let before = load(device, before, 256 * parts, 8)?;
                let totals = load(device, totals, 256, 8)?;
                let (mut sorted_keys, mut sorted) = (vec![0; keys.len()], vec![0; keys.len()]);
                for (part, keys) in keys.chunks(size(span)?).enumerate() {
                    let mut targets: Vec<u64> = Vec::with_capacity(256);
                    let mut start = 0;
                    for (digit, total) in totals.iter().enumerate() {
                        targets.push(start + before[digit * size(parts)? + part]);
                        start += total;
                    }
                    for (&key, &index) in keys.iter().zip(&indices[part * size(span)?..]) {
                        let target = &mut targets[digit(key, shift)];
                        *sorted_keys.get_mut(size(*target)?).ok_or(INVALID_VALUE)? = key;
                        sorted[size(*target)?] = index;
                        *target += 1;
                    }
                }
                if to_keys != 0 {
                    store(device, to_keys, width, &sorted_keys)?;
                }
                store(device, to, 8, &sorted)
            }
            (Self::Offsets, &[counts, rows, parts, totals]) => {
                let mut all = load(device, counts, rows * parts, 8)?;
                let sums: Vec<u64> = all.chunks_mut(size(parts)?).map(add_up).collect();
                store(device, counts, 8, &all)?;
                store(device, totals, 8, &sums)
            }
            (Self::SelectCounts, &[input, flags, count, element, span, parts, counts]) => {
                let mut found = vec![0; size(parts)?];
                for (place, _) in chosen(device, input, flags, count, element)? {
                    found[place / size(span)?] += 1;
                }
                store(device, counts, 8, &found)
            }
            (Self::SelectCopy, &[input, flags, count, element, span, _, before, out, room]) => {
                let width = element_of(element)?.size_in_bytes();
                let mut targets = load(device, before, count.div_ceil(span), 8)?;
                let mut found = load(device, out, room, width)?;
                for (place, bits) in chosen(device, input, flags, count, element)? {
                    let target = &mut targets[place / size(span)?];
                    if *target < room {
                        found[size(*target)?] = bits;
                    }
                    *target += 1;
                }
                store(device, out, width, &found)
            }
            (Self::Histogram, &[input, count, element, edges, bins, counts]) => {
                let element = element_of(element)?;
                let edges: Vec<f64> = load(device, edges, bins + 1, 8)?.into_iter().map(f64::from_bits).collect();
                let mut found = load(device, counts, bins, 8)?;
                for bits in load(device, input, count, element.size_in_bytes())? {
                    let value = number(bits, element);
                    let is_last = value == edges[found.len()];
                    let above = edges.partition_point(|&edge| edge <= value) - usize::from(is_last); // 0 for NaN
                    if (1..=found.len()).contains(&above) {
                        found[above - 1] += 1;
                    }
                }
                store(device, counts, 8, &found)
            }
            (Self::Reduce(kept), &[input, count, element, operation, sums]) => {
                let rule = Rule { kept, operation, element: element_of(element)? };
                let values = rule.load(device, input, count)?;
                let found: Vec<u64> = values.chunks(4096).map(|block| rule.tree(block, 256)).collect();
                store(device, sums, kept.width(), &found)
            }
            (Self::Combine(kept), &[sums, count, range, operation, before, totals]) => {
                let rule = Rule { kept, operation, element: ElementType::U64 };
                let mut sums = load(device, sums, count, kept.width())?;
                let of_ranges: Vec<u64> = sums.chunks_mut(size(range)?).map(|sums| rule.replace(sums)).collect();
                if before != 0 {
                    store(device, before, kept.width(), &sums)?;
                }
                store(device, totals, kept.width(), &of_ranges)
            }
            (Self::Scan(kept), &[input, count, element, operation, is_exclusive, before, before_range, range, out]) => {
                let rule = Rule { kept, operation, element: element_of(element)? };
                let mut values = rule.load(device, input, count)?;
                let before = load(device, before, count.div_ceil(4096), kept.width())?;
                let ranges = (before.len() as u64).div_ceil(range);
                let before_range = load(device, before_range, ranges, kept.width())?;
                for (index, block) in values.chunks_mut(4096).enumerate() {
                    rule.totals(block, 256, is_exclusive as u32 != 0);
                    for value in block {
                        let total = rule.combine(before[index], *value);
                        *value = rule.give(rule.combine(before_range[index / size(range)?], total));
                    }
                }
                store(device, out, rule.element.size_in_bytes(), &values)
            }
            _ => Err(INVALID_VALUE),
        }
    }
}

impl Kept {
    fn width(self) -> usize {
        if self == Self::F32 { 4 } else { 8 }
    }
}

/// How values are taken, combined and given back.
#[derive(Clone, Copy)]
struct Rule {
    kept: Kept,
    /// 0: sum, 1: minimum, 2: maximum.
    operation: u64,
    element: ElementType,
}

impl Rule {
    fn nothing(self) -> u64 {
        if self.operation as u32 == 1 { u64::MAX } else { 0 }
    }

    fn load(self, device: &Device, input: u64, count: u64) -> Answer<Vec<u64>> {
        let found = load(device, input, count, self.element.size_in_bytes())?;
        Ok(found.into_iter().map(|bits| self.take(bits)).collect())
    }

    fn take(self, bits: u64) -> u64 {
        match self.kept {
            Kept::F32 => cast::<f64, f32>(number(bits, self.element)).to_bits().into(),
            Kept::F64 => bits,
            Kept::Words if self.operation as u32 == 0 => bits,
            Kept::Words if number(bits, self.element).is_nan() => self.nothing(),
            Kept::Words => ordered(bits, self.element),
        }
    }

    fn combine(self, one: u64, other: u64) -> u64 {
        match (self.kept, self.operation as u32) {
            (Kept::F32, _) => (f32::from_bits(one as u32) + f32::from_bits(other as u32)).to_bits().into(),
            (Kept::F64, _) => (f64::from_bits(one) + f64::from_bits(other)).to_bits(),
            (Kept::Words, 0) => one.wrapping_add(other),
            (Kept::Words, 1) => one.min(other),
            (Kept::Words, _) => one.max(other),
        }
    }

    fn give(self, result: u64) -> u64 {
        let of_float = |value: f64| match self.element {
            ElementType::F16 => cast::<f64, f16>(value).to_bits().into(),
            ElementType::Bf16 => cast::<f64, bf16>(value).to_bits().into(),
            ElementType::F32 => cast::<f64, f32>(value).to_bits().into(),
            _ => value.to_bits(),
        };
        let canonical = |value: f64| if value.is_nan() { f64::NAN } else { value };
        match self.kept {
            Kept::F32 => of_float(canonical(f64::from(f32::from_bits(result as u32)))),
            Kept::F64 => of_float(canonical(f64::from_bits(result))),
            Kept::Words if self.operation as u32 == 0 => result,
            Kept::Words => {
                let [low, high] = match self.element.is_float() {
                    true => [f64::NEG_INFINITY, f64::INFINITY].map(|end| ordered(of_float(end), self.element)),
                    false => [0, mask(self.element)],
                };
                unordered(result.clamp(low, high), self.element)
            }
        }
    }

    /// The sum of values in parts of some values, which are in parts of a sixteenth.
    fn tree(self, values: &[u64], part: usize) -> u64 {
        let parts = values.chunks(part);
        let of_parts = parts.map(|values| if part == 1 { values[0] } else { self.tree(values, part / 16) });
        of_parts.fold(self.nothing(), |sum, part| self.combine(sum, part))
    }

    /// Replaces each value by the total up to it, in the same order.
    fn totals(self, values: &mut [u64], part: usize, is_exclusive: bool) {
        let mut before = self.nothing();
        for values in values.chunks_mut(part) {
            let sum = if part == 1 { values[0] } else { self.tree(values, part / 16) };
            match part {
                1 if is_exclusive => values[0] = before,
                1 => values[0] = self.combine(before, values[0]),
                _ => {
                    self.totals(values, part / 16, is_exclusive);
                    values.iter_mut().for_each(|value| *value = self.combine(before, *value));
                }
            }
            before = self.combine(before, sum);
        }
    }

    /// Replaces each value by the sum of those before it, and returns the sum of all.
    fn replace(self, values: &mut [u64]) -> u64 {
        values.iter_mut().fold(self.nothing(), |sum, value| {
            let next = self.combine(sum, *value);
            *value = sum;
            next
        })
    }
}

/// Replaces counts by the sums of those before them, and returns the sum of all.
fn add_up(counts: &mut [u64]) -> u64 {
    Rule { kept: Kept::Words, operation: 0, element: ElementType::U64 }.replace(counts)
}

/// The values that are chosen, with their places.
fn chosen(device: &Device, input: u64, flags: u64, count: u64, element: u64) -> Answer<Vec<(usize, u64)>> {
    let element = element_of(element)?;
    let values = load(device, input, count, element.size_in_bytes())?;
    let is_chosen: Vec<bool> = match flags {
        0 => {
            let keys: Vec<u64> = values.iter().map(|&bits| sort_key(bits, element)).collect();
            (0..keys.len()).map(|place| place == 0 || keys[place] != keys[place - 1]).collect()
        }
        flags => load(device, flags, count, 1)?.iter().map(|&flag| flag != 0).collect(),
    };
    let places = values.into_iter().enumerate().zip(is_chosen);
    Ok(places.filter_map(|(value, is_chosen)| is_chosen.then_some(value)).collect())
}

fn element_of(id: u64) -> Answer<ElementType> {
    ElementType::from_id(id as u8).ok_or(INVALID_VALUE)
}

fn digit(key: u64, shift: u64) -> usize {
    (key >> (shift as u32) & 255) as usize
}

/// All bits of a type.
fn mask(element: ElementType) -> u64 {
    u64::MAX >> (64 - 8 * element.size_in_bytes())
}

/// The highest bit of a type.
fn sign(element: ElementType) -> u64 {
    1 << (8 * element.size_in_bytes() - 1)
}

fn ordered(bits: u64, element: ElementType) -> u64 {
    match (element.is_float(), element.is_signed(), bits & sign(element) != 0) {
        (true, _, true) => bits ^ mask(element),
        (_, true, _) => bits ^ sign(element),
        _ => bits,
    }
}

fn unordered(number: u64, element: ElementType) -> u64 {
    match (element.is_float(), element.is_signed(), number & sign(element) == 0) {
        (true, _, true) => number ^ mask(element),
        (_, true, _) => number ^ sign(element),
        _ => number,
    }
}

fn sort_key(bits: u64, element: ElementType) -> u64 {
    match number(bits, element) {
        value if value.is_nan() => mask(element),
        0.0 => ordered(0, element),
        _ => ordered(bits, element),
    }
}

/// A value as `f64`.
fn number(bits: u64, element: ElementType) -> f64 {
    match element {
        ElementType::F32 => f32::from_bits(bits as u32).into(),
        ElementType::F64 => f64::from_bits(bits),
        ElementType::F16 => f16::from_bits(bits as u16).into(),
        ElementType::Bf16 => bf16::from_bits(bits as u16).into(),
        ElementType::I8 => (bits as i8).into(),
        ElementType::U8 => (bits as u8).into(),
        ElementType::I16 => (bits as i16).into(),
        ElementType::U16 => (bits as u16).into(),
        ElementType::I32 => (bits as i32).into(),
        ElementType::U32 => (bits as u32).into(),
        ElementType::I64 => bits as i64 as f64,
        _ => bits as f64,
    }
}

/// Reads values of a width as their bits.
fn load(device: &Device, address: u64, count: u64, width: usize) -> Answer<Vec<u64>> {
    let bytes = device.read(address, bytes_of(size(count)?, width)?)?;
    let bits = |bytes: &[u8]| {
        let mut all = [0; 8];
        all[..width].copy_from_slice(bytes);
        u64::from_le_bytes(all)
    };
    Ok(bytes.chunks_exact(width).map(bits).collect())
}

/// Writes the lowest bytes of numbers.
fn store(device: &Device, address: u64, width: usize, values: &[u64]) -> Answer {
    device.write(address, values.len() * width, |bytes| {
        for (place, value) in bytes.chunks_exact_mut(width).zip(values) {
            place.copy_from_slice(&value.to_le_bytes()[..width]);
        }
    })
}
