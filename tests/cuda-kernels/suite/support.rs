//! The kernels of all units, and values to convert.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};

use cuda_kernels_tests::Emulator;
use cuda_kernels_tests::base::element::Element;
use cuda_kernels_tests::number::Loss;
use numeric_table::ElementType;

use crate::source;

/// Calls a macro for every pair of element types: `each_pair!(check)` calls `check::<S, T>()`.
macro_rules! each_pair {
    ($check:ident $(, $argument:expr)*) => {
        $crate::support::each_pair!(@ $check ($($argument),*) [i8 u8 i16 u16 i32 u32 i64 u64 f16 bf16 f32 f64])
    };
    (@ $check:ident $arguments:tt [$($S:ident)*]) => {
        $($crate::support::each_pair!(@targets $check $arguments $S [i8 u8 i16 u16 i32 u32 i64 u64 f16 bf16 f32 f64]);)*
    };
    (@targets $check:ident $arguments:tt $S:ident [$($T:ident)*]) => {
        $($crate::support::each_pair!(@call $check $arguments $S $T);)*
    };
    (@call $check:ident ($($argument:expr),*) $S:ident $T:ident) => { $check::<$S, $T>($($argument),*) };
}
pub(crate) use each_pair;

/// Returns the kernels; `None`, and a printed line, without a C++ compiler.
pub(crate) fn emulator() -> Option<&'static Emulator> {
    static EMULATOR: OnceLock<Option<Emulator>> = OnceLock::new();
    let found = EMULATOR.get_or_init(|| Emulator::build(&folder(), &files("")));
    if found.is_none() {
        println!("skipped: there is no C++ compiler");
    }
    found.as_ref()
}

/// Returns the kernels, and those of the texts that are compiled in advance.
pub(crate) fn emulators() -> impl Iterator<Item = &'static Emulator> {
    static COMPACT: OnceLock<Option<Emulator>> = OnceLock::new();
    let compact = COMPACT.get_or_init(|| Emulator::build(&folder(), &files("#define COMPACT\n")));
    emulator().into_iter().chain(compact)
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("cuda-kernels")
}

/// Returns C++ files of the text of all units: one for each type that a unit begins with.
fn files(head: &str) -> Vec<(String, String)> {
    let mut files: Vec<(String, String)> = Vec::new();
    for (unit, text) in source::units() {
        let name = unit.split('_').next().unwrap().to_string();
        let text = format!("{text}\n#undef SOURCE\n#undef TARGET\n#undef ENTRY\n");
        match files.iter_mut().find(|(other, _)| *other == name) {
            // What a unit of statistics defines is its own.
            Some((_, all)) if name != "statistics" => all.push_str(&text),
            _ => files.push((if name == "statistics" { unit } else { name }, format!("{head}{text}"))),
        }
    }
    files
}

/// Returns whether a policy, as its number, permits a loss.
pub(crate) fn permits(policy: i32, loss: Loss) -> bool {
    match policy {
        0 => true,
        1 => matches!(loss, Loss::None | Loss::Inexact),
        _ => loss == Loss::None,
    }
}

/// Random numbers: xorshift64*.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    pub(crate) fn below(&mut self, end: usize) -> usize {
        (self.next() >> 11) as usize % end
    }
}

/// Returns the value with these bits, the lowest ones.
pub(crate) fn of_bits<T: Element>(bits: u64) -> T {
    let bytes = bits.to_le_bytes();
    let mut value = T::default();
    // SAFETY: every pattern of bits is a value of an element type, which has at most 8 bytes.
    unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), (&raw mut value).cast::<u8>(), size_of::<T>()) };
    value
}

/// Returns the bits of a value.
pub(crate) fn bits_of<T: Element>(value: T) -> u64 {
    let mut bytes = [0; 8];
    // SAFETY: an element is plain bytes, at most 8.
    unsafe { std::ptr::copy_nonoverlapping((&raw const value).cast::<u8>(), bytes.as_mut_ptr(), size_of::<T>()) };
    u64::from_le_bytes(bytes)
}

/// Returns the values of a type that all conversions are tested with: all of a type of up to 16 bits; else those where
/// conversions change what they do, and random ones.
pub(crate) fn values<S: Element>() -> Vec<S> {
    all_bits::<S>().iter().map(|&bits| of_bits(bits)).collect()
}

/// Returns some of these values, at random.
pub(crate) fn some_values<S: Element>() -> Vec<S> {
    let (all, mut random) = (all_bits::<S>(), Random(41));
    (0..10_000).map(|_| of_bits(all[random.below(all.len())])).collect()
}

/// Returns the bits of the values of a type, which are computed once.
fn all_bits<S: Element>() -> Arc<Vec<u64>> {
    static COMPUTED: Mutex<Vec<(ElementType, Arc<Vec<u64>>)>> = Mutex::new(Vec::new());
    let mut computed = COMPUTED.lock().unwrap();
    if let Some((_, bits)) = computed.iter().find(|(element, _)| *element == S::TYPE) {
        return bits.clone();
    }
    let width = 8 * size_of::<S>();
    let random: usize = std::env::var("CUDA_KERNELS_VALUES").map_or(200_000, |count| count.parse().unwrap());
    let mut bits = Vec::new();
    match S::TYPE {
        _ if width <= 16 => bits.extend(0..1_u64 << width),
        ElementType::F32 => floats(&mut bits, 23, |value| u64::from((value as f32).to_bits())),
        ElementType::F64 => floats(&mut bits, 52, f64::to_bits),
        _ => integers(&mut bits, width as u32),
    }
    if width > 16 {
        let mut state = Random(0x1234_5678_9ABC_DEF1);
        bits.extend((0..random).map(|_| state.next() >> (64 - width)));
    }
    let bits = Arc::new(bits);
    computed.push((S::TYPE, bits.clone()));
    bits
}

/// Limits of integers, powers of two, all values of the half types and the midpoints between them, each with its
/// neighbours; subnormals, infinities, and NaN with many payloads. `of` rounds to the type.
fn floats(bits: &mut Vec<u64>, fraction_bits: u32, of: impl Fn(f64) -> u64) {
    let sign = of(-0.0);
    let mut around = |center: u64| {
        for step in [-2_i64, -1, 0, 1, 2] {
            let near = (center & !sign).wrapping_add_signed(step) & !sign;
            bits.extend([near, near | sign]);
        }
    };
    for exponent in -1080..1024 {
        let power = of(2_f64.powi(exponent));
        around(power);
        around(power | 1 << (fraction_bits - 1)); // 1.5 times as large
    }
    for power in 0..=64 {
        for near in [-1.5, -1.0, -0.5, 0.5, 1.0, 1.5] {
            around(of(2_f64.powi(power) + near));
        }
    }
    // Midpoints to f32, and numbers that are exact there: of the 29 bits that are cut off, the first one is set, or
    // none.
    if fraction_bits == 52 {
        let mut state = Random(7);
        for _ in 0..20_000 {
            let exponent = 1023 - 150 + state.next() % (150 + 130); // those of f32, and some beyond
            let kept = exponent << 52 | (state.next() >> 12) & !((1 << 29) - 1);
            around(kept);
            around(kept | 1 << 28);
        }
        for fraction in 0..2000_u32 {
            around((f64::from(f32::from_bits(fraction)) + 2_f64.powi(-150)).to_bits()); // subnormals of f32
            around((f64::from(f32::from_bits(fraction * 4001)) - 2_f64.powi(-150)).to_bits());
        }
    }
    for pattern in 0..0x7C00_u16 {
        let (here, next) = (half(pattern), half(pattern + 1));
        around(of(here));
        around(of(if pattern == 0x7BFF { 65520.0 } else { (here + next) / 2.0 }));
    }
    for pattern in 0..0x7F80_u32 {
        let (here, next) = (f32::from_bits(pattern << 16), f32::from_bits((pattern + 1) << 16));
        around(of(f64::from(here)));
        around(if pattern == 0x7F7F { of(F32_END) } else { of((f64::from(here) + f64::from(next)) / 2.0) });
    }
    let infinity = of(f64::INFINITY);
    let mut state = Random(3);
    for bit in 0..fraction_bits {
        around(infinity | 1 << bit);
    }
    for _ in 0..10_000 {
        around(infinity | state.next() & ((1 << fraction_bits) - 1));
    }
}

/// Where bf16 ends: half a unit above its largest number.
const F32_END: f64 = (((1_u128 << 9) - 1) << (127 - 8)) as f64;

fn half(bits: u16) -> f64 {
    half::f16::from_bits(bits).into()
}

/// Powers of two and what is near them, and integers of few leading bits: limits, and midpoints of floats.
fn integers(bits: &mut Vec<u64>, width: u32) {
    for power in 0..width {
        for step in -300_i64..=300 {
            let near = (1_u64 << power).wrapping_add_signed(step);
            bits.extend([near, near.wrapping_neg()]);
        }
    }
    let mut state = Random(5);
    for _ in 0..30_000 {
        let (digits, shift) = (state.below(56) + 1, state.below(width as usize));
        let value = (state.next() >> (64 - digits)) << shift;
        for step in [-1_i64, 0, 1] {
            let near = value.wrapping_add_signed(step);
            bits.extend([near, near.wrapping_neg()]);
        }
    }
}
