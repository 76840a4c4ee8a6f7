//! The calls of a sequence, and what the model says of them.

use super::*;

impl World<'_> {
    /// Adopts memory that the other library is writing.
    pub(super) fn adopt(&mut self, random: &mut Random) {
        let values = some_values(random);
        let (count, bytes) = (values.len(), 4 * values.len().max(1));
        let kind = [MemoryKind::Device, MemoryKind::Shared, MemoryKind::Pinned][random.below(3)];
        let address = match kind {
            MemoryKind::Device => self.other.allocate(bytes),
            MemoryKind::Shared => self.other.allocate_managed(bytes),
            _ => self.other.allocate_pinned(bytes),
        };
        match kind {
            // SAFETY: the memory was allocated for as many values, and nothing uses it yet.
            MemoryKind::Pinned => unsafe {
                std::ptr::with_exposed_provenance_mut::<i32>(address as usize)
                    .copy_from_nonoverlapping(values.as_ptr(), count);
            },
            _ => self.other.write(address, &values),
        }
        let event = self.other.event();
        let mut after = match random.below(2) {
            0 => vec![CudaOrder::Stream(self.other.stream)],
            _ => vec![CudaOrder::Event(event)],
        };
        after.extend(self.events.last().map(|&event| CudaOrder::Submitted(event)));
        let (calls, found) = (Calls::default(), Arc::<Mutex<Vec<i32>>>::default());
        let deleter = {
            let (other, found, deleter) = (self.other.clone(), Arc::clone(&found), calls.deleter());
            move || {
                *found.lock().unwrap() = take_back(&other, address, count, kind);
                deleter();
            }
        };
        let (first, is_read_only) = (random.below(count.min(9) + 1), random.below(3) == 0);
        let (start, len) = (address + 4 * first as u64, count - first);
        // SAFETY: the memory is freed after the deleter was called; work of the other library is ordered.
        let array = unsafe {
            match is_read_only {
                true => DeviceArray::from_raw(self.device, start, len, kind, deleter, &after),
                false => DeviceArray::from_raw_mut(self.device, start, len, kind, deleter, &after),
            }
        };
        self.other.destroy_event(event);
        let block = self.new_block(kind, len);
        let foreign = Some((self.foreign.len(), first));
        self.blocks[block] = Block { is_adopted: true, is_read_only, foreign, ..self.blocks[block] };
        let (form, block, kept) = (Form::Array(array.unwrap()), Some(block), values[first..].to_vec());
        self.items.push(Item { form, values: kept, is_on_host: false, block, kind: MemoryKind::Device });
        self.foreign.push(Foreign { address, kind, values, calls, found, is_freed: false });
    }

    /// Allocates memory of any kind.
    pub(super) fn allocate(&mut self, random: &mut Random) {
        let (count, value) = (1 + random.below(LONGEST), random.next() as i32);
        let kind = [MemoryKind::Device, MemoryKind::Shared, MemoryKind::Pinned][random.below(3)];
        let form = match random.below(2) {
            0 => Form::Array(DeviceArray::full_with_kind(self.device, count, value, kind).unwrap()),
            _ => {
                let mut handle = ArrayHandle::empty_with_kind(self.device, kind).unwrap();
                self.device.fill(handle.prepare_for_output(count).unwrap(), value).unwrap();
                Form::Handle(handle)
            }
        };
        let block = Some(self.new_block(kind, count));
        self.items.push(Item { form, values: vec![value; count], is_on_host: false, block, kind });
    }

    /// Wraps an array of the program.
    pub(super) fn wrap(&mut self, random: &mut Random) {
        let values = some_values(random);
        let array = match random.below(2) {
            0 => Array::from(values.clone()),
            _ => {
                let mut array = self.device.pinned(values.len()).unwrap();
                array.mutable_data().map(|array| array.copy_from_slice(&values)).unwrap();
                array
            }
        };
        let form = Form::Handle(ArrayHandle::from_container(self.device, array));
        self.items.push(Item { form, values, is_on_host: true, block: None, kind: MemoryKind::Device });
    }

    pub(super) fn clone_of(&mut self, i: usize) {
        if self.items.len() < ITEMS {
            let clone = clone(&self.items[i]);
            self.items.push(clone);
        }
    }

    /// A kernel writes one value, in place, perhaps after other work.
    pub(super) fn fill(&mut self, random: &mut Random, i: usize) {
        if self.is_uncertain(i) {
            return;
        }
        let value = random.next() as i32;
        let block = self.load_in_place(i);
        let device = self.device;
        let form = &mut self.items[i].form;
        let event = device.submit(&self.events, |device| device.fill(form.view_mut(), value)).unwrap();
        self.events = [self.events.last().copied(), Some(event)].into_iter().flatten().collect();
        self.items[i].values.fill(value);
        self.write(block, 0, &self.items[i].values.clone());
    }

    /// A kernel reads one array and writes another one of the same length, in place.
    pub(super) fn convert(&mut self, random: &mut Random, i: usize) {
        let j = random.below(self.items.len());
        let is_possible = i != j && self.items[i].values.len() == self.items[j].values.len();
        if !is_possible || self.is_uncertain(j) {
            return;
        }
        self.load(i);
        let block = self.load_in_place(j);
        let [from, to] = self.items.get_disjoint_mut([i, j]).unwrap();
        self.device.convert(from.form.view(), to.form.view_mut(), Default::default()).unwrap();
        to.values = from.values.clone();
        self.write(block, 0, &self.items[j].values.clone());
    }

    /// A kernel reads a part of one array and writes an output.
    pub(super) fn output(&mut self, random: &mut Random, i: usize) {
        let j = random.below(self.items.len());
        if i == j || self.is_uncertain(j) || matches!(self.items[j].form, Form::Array(_)) {
            return;
        }
        let len = self.items[i].values.len();
        let start = random.below(len + 1);
        let range = start..start + random.below(len - start + 1);
        self.load(i);
        let block = self.load_output(j, range.len());
        let [from, to] = self.items.get_disjoint_mut([i, j]).unwrap();
        let Form::Handle(handle) = &mut to.form else { unreachable!() };
        let part = Memory::part(from.form.view(), range.clone());
        let output = handle.prepare_for_output(range.len()).unwrap();
        self.device.convert(part, output, Default::default()).unwrap();
        to.values = from.values[range].to_vec();
        self.write(block, 0, &self.items[j].values.clone());
    }

    /// The other library reads the memory of an array, or writes it, in its own stream.
    pub(super) fn exchange(&mut self, random: &mut Random, i: usize) {
        let new: Vec<i32> = random.values(self.items[i].values.len());
        let (is_write, is_uncertain) = (random.below(2) == 0, self.is_uncertain(i));
        let is_pinned = self.items[i].form.kind() == MemoryKind::Pinned;
        let Form::Array(array) = &mut self.items[i].form else { return };
        if new.is_empty() {
            return;
        }
        let after = CudaOrder::Stream(self.other.stream);
        // SAFETY: the stream is alive.
        unsafe {
            if !is_write {
                let mut raw = array.as_raw().unwrap();
                raw.make_wait(self.other.stream).unwrap();
                let twin = self.other.allocate(4 * new.len());
                self.other.copy(twin, raw.address(), 4 * new.len());
                raw.wait_for(after).unwrap();
                self.twins.push((twin, self.items[i].values.clone()));
            } else if !is_uncertain && !is_pinned {
                let mut raw = array.as_raw_mut().unwrap();
                raw.make_wait(self.other.stream).unwrap();
                self.other.write(raw.address(), &new);
                raw.wait_for(after).unwrap();
                let block = self.load_in_place(i);
                self.write(block, 0, &new);
                self.items[i].values = new;
            }
        }
    }

    /// Keeps a view while other calls run, also on clones of its array.
    pub(super) fn hold(&mut self, random: &mut Random, i: usize, depth: usize) {
        let block = self.load(i);
        let item = self.items.swap_remove(i);
        let view = item.form.view();
        self.held.extend([block; 2]);
        let start = random.below(item.values.len() + 1);
        let range = start..start + random.below(item.values.len() - start + 1);
        let part = Memory::part(view.clone(), range.clone());
        if random.below(2) == 0 && self.items.len() < ITEMS {
            self.items.push(clone(&item));
        }
        for _ in 0..random.below(5) {
            self.step(random, depth + 1);
        }
        let mut copies = [view, part].map(|view| {
            let mut copy = DeviceArray::<i32, _>::allocate(self.device, Memory::count(&view)).unwrap();
            self.device.convert(view, copy.view_mut().unwrap(), Default::default()).unwrap();
            copy.to_array().unwrap().to_vec()
        });
        assert_eq!(copies[0], item.values, "what a view shows");
        assert_eq!(std::mem::take(&mut copies[1]), item.values[range], "what a part of a view shows");
        self.held.truncate(self.held.len() - 2);
        self.items.push(item);
    }

    /// The other library gets an array as a tensor, and gives it back.
    pub(super) fn tensor(&mut self, random: &mut Random, i: usize) {
        if self.items[i].values.is_empty() {
            return; // it has no memory
        }
        let block = self.load(i);
        let is_shared = self.holders(block) > 1;
        if is_shared && self.blocks[block].foreign.is_some() {
            return; // whether a later write is in place would depend on when the tensor is deleted
        }
        let Item { form, values, .. } = self.items.swap_remove(i);
        let handle = match form {
            Form::Array(array) => array.into_handle(),
            Form::Handle(handle) => handle,
        };
        let shape = Shape { rows: values.len(), columns: 1 };
        let table = DeviceTable::from_handle(handle, shape, DataLayout::RowMajor).unwrap();
        let (stream, after) = match random.below(2) {
            0 => (self.device.exchange_stream(), None),
            _ => (self.other.stream, Some(CudaOrder::Stream(self.other.stream))),
        };
        // SAFETY: both streams are alive.
        unsafe { table.make_wait(stream) }.unwrap();
        let tensor = table.into_dlpack().unwrap();
        let is_read_only = tensor.is_read_only();
        if !self.blocks[block].is_uncertain {
            assert_eq!(is_read_only, is_shared || self.blocks[block].is_read_only);
        }
        // SAFETY: the tensor is one of this crate, and nothing else uses its memory.
        let table = unsafe { DeviceTable::<i32, _>::from_dlpack(self.device, tensor, after.as_slice()) }.unwrap();
        let Block { kind, foreign, .. } = self.blocks[block];
        self.blocks[block].is_uncertain |= is_shared;
        let outer = self.new_block(kind, values.len());
        self.blocks[outer] =
            Block { is_adopted: true, is_read_only, foreign, inner: Some(block), ..self.blocks[outer] };
        let form = Form::Handle(table.into_handle());
        self.items.push(Item { form, values, is_on_host: false, block: Some(outer), kind: MemoryKind::Device });
    }

    /// A full device frees copies that the program has too, and nothing else.
    pub(super) fn press(&mut self, random: &mut Random) {
        if !self.is_small {
            return;
        }
        self.device.synchronize().unwrap();
        let idle: Vec<usize> = (0..self.blocks.len()).filter(|&block| self.is_idle(block)).collect();
        // A tensor that is being deleted may still share a block.
        let certain = idle.iter().map(|&block| self.blocks[block]).filter(|block| !block.is_uncertain);
        let bytes: usize = certain.filter(|block| block.kind != MemoryKind::Pinned).map(|block| 4 * block.room).sum();
        let more = 1 + random.below(2 * bytes + 1);
        let free = self.device.memory_info().unwrap().0;
        match DeviceArray::<u8, _>::allocate(self.device, free + more) {
            Ok(_) => {}
            Err(HandleError::DeviceAlloc { .. }) if more > bytes => {}
            Err(error) => panic!("{bytes} bytes are idle, and {more} were needed: {error:?}"),
        }
        self.device.synchronize().unwrap();
        for item in &mut self.items {
            if let (Some(block), Form::Handle(handle)) = (item.block, &item.form)
                && !handle.is_on_device()
            {
                assert!(idle.contains(&block), "a copy is gone that something needs");
                item.block = None;
            }
        }
    }

    /// Returns whether only copies of values that the program has too share a block.
    pub(super) fn is_idle(&self, block: usize) -> bool {
        let copies = self.items.iter().filter(|item| item.block == Some(block) && item.is_on_host).count();
        copies > 0 && copies == self.holders(block) && !self.blocks[block].is_adopted
    }

    /// The other library frees memory that nothing has any more, as soon as it is given back.
    pub(super) fn forget(&mut self, random: &mut Random) {
        let place = random.below(self.foreign.len().max(1));
        let is_done = |foreign: &Foreign| !foreign.is_freed;
        if self.foreign.get(place).is_some_and(is_done) && !self.is_foreign_held(place) {
            self.free(place);
        }
    }

    pub(super) fn free(&mut self, place: usize) {
        let Foreign { address, kind, values, calls, found, is_freed } = &mut self.foreign[place];
        calls.wait(1);
        assert_eq!(&*found.lock().unwrap(), values, "memory {place} of the other library");
        match *kind {
            MemoryKind::Pinned => self.other.free_pinned(*address),
            _ => self.other.free(*address),
        }
        *is_freed = true;
    }

    /// The program reads values, or writes them.
    pub(super) fn on_host(&mut self, random: &mut Random, i: usize) {
        let (is_write, is_uncertain, value) = (random.below(2) == 0, self.is_uncertain(i), random.next() as i32);
        let values = self.items[i].values.clone();
        match &mut self.items[i].form {
            Form::Handle(handle) if is_write => {
                let found = handle.write_portal().unwrap();
                assert_eq!(found, values);
                found.fill(value);
                (self.items[i].is_on_host, self.items[i].block) = (true, None);
                self.items[i].values.fill(value);
            }
            Form::Handle(handle) => {
                assert_eq!(handle.read_portal().unwrap(), values);
                self.items[i].is_on_host = true;
            }
            Form::Array(array) if is_write && !is_uncertain => {
                let is_written = match array.host_slice_mut() {
                    Ok(found) => {
                        assert_eq!(found, values);
                        found.fill(value);
                        true
                    }
                    Err(HandleError::Device(DeviceError::Unavailable { .. })) => false,
                    Err(error) => panic!("{error:?}"),
                };
                let block = self.load_in_place(i);
                if is_written {
                    self.items[i].values.fill(value);
                    self.write(block, 0, &self.items[i].values.clone());
                }
            }
            Form::Array(array) => match array.host_slice() {
                Ok(found) => assert_eq!(found, values),
                Err(HandleError::Device(DeviceError::Unavailable { .. })) => {}
                Err(error) => panic!("{error:?}"),
            },
        }
    }

    /// The program replaces some values.
    pub(super) fn set(&mut self, random: &mut Random, i: usize) {
        let len = self.items[i].values.len();
        let first = random.below(len + 1);
        let count = random.below(len - first + 1);
        let values: Vec<i32> = random.values(count);
        if self.is_uncertain(i) {
            return;
        }
        match &mut self.items[i].form {
            Form::Array(array) => array.copy_from_host(first, &values),
            Form::Handle(handle) => handle.set_values(first, &values),
        }
        .unwrap();
        self.items[i].values[first..][..values.len()].copy_from_slice(&values);
        match self.items[i].block {
            None => {}
            Some(_) => {
                let block = self.load_in_place(i);
                self.write(block, first, &values);
            }
        }
    }

    /// Values move, or fewer of them are used.
    pub(super) fn move_values(&mut self, random: &mut Random, i: usize) {
        if let Form::Array(_) = self.items[i].form {
            let item = self.items.swap_remove(i);
            let Form::Array(array) = item.form else { unreachable!() };
            self.items.push(Item { form: Form::Handle(array.into_handle()), ..item });
            return;
        }
        let len = self.items[i].values.len();
        let Form::Handle(handle) = &mut self.items[i].form else { unreachable!() };
        match random.below(6) {
            0 | 1 => {
                handle.release_execution().unwrap();
                (self.items[i].is_on_host, self.items[i].block) = (true, None);
            }
            2 => {
                handle.release_control().unwrap();
                self.load(i);
                self.items[i].is_on_host = false;
            }
            3 => {
                let event = handle.prefetch(&self.events).unwrap();
                self.load(i);
                self.events.push(event);
            }
            4 => {
                let count = random.below(len + 1);
                handle.truncate(count);
                self.items[i].values.truncate(count);
            }
            _ => {
                handle.discard();
                drop(self.items.swap_remove(i));
            }
        }
    }
}

/// Returns the values of memory that is given back, and replaces them: nothing may need them any more.
fn take_back(other: &Other, address: u64, count: usize, kind: MemoryKind) -> Vec<i32> {
    const NONSENSE: i32 = 0x5A5A_5A5A;
    if kind != MemoryKind::Pinned {
        let values = other.read(address, count);
        other.write(address, &vec![NONSENSE; count]);
        other.synchronize();
        return values;
    }
    // SAFETY: the program has allocated as many values there, and all work on them has ended.
    let memory = unsafe {
        std::slice::from_raw_parts_mut(std::ptr::with_exposed_provenance_mut::<i32>(address as usize), count)
    };
    let values = memory.to_vec();
    memory.fill(NONSENSE);
    values
}
