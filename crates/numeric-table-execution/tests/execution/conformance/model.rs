//! Random sequences of calls on handles, against the table of `ArrayHandle`: what is valid where, what crosses, what is
//! allocated, and which values everybody sees, after each call.

use numeric_table::trace::{CopyKind, Trace};
use numeric_table::{Element, ErrorKind};
use numeric_table_execution::memory::ExecutionMemory;
use numeric_table_execution::*;
use test_support::bits::{Random, is_nan};

use super::environment;

/// What a container refuses.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Kind {
    Owned,
    Fixed,
    ReadOnly,
}

type MakeEmpty<T, D, C> = fn(&D) -> ArrayHandle<T, D, C>;
type MakeClone<T, D, C> = fn(&ArrayHandle<T, D, C>) -> ArrayHandle<T, D, C>;

/// How to make containers of one type.
pub(crate) struct Containers<'m, T: Element, D: DeviceAdapter, C: Container<T>> {
    pub kind: Kind,
    pub make: &'m mut dyn FnMut(&[T]) -> C,
    pub empty: Option<MakeEmpty<T, D, C>>,
    pub clone: Option<MakeClone<T, D, C>>,
}

/// Why a call is refused.
#[derive(Debug, PartialEq)]
enum Fault {
    NoValidData,
    ReadOnly,
    FixedSize,
    LengthMismatch,
    OutOfRange,
}

impl From<HandleError> for Fault {
    fn from(error: HandleError) -> Self {
        match error {
            HandleError::NoValidData => Self::NoValidData,
            HandleError::ReadOnly => Self::ReadOnly,
            HandleError::FixedSize { .. } => Self::FixedSize,
            HandleError::LengthMismatch { .. } => Self::LengthMismatch,
            HandleError::Library(error) if matches!(error.kind(), ErrorKind::OutOfRange { .. }) => Self::OutOfRange,
            other => panic!("{other:?}"),
        }
    }
}

/// The model of a handle. Blocks of the device are numbers; `Blocks` knows their sizes.
#[derive(Clone, Debug)]
struct Model<T> {
    values: Option<Vec<T>>,
    on_host: bool,
    container_len: usize,
    own: Option<usize>,
    copy: Option<usize>,
    spare: Option<usize>,
}

/// The sizes of all blocks that there ever were, and what has happened since the last look.
#[derive(Default)]
struct Blocks {
    bytes: Vec<usize>,
    expected: TransferStats,
}

fn count(traffic: &mut TransferTotals, bytes: usize) {
    if bytes > 0 {
        traffic.calls += 1;
        traffic.bytes += bytes;
    }
}

impl Blocks {
    fn allocate(&mut self, bytes: usize) -> usize {
        count(&mut self.expected.allocations, bytes);
        self.bytes.push(bytes);
        self.bytes.len() - 1
    }

    fn duplicate(&mut self, bytes: usize) -> usize {
        count(&mut self.expected.duplicates, bytes);
        self.allocate(bytes)
    }
}

struct World<'m, T: Element, D: DeviceAdapter, C: Container<T>> {
    device: D,
    containers: Containers<'m, T, D, C>,
    handles: Vec<(ArrayHandle<T, D, C>, Model<T>)>,
    blocks: Blocks,
    trace: Vec<String>,
}

impl<T: Element, D: DeviceAdapter + Kernels, C: Container<T>> World<'_, T, D, C> {
    const IS_SHARED: bool = <D::Memory as ExecutionMemory>::IS_SHARED;

    /// Tells whether no other handle has a block.
    fn is_unique(&self, block: usize) -> bool {
        let has = |model: &Model<T>| usize::from(model.own == Some(block)) + usize::from(model.copy == Some(block));
        self.handles.iter().map(|(_, model)| has(model)).sum::<usize>() == 1
    }

    /// Uploads, if nothing is there.
    fn load(&mut self, i: usize) {
        let model = &mut self.handles[i].1;
        if Self::IS_SHARED || model.own.is_some() || model.copy.is_some() {
            return;
        }
        let bytes = size_of_val(&model.values.as_ref().unwrap()[..]);
        let spare = model.spare.take().filter(|&block| self.blocks.bytes[block] >= bytes);
        model.copy = Some(spare.unwrap_or_else(|| self.blocks.allocate(bytes)));
        count(&mut self.blocks.expected.uploads, bytes);
    }

    /// Downloads, if it is not there.
    fn download(&mut self, i: usize) {
        let model = &mut self.handles[i].1;
        if !model.on_host {
            count(&mut self.blocks.expected.downloads, size_of_val(&model.values.as_ref().unwrap()[..]));
            (model.on_host, model.copy) = (true, model.own.take());
        }
    }

    fn step(&mut self, random: &mut Random) {
        const MOST: usize = 9;
        let before = self.device.stats();
        let trace = Trace::start();
        self.blocks.expected = TransferStats::default();
        let operation = if self.handles.is_empty() { 0 } else { random.below(17) };
        let i = random.below(self.handles.len().max(1));
        self.trace.push(format!("operation {operation} on handle {i}"));
        let values_of = |random: &mut Random| {
            let count = random.below(MOST);
            (0..count).map(|_| comparable(random)).collect::<Vec<T>>()
        };
        let kind = self.containers.kind;
        let has_data = self.handles.get(i).is_some_and(|(_, model)| model.values.is_some());
        let is_refused = kind == Kind::ReadOnly && has_data;
        match operation {
            0 | 1 if self.handles.len() < 4 => {
                let values = values_of(random);
                let container_len = values.len();
                let model =
                    Model { values: None, on_host: false, container_len: 0, own: None, copy: None, spare: None };
                match self.containers.empty.filter(|_| operation == 1) {
                    Some(empty) => self.handles.push((empty(&self.device), model)),
                    None => {
                        let handle = ArrayHandle::from_container(&self.device, (self.containers.make)(&values));
                        let model = Model { values: Some(values), on_host: true, container_len, ..model };
                        self.handles.push((handle, model));
                    }
                }
            }
            2 if self.handles.len() < 4 => {
                if let Some(clone) = self.containers.clone {
                    let (handle, model) = &self.handles[i];
                    let copy = (clone(handle), Model { spare: None, ..model.clone() });
                    self.handles.push(copy);
                }
            }
            3 => drop(self.handles.swap_remove(i)),
            4 | 5 => self.output(random, i, kind),
            6 => {
                let result = self.handles[i].0.prepare_for_input().map(|_| ());
                self.agree(result, if has_data { Ok(()) } else { Err(Fault::NoValidData) });
                if has_data {
                    self.load(i);
                }
            }
            7 | 8 => self.in_place(random, i, has_data, is_refused),
            9 => {
                let result = self.handles[i].0.read_portal().map(<[T]>::to_vec);
                let expected = self.handles[i].1.values.clone().ok_or(Fault::NoValidData);
                self.agree(result, expected);
                if has_data {
                    self.download(i);
                }
            }
            10 => self.write(random, i, has_data, is_refused),
            11 => {
                let len = self.handles[i].0.len();
                let wrong = random.below(4) == 0;
                let mut target = vec![T::default(); if wrong { len + 1 } else { len }];
                let result = self.handles[i].0.copy_into(&mut target).map(|()| target);
                let model = &self.handles[i].1;
                let expected = match &model.values {
                    None => Err(Fault::NoValidData),
                    Some(_) if wrong => Err(Fault::LengthMismatch),
                    Some(values) => {
                        if model.own.is_some() {
                            count(&mut self.blocks.expected.downloads, size_of_val(&values[..]));
                        }
                        Ok(values.clone())
                    }
                };
                self.agree(result, expected);
            }
            12 => self.look_up(random, i),
            13 => {
                let count = random.below(MOST);
                let (handle, model) = &mut self.handles[i];
                handle.truncate(count);
                if let Some(values) = &mut model.values {
                    values.truncate(count);
                }
            }
            14 => {
                let result = self.handles[i].0.release_execution();
                self.agree(result, Ok(()));
                if has_data {
                    self.download(i);
                }
                let model = &mut self.handles[i].1;
                (model.own, model.copy, model.spare) = (None, None, None);
            }
            15 => {
                let result = self.handles[i].0.release_control();
                self.agree(result, if is_refused { Err(Fault::ReadOnly) } else { Ok(()) });
                if has_data && !is_refused && !Self::IS_SHARED {
                    self.load(i);
                    let model = &mut self.handles[i].1;
                    (model.own, model.on_host) = (model.own.or(model.copy.take()), false);
                }
            }
            16 if random.below(2) == 0 => {
                let (handle, model) = &mut self.handles[i];
                handle.discard();
                (model.own, model.copy, model.spare) = (None, None, None);
                (model.values, model.on_host) = (None, false);
            }
            16 => {
                if has_data {
                    self.download(i);
                }
                let (handle, model) = self.handles.swap_remove(i);
                let result = handle.into_container().map(|container| container.values().to_vec());
                self.agree(result, model.values.ok_or(Fault::NoValidData));
            }
            _ => {}
        }
        let stats = self.device.stats() - before;
        assert_eq!(stats, self.blocks.expected, "what has crossed");
        let (report, recorded) = (trace.finish(), [CopyKind::Uploaded, CopyKind::Downloaded, CopyKind::OnDevice]);
        let recorded = recorded.map(|kind| (report.of(kind).count as usize, report.of(kind).bytes as usize));
        let crossed = [stats.uploads, stats.downloads, stats.duplicates].map(|total| (total.calls, total.bytes));
        assert_eq!(recorded, crossed, "what a trace has recorded");
        self.check();
    }

    fn agree<V: PartialEq + std::fmt::Debug>(&self, result: Result<V, HandleError>, expected: Result<V, Fault>) {
        assert_eq!(result.map_err(Fault::from), expected);
    }

    fn output(&mut self, random: &mut Random, i: usize, kind: Kind) {
        let count = match random.below(2) {
            0 => self.handles[i].1.container_len,
            _ => random.below(9),
        };
        let value = comparable::<T>(random);
        self.trace.push(format!("output of {count}"));
        let (handle, model) = &mut self.handles[i];
        let expected = match kind {
            Kind::ReadOnly => Err(Fault::ReadOnly),
            Kind::Fixed if count != model.container_len => Err(Fault::FixedSize),
            _ => Ok(()),
        };
        let is_good = expected.is_ok();
        let result = handle.prepare_for_output(count).and_then(|view| self.device.fill(view, value));
        self.agree(result, expected);
        if !is_good {
            return;
        }
        if !Self::IS_SHARED {
            let bytes = count * size_of::<T>();
            let fits = |block: &usize| self.blocks.bytes[*block] >= bytes;
            let model = &self.handles[i].1;
            let reusable = |block: &usize| fits(block) && self.is_unique(*block);
            let found = model.own.filter(reusable).or(model.copy.filter(reusable)).or(model.spare.filter(fits));
            let block = found.unwrap_or_else(|| self.blocks.allocate(bytes));
            let model = &mut self.handles[i].1;
            (model.own, model.copy, model.spare) = (Some(block), None, None);
        }
        let model = &mut self.handles[i].1;
        (model.values, model.on_host) = (Some(vec![value; count]), Self::IS_SHARED);
    }

    fn in_place(&mut self, random: &mut Random, i: usize, has_data: bool, is_refused: bool) {
        let value = comparable::<T>(random);
        let fills = random.below(2) == 0;
        let result = match self.handles[i].0.prepare_in_place() {
            Ok(view) if fills => self.device.fill(view, value),
            other => other.map(|_| ()),
        };
        let expected = match (has_data, is_refused) {
            (false, _) => Err(Fault::NoValidData),
            (true, true) => Err(Fault::ReadOnly),
            _ => Ok(()),
        };
        let is_good = expected.is_ok();
        self.agree(result, expected);
        if !is_good {
            return;
        }
        if !Self::IS_SHARED {
            self.load(i);
            let model = &self.handles[i].1;
            let mut block = model.own.or(model.copy).unwrap();
            if !self.is_unique(block) {
                block = self.blocks.duplicate(size_of_val(&model.values.as_ref().unwrap()[..]));
            }
            let model = &mut self.handles[i].1;
            (model.own, model.copy, model.on_host) = (Some(block), None, false);
        }
        if fills {
            self.handles[i].1.values.as_mut().unwrap().fill(value);
        }
    }

    fn write(&mut self, random: &mut Random, i: usize, has_data: bool, is_refused: bool) {
        let value = comparable::<T>(random);
        let result = self.handles[i].0.write_portal().map(|values| {
            let before = values.to_vec();
            if let Some(first) = values.first_mut() {
                *first = value;
            }
            before
        });
        let expected = match &self.handles[i].1.values {
            None => Err(Fault::NoValidData),
            Some(_) if is_refused => Err(Fault::ReadOnly),
            Some(values) => Ok(values.clone()),
        };
        self.agree(result, expected);
        if !has_data || is_refused {
            return;
        }
        self.download(i);
        let copy = self.handles[i].1.own.or(self.handles[i].1.copy);
        let kept = copy.filter(|&block| self.is_unique(block));
        let model = &mut self.handles[i].1;
        (model.own, model.copy, model.spare) = (None, None, kept.or(model.spare));
        if let Some(first) = model.values.as_mut().unwrap().first_mut() {
            *first = value;
        }
    }

    fn look_up(&mut self, random: &mut Random, i: usize) {
        let len = self.handles[i].0.len();
        let at: Vec<usize> = (0..random.below(5)).map(|_| random.below(len + 1)).collect();
        let result = self.handles[i].0.get_values(&at);
        let model = &self.handles[i].1;
        let expected = match &model.values {
            None => Err(Fault::NoValidData),
            Some(values) => at.iter().map(|&index| values.get(index).copied().ok_or(Fault::OutOfRange)).collect(),
        };
        if expected.is_ok() && model.own.is_some() {
            let mut previous = None;
            for &index in &at {
                let follows = previous.is_some_and(|previous: usize| previous + 1 == index);
                self.blocks.expected.downloads.calls += usize::from(!follows);
                self.blocks.expected.downloads.bytes += size_of::<T>();
                previous = Some(index);
            }
        }
        self.agree(result, expected);
    }

    /// Looks at everything, without changing where it is.
    fn check(&self) {
        for (i, (handle, model)) in self.handles.iter().enumerate() {
            let on_device = if Self::IS_SHARED { model.on_host } else { model.own.or(model.copy).is_some() };
            assert_eq!((handle.is_on_host(), handle.is_on_device()), (model.on_host, on_device), "handle {i}");
            let Some(values) = &model.values else { continue };
            assert_eq!(handle.len(), values.len());
            let mut seen = vec![T::default(); values.len()];
            handle.copy_into(&mut seen).unwrap();
            assert_eq!(&seen, values, "handle {i}");
            if on_device {
                let mut copy = ArrayHandle::<T, D>::empty(&self.device);
                let (from, to) = (handle.prepare_for_input().unwrap(), copy.prepare_for_output(values.len()).unwrap());
                self.device.convert(from, to, Default::default()).unwrap();
                assert_eq!(copy.read_portal().unwrap(), values, "handle {i}, what kernels see");
            }
        }
    }
}

/// A value that is equal to itself.
fn comparable<T: Element>(random: &mut Random) -> T {
    let value = random.values::<T>(1)[0];
    if is_nan(value) { T::default() } else { value }
}

/// One sequence of calls. Containers are made by the caller, which sees to it that they live long enough.
pub(crate) fn sequence<T, D, C>(make: &dyn Fn() -> D, containers: Containers<'_, T, D, C>, seed: u64)
where
    T: Element,
    D: DeviceAdapter + Kernels,
    C: Container<T>,
{
    let mut random = Random::quiet(seed);
    let blocks = Blocks::default();
    let mut world = World { device: make(), containers, handles: Vec::new(), blocks, trace: Vec::new() };
    let steps = 1 + random.below(30);
    let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        (0..steps).for_each(|_| world.step(&mut random));
    }));
    if let Err(panic) = result {
        eprintln!("NUMERIC_TABLE_SEED={seed} with {:?} containers of {}", world.containers.kind, T::TYPE);
        world.trace.iter().for_each(|line| eprintln!("  {line}"));
        std::panic::resume_unwind(panic);
    }
}

/// Sequences with every kind of container.
pub(crate) fn check<D: DeviceAdapter + Kernels>(make: &dyn Fn() -> D) {
    let sequences = environment("NUMERIC_TABLE_SEQUENCES").unwrap_or(10_000);
    let seed = environment("NUMERIC_TABLE_SEED");
    let first = seed.unwrap_or_else(|| std::hash::BuildHasher::hash_one(&std::hash::RandomState::new(), 0));
    eprintln!("{sequences} sequences, NUMERIC_TABLE_SEED={first}");
    for seed in (0..sequences).map(|i| first.wrapping_add(i)) {
        match seed % 5 {
            0 => shared::<u8, D>(make, seed),
            1 => shared::<f64, D>(make, seed),
            2 => {
                let make_vec = &mut |values: &[i32]| values.to_vec();
                let containers =
                    Containers { kind: Kind::Owned, make: make_vec, empty: Some(ArrayHandle::empty), clone: None };
                sequence(make, containers, seed);
            }
            3 => {
                let mut pool = vec![[0_i16; 16]; 40];
                let mut slices = pool.iter_mut();
                let make_slice = &mut |values: &[i16]| {
                    let slice = &mut slices.next().unwrap()[..values.len()];
                    slice.copy_from_slice(values);
                    slice
                };
                let containers = Containers { kind: Kind::Fixed, make: make_slice, empty: None, clone: None };
                sequence(make, containers, seed);
            }
            _ => {
                let mut pool = vec![[0_u32; 16]; 40];
                let mut slices = pool.iter_mut();
                let make_slice = &mut |values: &[u32]| {
                    let slice = &mut slices.next().unwrap()[..values.len()];
                    slice.copy_from_slice(values);
                    &*slice
                };
                let containers =
                    Containers { kind: Kind::ReadOnly, make: make_slice, empty: None, clone: Some(Clone::clone) };
                sequence(make, containers, seed);
            }
        }
    }
}

/// Shared arrays: of each, a copy is kept that must never change.
fn shared<T: Element, D: DeviceAdapter + Kernels>(make: &dyn Fn() -> D, seed: u64) {
    let mut originals = Vec::new();
    let make_array = &mut |values: &[T]| {
        let array = numeric_table::Array::from(values.to_vec());
        if values.len().is_multiple_of(2) {
            originals.push((array.clone(), values.to_vec()));
        }
        array
    };
    let containers =
        Containers { kind: Kind::Owned, make: make_array, empty: Some(ArrayHandle::empty), clone: Some(Clone::clone) };
    sequence(make, containers, seed);
    for (array, values) in originals {
        assert_eq!(array[..], values, "the caller's own array");
    }
}
