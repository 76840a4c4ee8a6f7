//! Constructors of [`Array`], and [`Array::try_into_vec`], which takes the memory out again.

use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ptr::NonNull;
use std::sync::Arc;

use super::allocate::Allocation;
use super::block::{MemoryBlock, PinnedOwner};
use super::kind::{Access, MemoryKind};
use super::{Array, Element, Error, Result, assume_init_mut, write_copy};
#[cfg(doc)]
use crate::base::error::ErrorKind;
use crate::base::parallel;
use crate::base::shape::Shape;
use crate::base::trace::{self, CopyKind};

/// A raw pointer that is sent together with its deleter.
struct DeleterArgument<T>(*mut T);

// SAFETY: only the address is sent. `from_raw_parts` requires that the deleter may be called on any thread.
unsafe impl<T> Send for DeleterArgument<T> {}
// SAFETY: `&DeleterArgument` allows no access to the pointer.
unsafe impl<T> Sync for DeleterArgument<T> {}

impl<T> DeleterArgument<T> {
    fn into_inner(self) -> *mut T {
        self.0
    }
}

/// Memory that the library allocates and frees: 64-byte aligned and mutable.
impl<T: Element> Array<T> {
    /// Allocates `count` zeros. Large arrays are zeroed lazily, without touching their pages.
    ///
    /// Source: oneDAL `array::zeros`.
    ///
    /// # Errors
    /// [`ErrorKind::SizeOverflow`] if `count` values cannot be addressed; [`ErrorKind::OutOfMemory`] if the allocation
    /// fails.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::Array;
    /// let array = Array::<f64>::zeros(5)?;
    /// assert!(array.has_mutable_data() && array.iter().all(|&value| value == 0.0));
    /// assert!(Array::<f64>::zeros(usize::MAX).is_err());
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn zeros(count: usize) -> Result<Self> {
        let allocation = Allocation::zeroed(bytes_for::<T>(count)?)?;
        // SAFETY: it has the bytes of `count` elements, and zero bits are a value of every element type (`Pod`).
        Ok(unsafe { Self::from_allocation(allocation, count) })
    }

    /// Allocates `count` copies of `value`. Large arrays are written in parallel.
    ///
    /// Source: oneDAL `array::full`.
    ///
    /// # Errors
    /// Those of [`zeros`](Self::zeros).
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::Array;
    /// assert_eq!(&Array::full(3, 1.0_f32)?[..], [1.0; 3]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn full(count: usize, value: T) -> Result<Self> {
        Self::from_fn(count, |_| value)
    }

    /// Allocates `count` elements and writes `f(index)` into each. Large arrays are written in parallel.
    ///
    /// # Errors
    /// Those of [`zeros`](Self::zeros).
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::Array;
    /// assert_eq!(&Array::from_fn(4, |i| i as f32 * 0.5)?[..], [0.0, 0.5, 1.0, 1.5]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn from_fn(count: usize, f: impl Fn(usize) -> T + Sync) -> Result<Self> {
        let mut array = Self::uninit(count)?;
        parallel::for_each_chunk_mut(array.mutable_data()?, &|offset, chunk| {
            for (i, element) in chunk.iter_mut().enumerate() {
                element.write(f(offset + i));
            }
        });
        // SAFETY: the chunks together are the whole array, and each loop has written each element of its chunk.
        Ok(unsafe { array.assume_init() })
    }

    /// Allocates `count` uninitialized elements.
    ///
    /// Source: oneDAL `array::empty`.
    ///
    /// # Errors
    /// Those of [`zeros`](Self::zeros).
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::Array;
    /// let array = Array::<f32>::uninit(100)?; // an Array<MaybeUninit<f32>>
    /// assert_eq!(array.len(), 100);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn uninit(count: usize) -> Result<Array<MaybeUninit<T>>> {
        let allocation = Allocation::uninit(bytes_for::<T>(count)?)?;
        // SAFETY: it has the bytes of `count` elements, and a `MaybeUninit` may hold anything.
        Ok(unsafe { Array::from_allocation(allocation, count) })
    }

    /// Copies a slice into memory that the library allocates.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfMemory`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::Array;
    /// let values = [1_i32, 2, 3];
    /// assert_eq!(&Array::copy_of(&values)?[..], values);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn copy_of(values: &[T]) -> Result<Self> {
        Self::copied(values, CopyKind::Requested)
    }

    /// Copies values, and records the copy.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfMemory`].
    pub(crate) fn copied(values: &[T], kind: CopyKind) -> Result<Self> {
        let array = Self::duplicate(values)?;
        trace::record(kind, array.size_in_bytes());
        Ok(array)
    }

    /// Copies values, and records nothing.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfMemory`].
    pub(crate) fn duplicate(values: &[T]) -> Result<Self> {
        let mut array = Self::uninit(values.len())?;
        parallel::for_each_chunk_mut(array.mutable_data()?, &|offset, chunk| {
            write_copy(chunk, &values[offset..offset + chunk.len()]);
        });
        // SAFETY: the chunks together are the whole array, and `write_copy` has written each.
        Ok(unsafe { array.assume_init() })
    }

    /// Copies elements from little-endian bytes of any alignment.
    ///
    /// # Errors
    /// [`ErrorKind::Format`] if the bytes are not a whole number of elements; [`ErrorKind::OutOfMemory`].
    pub(crate) fn from_little_endian(bytes: &[u8]) -> Result<Self> {
        if !bytes.len().is_multiple_of(size_of::<T>()) {
            let reason = format!("{} bytes are not a whole number of {} values", bytes.len(), T::TYPE);
            return Err(Error::format(0, reason));
        }
        Self::try_init(bytes.len() / size_of::<T>(), |target| {
            let size = size_of::<T>();
            parallel::for_each_chunk_mut(target, &|offset, chunk| {
                let source = &bytes[offset * size..(offset + chunk.len()) * size];
                // SAFETY: source and chunk are `chunk.len() * size` bytes each, and the chunk is new memory.
                unsafe {
                    std::ptr::copy_nonoverlapping(source.as_ptr(), chunk.as_mut_ptr().cast::<u8>(), source.len())
                };
            });
            // SAFETY: the chunks together are the whole target, and each has been written; any bits are a value of an
            // element type (`Pod`).
            let elements = unsafe { assume_init_mut(target) };
            if cfg!(target_endian = "big") {
                bytemuck::cast_slice_mut::<T, u8>(elements).chunks_exact_mut(size_of::<T>()).for_each(<[u8]>::reverse);
            }
            Ok(elements)
        })
    }

    /// Allocates `count` elements and has `fill` write them. `fill` proves that it did by returning them initialized.
    pub(crate) fn try_init<F>(count: usize, fill: F) -> Result<Self>
    where
        F: for<'a> FnOnce(&'a mut [MaybeUninit<T>]) -> Result<&'a mut [T]>,
    {
        let mut array = Self::uninit(count)?;
        let target = array.mutable_data()?;
        let whole = (target.as_ptr().addr(), target.len());
        let filled = fill(target)?;
        assert_eq!((filled.as_ptr().addr(), filled.len()), whole, "the filled slice is the one that was lent");
        // SAFETY: `fill` returned `&mut [T]` for exactly these elements; that reference can exist only if they are
        // initialized, since the block is new and nothing else can point into it.
        Ok(unsafe { array.assume_init() })
    }
}

impl<T> Array<T> {
    /// Creates the first array on a block.
    ///
    /// # Safety
    /// `data` must be aligned and valid for reads of `count` initialized elements of at most `isize::MAX` bytes while
    /// the block lives. If it may be written, it must also be valid for writes, and nothing else may access the
    /// elements.
    unsafe fn on_block(block: MemoryBlock, data: NonNull<T>, count: usize, access: Access) -> Self {
        Self { block: Some(Arc::new(block)), data, count, access, invariant: PhantomData }
    }

    /// Creates an array that owns a new allocation.
    ///
    /// # Safety
    /// The allocation must be large enough for `count` elements and contain valid elements.
    pub(super) unsafe fn from_allocation(mut allocation: Allocation, count: usize) -> Self {
        let data = allocation.data().cast::<T>();
        let start = data.addr().get();
        // SAFETY: the allocation is owned by the block alone, its address does not change, and it is aligned for every
        // element type; the caller vouches for size and content.
        unsafe {
            Self::on_block(
                MemoryBlock::library(allocation, start, count * size_of::<T>()),
                data,
                count,
                Access::Mutable,
            )
        }
    }

    /// Returns the same memory as elements of another type, without a partial element at the end. Keeps mutability.
    ///
    /// # Safety
    /// The memory must be aligned for `U` and hold initialized elements of it. Writes through the result must leave
    /// initialized elements of every type that another array, or the owner of the memory, sees there.
    pub(crate) unsafe fn cast<U>(self) -> Array<U> {
        // SAFETY: no more bytes than before, aligned and initialized by the caller's promise.
        unsafe { self.alias(self.data.cast(), self.size_in_bytes() / size_of::<U>(), self.access) }
    }
}

impl<T: 'static> Array<T> {
    /// Creates a read-only array of the elements that `owner` lends. Copies nothing. The last share drops the owner.
    ///
    /// Accepts any owner that lends a slice: a mapped file, a `Vec`, a foreign library's buffer.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::Array;
    /// let array = Array::from_owner(vec![1.0_f32, 2.0].into_boxed_slice());
    /// assert_eq!((&array[..], array.has_mutable_data()), (&[1.0, 2.0][..], false));
    /// ```
    pub fn from_owner<O: AsRef<[T]> + Send + Sync + 'static>(owner: O) -> Self {
        let (owner, (data, count)) = PinnedOwner::new(owner, |owner| {
            let elements: &[T] = (*owner).as_ref();
            (NonNull::from(elements).cast(), elements.len())
        });
        // SAFETY: the slice is borrowed from the owner, which stays where it is and is not touched until the block
        // drops it.
        unsafe {
            Self::on_block(
                MemoryBlock::lender(owner, count * size_of::<T>(), MemoryKind::Host),
                data,
                count,
                Access::Immutable,
            )
        }
    }

    /// Creates a writable array of the elements that `owner` lends. Copies nothing. The last share drops the owner.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::Array;
    /// let mut array = Array::from_owner_mut(vec![1.0_f32, 2.0]);
    /// array.mutable_data()?[0] = 5.0;
    /// assert_eq!(array[0], 5.0);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn from_owner_mut<O: AsRef<[T]> + AsMut<[T]> + Send + Sync + 'static>(owner: O) -> Self {
        Self::from_owner_with_kind(owner, MemoryKind::Host)
    }

    /// Does the same as [`from_owner_mut`](Self::from_owner_mut), for a given kind of memory, such as memory that the
    /// driver of a device allocates. Only [`memory_kind`](Self::memory_kind) depends on the kind.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{Array, array::MemoryKind};
    /// let array = Array::from_owner_with_kind(vec![1.0_f32, 2.0], MemoryKind::Pinned);
    /// assert_eq!((array.memory_kind(), array[1]), (MemoryKind::Pinned, 2.0));
    /// ```
    pub fn from_owner_with_kind<O>(owner: O, kind: MemoryKind) -> Self
    where
        O: AsRef<[T]> + AsMut<[T]> + Send + Sync + 'static,
    {
        let (owner, (data, count)) = PinnedOwner::new(owner, |owner| {
            let elements: &mut [T] = owner.as_mut();
            let count = elements.len();
            (NonNull::from(elements).cast(), count)
        });
        // SAFETY: the slice is borrowed mutably from the owner, which stays where it is and is not touched until the
        // block drops it.
        unsafe {
            Self::on_block(MemoryBlock::lender(owner, count * size_of::<T>(), kind), data, count, Access::Mutable)
        }
    }

    /// Creates a read-only array of `count` elements at a raw pointer. Copies nothing. Dropping the last share calls
    /// `deleter(data, count)`.
    ///
    /// Source: oneDAL `array(const Data*, count, deleter)`.
    ///
    /// # Safety
    /// * `data` must be aligned and valid for reads of `count` elements until `deleter` runs, all in one allocation. It
    ///   may be null if `count` is 0.
    /// * All `count` elements must be initialized values of `T`. For uninitialized memory, make `T` a
    ///   [`MaybeUninit`].
    /// * The `count` elements must not exceed `isize::MAX` bytes, as in [`std::slice::from_raw_parts`].
    /// * The elements must not be written until `deleter` runs.
    /// * `deleter` must be sound to call on any thread. It receives `data` and `count` as the caller passed them.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::Array;
    /// let data = Box::into_raw(Box::new([1_i32, 2, 3]));
    /// // SAFETY: the box is not touched until the deleter takes it back.
    /// let array = unsafe {
    ///     Array::from_raw_parts(data.cast::<i32>(), 3, |data, _| drop(Box::from_raw(data.cast_mut().cast::<[i32; 3]>())))
    /// };
    /// assert_eq!(&array[..], [1, 2, 3]);
    /// ```
    pub unsafe fn from_raw_parts(
        data: *const T,
        count: usize,
        deleter: impl FnOnce(*const T, usize) + Send + Sync + 'static,
    ) -> Self {
        let argument = DeleterArgument(data.cast_mut());
        let delete = Box::new(move || deleter(argument.into_inner().cast_const(), count));
        let data = NonNull::new(data.cast_mut()).unwrap_or(NonNull::dangling());
        // SAFETY: the caller's promises hold until the deleter runs, which is when the block is dropped.
        unsafe { Self::on_block(MemoryBlock::raw(delete, count * size_of::<T>()), data, count, Access::Immutable) }
    }

    /// Creates a writable array of `count` elements at a raw pointer. Copies nothing. Dropping the last share calls
    /// `deleter(data, count)`.
    ///
    /// Source: oneDAL `array(Data*, count, deleter)`.
    ///
    /// # Safety
    /// * `data` must be aligned and valid for reads and writes of `count` elements until `deleter` runs, all in one
    ///   allocation. It may be null if `count` is 0.
    /// * All `count` elements must be initialized values of `T`. For uninitialized memory, make `T` a
    ///   [`MaybeUninit`].
    /// * The `count` elements must not exceed `isize::MAX` bytes, as in [`std::slice::from_raw_parts_mut`].
    /// * Nothing else may access the elements until `deleter` runs.
    /// * `deleter` must be sound to call on any thread. It receives `data` and `count` as the caller passed them.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::Array;
    /// let data = Box::into_raw(Box::new([1_i32, 2, 3]));
    /// // SAFETY: the box is not touched until the deleter takes it back.
    /// let mut array = unsafe {
    ///     Array::from_raw_parts_mut(data.cast::<i32>(), 3, |data, _| drop(Box::from_raw(data.cast::<[i32; 3]>())))
    /// };
    /// array.mutable_data()?[0] = 7;
    /// assert_eq!(&array[..], [7, 2, 3]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub unsafe fn from_raw_parts_mut(
        data: *mut T,
        count: usize,
        deleter: impl FnOnce(*mut T, usize) + Send + Sync + 'static,
    ) -> Self {
        let argument = DeleterArgument(data);
        let delete = Box::new(move || deleter(argument.into_inner(), count));
        let data = NonNull::new(data).unwrap_or(NonNull::dangling());
        // SAFETY: the caller's promises hold until the deleter runs, which is when the block is dropped.
        unsafe { Self::on_block(MemoryBlock::raw(delete, count * size_of::<T>()), data, count, Access::Mutable) }
    }
}

impl<T: Send + Sync + 'static> Array<T> {
    /// Returns whether [`try_into_vec`](Self::try_into_vec) would currently return a `Vec`.
    #[doc(hidden)] // for the crates of this workspace, as the module `internal`
    pub fn is_lone_vec(&self) -> bool {
        let (data, count) = (self.data.as_ptr().cast_const(), self.count);
        let whole = |vec: &Vec<T>| vec.as_ptr() == data && vec.len() == count;
        let block = self.block.as_ref().filter(|block| Arc::strong_count(block) == 1);
        block.is_some_and(|block| block.as_vec().is_some_and(whole))
    }

    /// Returns the `Vec` that this array was made from, without a copy.
    ///
    /// # Errors
    /// Returns the array unchanged if it is shared, covers only a part of the `Vec`, or was not made from one.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::Array;
    /// let vec = vec![1.0_f32, 2.0];
    /// let address = vec.as_ptr();
    /// let vec = Array::from(vec).try_into_vec().unwrap();
    /// assert_eq!(vec.as_ptr(), address);
    /// assert!(Array::full(2, 1.0_f32)?.try_into_vec().is_err());
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn try_into_vec(mut self) -> Result<Vec<T>, Self> {
        let (data, count) = (self.data.as_ptr().cast_const(), self.count);
        let whole = |vec: &Vec<T>| vec.as_ptr() == data && vec.len() == count;
        match self.block.as_mut().and_then(Arc::get_mut) {
            Some(block) if block.as_vec().is_some_and(whole) => Ok(block.take_vec()),
            _ => Err(self),
        }
    }
}

/// Takes ownership of the `Vec` without a copy. The array is mutable, and [`Array::try_into_vec`] returns the `Vec`.
impl<T: Send + Sync + 'static> From<Vec<T>> for Array<T> {
    fn from(mut vec: Vec<T>) -> Self {
        let (data, count) = (NonNull::from(vec.as_mut_slice()).cast(), vec.len());
        // SAFETY: the pointer is to the heap buffer, which stays where it is when the `Vec` moves into the block; the
        // block does not touch the elements before it drops or returns the `Vec`.
        unsafe { Self::on_block(MemoryBlock::vec(vec), data, count, Access::Mutable) }
    }
}

/// Takes ownership of the slice without a copy. The array is mutable.
impl<T: Send + Sync + 'static> From<Box<[T]>> for Array<T> {
    fn from(slice: Box<[T]>) -> Self {
        Self::from(slice.into_vec())
    }
}

/// Moves the elements into a `Vec`. The array is mutable.
impl<T: Send + Sync + 'static, const COUNT: usize> From<[T; COUNT]> for Array<T> {
    fn from(elements: [T; COUNT]) -> Self {
        Self::from(Vec::from(elements))
    }
}

/// Shares the slice without a copy. The array is immutable.
impl<T: Send + Sync + 'static> From<Arc<[T]>> for Array<T> {
    fn from(slice: Arc<[T]>) -> Self {
        Self::from_owner(slice)
    }
}

/// Wraps memory that is never freed, without a copy. The array is immutable. Source: oneDAL `array::wrap`.
impl<T: Sync> From<&'static [T]> for Array<T> {
    fn from(slice: &'static [T]) -> Self {
        // SAFETY: the slice is valid for the rest of the program.
        unsafe {
            let block = MemoryBlock::never_freed(size_of_val(slice));
            Self::on_block(block, NonNull::from(slice).cast(), slice.len(), Access::Immutable)
        }
    }
}

impl<T: Send + Sync + 'static> FromIterator<T> for Array<T> {
    fn from_iter<I: IntoIterator<Item = T>>(elements: I) -> Self {
        Self::from(Vec::from_iter(elements))
    }
}

/// Returns the size in bytes of `count` elements, if they can be addressed.
pub(super) fn bytes_for<T: Element>(count: usize) -> Result<usize> {
    let shape = Shape { rows: count, columns: 1 };
    Ok(shape.element_count_of(T::TYPE)? * size_of::<T>())
}
