//! Execution memory that is separate from the control side's: values are copied through a [`Transport`].

use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use numeric_table::{Array, Element, array::MemoryKind};

use super::control::lock;
use super::memory::{ControlSlot, ExecutionMemory, SeparateSpace, copy_from_control, sealed};
use super::space::{Cache, DeviceBlock, DeviceView, DeviceViewMut};
use super::transport::{Arriving, Transport};
use super::{Container, HandleError};

/// The execution side of one handle on a device with memory of its own.
///
/// The place of a block determines the state:
///
/// | control valid | `own` | `cache.copy` | state |
/// | --- | --- | --- | --- |
/// | no | | | no data |
/// | yes | | | control only |
/// | no | filled | | execution only: it must not be freed |
/// | yes | | filled | both: the space may free this copy if no view refers to it |
///
/// Through `&self`, a copy can be added, or be moved from `own` to `cache` once control has the values too; views share
/// ownership of the block, so that they stay valid. Only `&mut self` writes or drops the only copy.
///
/// Lock order: `own`, then that of the control slot, then `cache`. Locks are held while bytes are copied and while a
/// container makes room for them, never while kernels run.
///
/// # Examples
/// See [`SeparateSpace`] for an adapter that uses it.
pub struct SeparateMemory<X: Transport> {
    space: Arc<SeparateSpace<X>>,
    /// The kind of the blocks that this allocates.
    kind: MemoryKind,
    own: Mutex<Option<Arc<DeviceBlock<X>>>>,
    cache: Arc<Mutex<Cache<X>>>,
}

impl<X: Transport> SeparateMemory<X> {
    /// Creates the execution side of a new handle: no block, no values.
    ///
    /// # Examples
    /// See [`SeparateSpace`].
    pub fn new(space: &Arc<SeparateSpace<X>>) -> Self {
        Self::with_kind(space, MemoryKind::Device)
    }

    /// Creates the execution side of a new handle, whose blocks will be of a kind of memory.
    ///
    /// # Examples
    /// An adapter of a device with managed memory calls this in
    /// [`memory_of_kind`](super::DeviceAdapter::memory_of_kind).
    pub fn with_kind(space: &Arc<SeparateSpace<X>>, kind: MemoryKind) -> Self {
        let cache = space.new_cache(Cache::default());
        Self { space: space.clone(), kind, own: Mutex::default(), cache }
    }

    /// Creates the execution side of a handle with values in a block: the only copy.
    #[cfg(feature = "cuda")]
    pub(super) fn of_block(space: &Arc<SeparateSpace<X>>, block: DeviceBlock<X>) -> Self {
        Self { own: Mutex::new(Some(Arc::new(block))), ..Self::new(space) }
    }

    /// Drops all copies if the device is lost.
    fn forget_if_lost(&self) {
        if self.space.is_lost() {
            *lock(&self.own) = None;
            *lock(&self.cache) = Cache::default();
        }
    }

    fn own_mut(&mut self) -> &mut Option<Arc<DeviceBlock<X>>> {
        self.own.get_mut().unwrap_or_else(PoisonError::into_inner)
    }

    /// Uploads into the cache with `upload`, unless it holds a copy.
    fn load<'c>(
        &self,
        cache: &'c mut Cache<X>,
        bytes: usize,
        upload: impl FnOnce(&mut DeviceBlock<X>) -> Result<(), HandleError>,
    ) -> Result<&'c mut Arc<DeviceBlock<X>>, HandleError> {
        if cache.copy.is_none() {
            self.space.check_alive()?;
            let spare = cache.spare.take().filter(|block| block.bytes() >= bytes);
            let mut block = match spare {
                Some(block) => block,
                None => self.space.allocate(bytes, self.kind)?,
            };
            if let Err(error) = upload(&mut block) {
                cache.spare = Some(block);
                return Err(error);
            }
            cache.copy = Some(Arc::new(block));
        }
        cache.copy.as_mut().ok_or(HandleError::NoValidData)
    }

    fn load_values<'c, T: Element>(
        &self,
        cache: &'c mut Cache<X>,
        values: &[T],
    ) -> Result<&'c mut Arc<DeviceBlock<X>>, HandleError> {
        self.load(cache, size_of_val(values), |block| self.space.upload(bytemuck::cast_slice(values), block, 0))
    }

    /// Makes `own` the only valid copy; also makes it unshared if `bytes_to_copy` is given. A panic of a transport
    /// cannot lose the only copy.
    fn make_own<T: Element, C: Container<T>>(
        &mut self,
        control: &mut ControlSlot<C>,
        len: usize,
        bytes_to_copy: Option<usize>,
    ) -> Result<(), HandleError> {
        self.forget_if_lost();
        match self.own.get_mut().unwrap_or_else(PoisonError::into_inner) {
            Some(block) => make_unique(&self.space, block, bytes_to_copy)?,
            None => {
                let values = control.values(len).ok_or(HandleError::NoValidData)?;
                let mut cache = lock(&self.cache);
                make_unique(&self.space, self.load_values(&mut cache, values)?, bytes_to_copy)?;
                let copy = cache.copy.take();
                drop(cache);
                *self.own_mut() = copy;
            }
        }
        control.invalidate();
        Ok(())
    }
}

/// Copies a block if a clone or a view shares it, or it is read-only, and the number of bytes to copy is given.
fn make_unique<X: Transport>(
    space: &SeparateSpace<X>,
    block: &mut Arc<DeviceBlock<X>>,
    bytes: Option<usize>,
) -> Result<(), HandleError> {
    if let Some(bytes) = bytes
        && Arc::get_mut(block).is_none_or(|block| block.is_read_only())
    {
        *block = Arc::new(space.duplicate(block, bytes)?);
    }
    Ok(())
}

impl<X: Transport> sealed::Sealed for SeparateMemory<X> {}

impl<X: Transport> ExecutionMemory for SeparateMemory<X> {
    const IS_SHARED: bool = false;

    type View<'a, T: Element> = DeviceView<'a, T, X>;
    type ViewMut<'a, T: Element> = DeviceViewMut<'a, T, X>;

    fn count<T: Element>(view: &Self::View<'_, T>) -> usize {
        view.len()
    }

    fn count_mut<T: Element>(view: &Self::ViewMut<'_, T>) -> usize {
        view.len()
    }

    fn part<'a, T: Element>(view: Self::View<'a, T>, range: Range<usize>) -> Self::View<'a, T> {
        view.part(range)
    }

    fn cast<'a, T: Element, U: Element>(view: Self::View<'a, T>) -> Option<Self::View<'a, U>> {
        view.cast()
    }

    fn load_for_input<'a, T: Element, C: Container<T>>(
        &'a self,
        control: &'a ControlSlot<C>,
        len: usize,
    ) -> Result<Self::View<'a, T>, HandleError> {
        self.forget_if_lost();
        if let Some(block) = &*lock(&self.own) {
            return Ok(DeviceView::new(block.clone(), len));
        }
        // There is no `own` copy: either control has the values, for as long as `self` is borrowed, or no side has.
        let values = control.values(len).ok_or(HandleError::NoValidData)?;
        let mut cache = lock(&self.cache);
        Ok(DeviceView::new(self.load_values(&mut cache, values)?.clone(), len))
    }

    fn load_made<'a, T: Element>(
        &'a self,
        len: usize,
        make: &mut dyn FnMut() -> Result<Self, HandleError>,
    ) -> Result<Self::View<'a, T>, HandleError> {
        self.forget_if_lost();
        let mut cache = lock(&self.cache);
        let block = match &cache.copy {
            Some(block) => block.clone(),
            None => {
                self.space.check_alive()?;
                let made = make()?;
                if !Arc::ptr_eq(&made.space, &self.space) {
                    return Err(HandleError::WrongDevice);
                }
                let block = made.own.into_inner().unwrap_or_else(PoisonError::into_inner);
                let block = block.ok_or(HandleError::NoValidData)?;
                if block.bytes() < len.saturating_mul(size_of::<T>()) {
                    return Err(HandleError::LengthMismatch { have: block.bytes() / size_of::<T>(), want: len });
                }
                cache.copy.insert(block).clone()
            }
        };
        Ok(DeviceView::new(block, len))
    }

    fn load_in_place<'a, T: Element, C: Container<T>>(
        &'a mut self,
        control: &'a mut ControlSlot<C>,
        len: usize,
    ) -> Result<Self::ViewMut<'a, T>, HandleError> {
        self.make_own(control, len, Some(len * size_of::<T>()))?;
        let block = self.own_mut().as_mut().and_then(Arc::get_mut).ok_or(HandleError::NoValidData)?;
        Ok(DeviceViewMut::new(block, len))
    }

    fn allocate_for_output<'a, T: Element, C: Container<T>>(
        &'a mut self,
        control: &'a mut ControlSlot<C>,
        len: usize,
    ) -> Result<Self::ViewMut<'a, T>, HandleError> {
        self.forget_if_lost();
        self.space.check_alive()?;
        let bytes = len * size_of::<T>();
        let fits = |block: &mut Arc<DeviceBlock<X>>| {
            Arc::get_mut(block).is_some_and(|block| block.bytes() >= bytes && !block.is_read_only())
        };
        let mut found = self.own_mut().take_if(fits);
        if found.is_none() {
            found = lock(&self.cache).copy.take_if(fits);
        }
        let found = found.and_then(Arc::into_inner);
        let found = found.or_else(|| lock(&self.cache).spare.take_if(|block| block.bytes() >= bytes));
        let block = match found {
            Some(mut block) => {
                self.space.recycle(&mut block);
                block
            }
            None => self.space.allocate(bytes, self.kind)?,
        };
        control.invalidate();
        *lock(&self.cache) = Cache::default();
        let own = self.own_mut();
        *own = Some(Arc::new(block));
        let block = own.as_mut().and_then(Arc::get_mut).ok_or(HandleError::NoValidData)?;
        Ok(DeviceViewMut::new(block, len))
    }

    fn download<'a, T: Element, C: Container<T>>(
        &self,
        control: &'a ControlSlot<C>,
        len: usize,
    ) -> Result<&'a [T], HandleError> {
        if let Some(values) = control.values(len) {
            return Ok(values);
        }
        self.forget_if_lost();
        let mut own = lock(&self.own);
        let Some(block) = &*own else {
            return control.values(len).ok_or(HandleError::NoValidData); // another thread may have retrieved them
        };
        let values = control.fill(len, |target| self.space.download(block, 0, bytemuck::cast_slice_mut(target)))?;
        lock(&self.cache).copy = own.take();
        Ok(values)
    }

    fn copy_into<T: Element, C: Container<T>>(
        &self,
        control: &ControlSlot<C>,
        first: usize,
        target: &mut [T],
    ) -> Result<(), HandleError> {
        self.forget_if_lost();
        let own = lock(&self.own).clone();
        match own {
            Some(block) => self.space.download(&block, first * size_of::<T>(), bytemuck::cast_slice_mut(target)),
            None => copy_from_control(control, first, target),
        }
    }

    fn store<T: Element, C: Container<T>>(
        &mut self,
        control: &mut ControlSlot<C>,
        len: usize,
        first: usize,
        values: &[T],
    ) -> Result<(), HandleError> {
        let space = self.space.clone();
        let block = self.load_in_place(control, len)?.into_block();
        space.upload(bytemuck::cast_slice(values), block, first * size_of::<T>())
    }

    fn upload_async<T: Element>(&self, control: &ControlSlot<Array<T>>, len: usize) -> Result<(), HandleError> {
        self.forget_if_lost();
        if lock(&self.own).is_some() {
            return Ok(());
        }
        let array = control.get().ok_or(HandleError::NoValidData)?.slice(..len)?;
        let bytes = array.reinterpret::<u8>()?;
        let upload = |block: &mut DeviceBlock<X>| self.space.upload_later(bytes, block);
        self.load(&mut lock(&self.cache), array.size_in_bytes(), upload)?;
        Ok(())
    }

    fn download_async<T: Element>(
        &self,
        _control: &ControlSlot<Array<T>>,
        target: Array<u8>,
    ) -> Result<Arriving, HandleError> {
        self.space.check_alive().inspect_err(|_| self.forget_if_lost())?;
        let own = lock(&self.own).clone();
        self.space.download_later(&*own.ok_or(HandleError::NoValidData)?, target)
    }

    fn upload_and_free<T: Element, C: Container<T>>(
        &mut self,
        control: &mut ControlSlot<C>,
        len: usize,
    ) -> Result<(), HandleError> {
        match self.make_own(control, len, None) {
            Ok(()) | Err(HandleError::NoValidData) => {}
            Err(error) => return Err(error),
        }
        if let Some(container) = control.container() {
            container.release();
        }
        Ok(())
    }

    fn release<T: Element, C: Container<T>>(
        &mut self,
        control: &ControlSlot<C>,
        len: usize,
    ) -> Result<usize, HandleError> {
        if self.own_mut().is_some() && !control.is_valid() {
            self.space.check_alive().inspect_err(|_| self.forget_if_lost())?;
            self.download(control, len)?;
        }
        let bytes = |block: Arc<DeviceBlock<X>>| Arc::into_inner(block).map_or(0, |block| block.bytes());
        let own = self.own_mut().take().map_or(0, bytes);
        let Cache { copy, spare } = std::mem::take(&mut *lock(&self.cache));
        Ok(own + copy.map_or(0, bytes) + spare.map_or(0, |block| block.bytes()))
    }

    fn invalidate(&mut self) {
        let own = self.own_mut().take();
        let mut cache = lock(&self.cache);
        if let Some(block) = own.or(cache.copy.take()).and_then(Arc::into_inner)
            && !block.is_adopted()
        {
            cache.spare = Some(block);
        }
    }

    fn discard(&mut self) {
        *self.own_mut() = None;
        *lock(&self.cache) = Cache::default();
    }

    fn share(&self) -> Self {
        let own = Mutex::new(lock(&self.own).clone());
        let copy = lock(&self.cache).copy.clone();
        let cache = self.space.new_cache(Cache { copy, spare: None });
        Self { space: self.space.clone(), kind: self.kind, own, cache }
    }

    fn memory_kind(&self) -> MemoryKind {
        let kind = |block: &Arc<DeviceBlock<X>>| self.space.kind(block);
        let own = lock(&self.own).as_ref().map(kind);
        own.or_else(|| lock(&self.cache).copy.as_ref().map(kind)).unwrap_or(self.kind)
    }

    fn is_exclusive(&self) -> bool {
        let is_exclusive =
            |block: &mut Arc<DeviceBlock<X>>| Arc::get_mut(block).is_some_and(|block| !block.is_read_only());
        if let Some(block) = &mut *lock(&self.own) {
            return is_exclusive(block);
        }
        lock(&self.cache).copy.as_mut().is_some_and(is_exclusive)
    }

    fn keeps_memory(&self) -> bool {
        let is_adopted = |block: &Arc<DeviceBlock<X>>| block.is_adopted();
        let own = lock(&self.own).as_ref().map(is_adopted);
        own.unwrap_or_else(|| lock(&self.cache).copy.as_ref().is_some_and(is_adopted)) && self.is_exclusive()
    }

    fn is_of_device_of(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.space, &other.space)
    }

    fn is_valid<C>(&self, _control: &ControlSlot<C>) -> bool {
        !self.space.is_lost() && (lock(&self.own).is_some() || lock(&self.cache).copy.is_some())
    }
}
