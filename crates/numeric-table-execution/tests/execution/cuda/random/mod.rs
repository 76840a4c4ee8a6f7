//! Random sequences of calls on device memory of every kind and owner, against a model: which block has the values of
//! an array, who shares it, and what the other library must find in its memory in the end. `calls` has the calls.

mod calls;

use std::sync::{Arc, Mutex};

use numeric_table::array::MemoryKind;
use numeric_table::prelude::*;
use numeric_table_execution::cuda::{Cuda, CudaOrder};
use numeric_table_execution::memory::ExecutionMemory;
use numeric_table_execution::transport::Event;
use numeric_table_execution::*;
use test_support::bits::Random;

use super::adopted::Calls;
use super::other::Other;
use super::{Alone, LONELY, need_device};
use crate::conformance::environment;

type Memory = <Cuda as DeviceAdapter>::Memory;

/// The largest number of values of an array.
const LONGEST: usize = 300;
/// The largest number of arrays at a time.
const ITEMS: usize = 6;
/// Bytes of the fake device: much more than all arrays have.
const LIMIT: u64 = 1 << 20;

enum Form {
    Array(DeviceArray<i32, Cuda>),
    Handle(ArrayHandle<i32, Cuda>),
}

/// An array, and its model.
struct Item {
    form: Form,
    values: Vec<i32>,
    is_on_host: bool,
    /// The block of the copy on the device.
    block: Option<usize>,
    /// The kind of blocks that are allocated for it.
    kind: MemoryKind,
}

/// A block of device memory.
#[derive(Clone, Copy)]
struct Block {
    kind: MemoryKind,
    /// The number of values that it has room for.
    room: usize,
    is_adopted: bool,
    is_read_only: bool,
    /// The memory of the other library that it is, and the place in it.
    foreign: Option<(usize, usize)>,
    /// The block that was given to the other library as a tensor, and came back as this one.
    inner: Option<usize>,
    /// Whether a tensor may still share it, although nothing needs the tensor.
    is_uncertain: bool,
}

/// Memory of the other library.
struct Foreign {
    address: u64,
    kind: MemoryKind,
    values: Vec<i32>,
    calls: Calls,
    /// The values that the deleter found.
    found: Arc<Mutex<Vec<i32>>>,
    is_freed: bool,
}

struct World<'d> {
    device: &'d Cuda,
    other: Arc<Other>,
    /// Whether the device has little memory.
    is_small: bool,
    items: Vec<Item>,
    blocks: Vec<Block>,
    foreign: Vec<Foreign>,
    /// The blocks of arrays and views that a step has while others run.
    held: Vec<usize>,
    /// Copies that the other library has made, and what they must be.
    twins: Vec<(u64, Vec<i32>)>,
    events: Vec<Event>,
    trace: Vec<String>,
}

impl Form {
    fn view(&self) -> View<'_, i32, Cuda> {
        match self {
            Self::Array(array) => array.view(),
            Self::Handle(handle) => handle.prepare_for_input(),
        }
        .unwrap()
    }

    fn view_mut(&mut self) -> ViewMut<'_, i32, Cuda> {
        match self {
            Self::Array(array) => array.view_mut(),
            Self::Handle(handle) => handle.prepare_in_place(),
        }
        .unwrap()
    }

    fn values(&self, len: usize) -> Vec<i32> {
        let mut values = vec![0; len];
        match self {
            Self::Array(array) => array.copy_to_host(.., &mut values),
            Self::Handle(handle) => handle.copy_into(&mut values),
        }
        .unwrap();
        values
    }

    fn kind(&self) -> MemoryKind {
        match self {
            Self::Array(array) => array.memory_kind(),
            Self::Handle(handle) => handle.memory_kind(),
        }
    }
}

fn some_values(random: &mut Random) -> Vec<i32> {
    let count = random.below(LONGEST);
    random.values(count)
}

impl World<'_> {
    fn new_block(&mut self, kind: MemoryKind, room: usize) -> usize {
        let (is_adopted, is_read_only, is_uncertain) = (false, false, false);
        self.blocks.push(Block { kind, room, is_adopted, is_read_only, foreign: None, inner: None, is_uncertain });
        self.blocks.len() - 1
    }

    /// Returns the number of arrays, views and tensors that share a block.
    fn holders(&self, block: usize) -> usize {
        let items = self.items.iter().filter(|item| item.block == Some(block)).count();
        let held = self.held.iter().filter(|&&held| held == block).count();
        let is_outer = |outer: &usize| self.blocks[*outer].inner == Some(block) && self.holders(*outer) > 0;
        items + held + (block + 1..self.blocks.len()).filter(is_outer).count()
    }

    fn is_foreign_held(&self, foreign: usize) -> bool {
        let is_its = |block: &usize| self.blocks[*block].foreign.is_some_and(|(place, _)| place == foreign);
        (0..self.blocks.len()).filter(is_its).any(|block| self.holders(block) > 0)
    }

    /// Replaces values of a block, and so those of the other library.
    fn write(&mut self, block: usize, first: usize, values: &[i32]) {
        if let Some((place, start)) = self.blocks[block].foreign {
            self.foreign[place].values[start + first..][..values.len()].copy_from_slice(values);
        }
    }

    /// The model of a view for reading.
    fn load(&mut self, i: usize) -> usize {
        let (kind, len) = (self.items[i].kind, self.items[i].values.len());
        let block = self.items[i].block.unwrap_or_else(|| self.new_block(kind, len));
        self.items[i].block = Some(block);
        block
    }

    /// The model of a view for reading and writing.
    fn load_in_place(&mut self, i: usize) -> usize {
        let mut block = self.load(i);
        if self.holders(block) > 1 || self.blocks[block].is_read_only {
            let kind = if self.blocks[block].is_adopted { MemoryKind::Device } else { self.blocks[block].kind };
            let len = self.items[i].values.len();
            block = self.new_block(kind, len);
        }
        (self.items[i].block, self.items[i].is_on_host) = (Some(block), false);
        block
    }

    /// The model of memory for an output.
    fn load_output(&mut self, i: usize, count: usize) -> usize {
        let found = self.items[i].block.filter(|&block| {
            self.holders(block) == 1 && !self.blocks[block].is_read_only && self.blocks[block].room >= count
        });
        let kind = self.items[i].kind;
        let block = found.unwrap_or_else(|| self.new_block(kind, count));
        (self.items[i].block, self.items[i].is_on_host) = (Some(block), false);
        block
    }

    fn step(&mut self, random: &mut Random, depth: usize) {
        let operation = if self.items.len() < 2 { random.below(4) } else { random.below(26) };
        let i = random.below(self.items.len().max(1));
        self.trace.push(format!("{:1$}operation {operation} on array {i} of {2}", "", 2 * depth, self.items.len()));
        match operation {
            0..4 if self.items.len() >= ITEMS => drop(self.items.swap_remove(i)),
            0 | 1 => self.adopt(random),
            2 => self.allocate(random),
            3 => self.wrap(random),
            4 => drop(self.items.swap_remove(i)),
            5 => self.clone_of(i),
            6 | 7 => self.fill(random, i),
            8 | 9 => self.convert(random, i),
            10 | 11 => self.output(random, i),
            12 | 13 => self.exchange(random, i),
            14 | 15 if depth < 3 => self.hold(random, i, depth),
            16 => self.tensor(random, i),
            17 => self.press(random),
            18 => self.forget(random),
            19 => self.on_host(random, i),
            20 => self.set(random, i),
            21..24 => self.move_values(random, i),
            _ => self.check_item(i),
        }
        for (place, foreign) in self.foreign.iter().enumerate() {
            if !foreign.is_freed && self.is_foreign_held(place) {
                assert_eq!(foreign.calls.now(), 0, "memory {place} is given back although something has it");
            }
        }
    }

    /// Returns whether a write of an array may be in place or not.
    fn is_uncertain(&self, i: usize) -> bool {
        self.items[i].block.is_some_and(|block| self.blocks[block].is_uncertain)
    }

    fn check_item(&self, i: usize) {
        let item = &self.items[i];
        assert_eq!(item.form.values(item.values.len()), item.values, "array {i}");
        if let Form::Handle(handle) = &item.form {
            let places = (handle.is_on_host(), handle.is_on_device());
            assert_eq!(places, (item.is_on_host, item.block.is_some()), "array {i}");
        }
        let kind = item.block.map_or(item.kind, |block| self.blocks[block].kind);
        if !item.values.is_empty() {
            assert_eq!(item.form.kind(), kind, "array {i}");
        }
    }

    /// Drops everything, and looks at what the other library has.
    fn finish(&mut self, random: &mut Random) {
        (0..self.items.len()).for_each(|i| self.check_item(i));
        while !self.items.is_empty() {
            drop(self.items.swap_remove(random.below(self.items.len())));
        }
        for (twin, values) in std::mem::take(&mut self.twins) {
            assert_eq!(self.other.read::<i32>(twin, values.len()), values, "what the other library has read");
            self.other.free(twin);
        }
        let left: Vec<usize> = (0..self.foreign.len()).filter(|&place| !self.foreign[place].is_freed).collect();
        left.into_iter().for_each(|place| self.free(place));
    }
}

fn clone(item: &Item) -> Item {
    let form = match &item.form {
        Form::Array(array) => Form::Array(array.clone()),
        Form::Handle(handle) => Form::Handle(handle.clone()),
    };
    Item { form, values: item.values.clone(), ..*item }
}

fn sequence(ordinal: i32, is_small: bool, seed: u64) {
    let (device, mut random) = (Cuda::new(ordinal as usize).unwrap(), Random::quiet(seed));
    let mut world = World {
        device: &device,
        other: Arc::new(Other::new(ordinal)),
        is_small,
        items: Vec::new(),
        blocks: Vec::new(),
        foreign: Vec::new(),
        held: Vec::new(),
        twins: Vec::new(),
        events: Vec::new(),
        trace: Vec::new(),
    };
    let steps = 5 + random.below(60);
    let work = std::panic::AssertUnwindSafe(|| {
        (0..steps).for_each(|_| world.step(&mut random, 0));
        world.finish(&mut random);
    });
    if let Err(panic) = std::panic::catch_unwind(work) {
        eprintln!("NUMERIC_TABLE_SEED={seed}");
        world.trace.iter().for_each(|line| eprintln!("  {line}"));
        std::panic::resume_unwind(panic);
    }
}

#[test]
fn random_sequences_on_memory_of_every_kind_and_owner_are_those_of_a_model() {
    need_device!();
    let alone = Alone::wait();
    let limit = alone.as_ref().map(|alone| alone.fake.limit(LONELY, LIMIT));
    let ordinal = if alone.is_some() { LONELY } else { 0 };
    let sequences = environment("NUMERIC_TABLE_SEQUENCES").unwrap_or(300);
    let seed = environment("NUMERIC_TABLE_SEED");
    let first = seed.unwrap_or_else(|| std::hash::BuildHasher::hash_one(&std::hash::RandomState::new(), 0));
    eprintln!("{sequences} sequences, NUMERIC_TABLE_SEED={first}");
    (0..sequences).for_each(|i| sequence(ordinal, alone.is_some(), first.wrapping_add(i)));
    drop(limit);
    if let Some(alone) = alone {
        alone.check();
    }
}
