//! Running kernels by their names, and what they refuse.

use numeric_table::convert::ConversionPolicy;

use super::number;
use crate::cuda::Cuda;
use crate::cuda::launch::{Argument, Geometry, launch};
use crate::cuda::memory::CudaBuffer;
use crate::cuda::modules::Unit;
use crate::cuda::objects::Function;
use crate::transport::Transport;
use crate::{DeviceError, HandleError};

/// What `refused` holds while no value has been refused.
const NONE: u64 = u64::MAX;

impl Cuda {
    /// Runs a kernel.
    ///
    /// # Safety
    /// Those of [`launch`].
    pub(super) unsafe fn run(
        &self,
        unit: Unit,
        name: &str,
        geometry: Geometry,
        arguments: &mut [Argument<'_>],
    ) -> Result<(), HandleError> {
        let function = self.modules.function(self.streams(), unit, name)?;
        // SAFETY: the caller's promise.
        Ok(unsafe { launch(self.streams(), &function, geometry, arguments) }?)
    }

    /// Runs a kernel of a conversion, which may refuse values. Returns the index of the first value that it refused, if
    /// it did; under a policy that refuses nothing, without waiting.
    ///
    /// # Safety
    /// Those of [`launch`]; the last two parameters, the policy and where a refused index goes, are added here.
    pub(super) unsafe fn run_conversion(
        &self,
        unit: Unit,
        name: &str,
        geometry: Geometry,
        policy: ConversionPolicy,
        arguments: Vec<Argument<'_>>,
    ) -> Result<Option<usize>, HandleError> {
        let function = self.modules.function(self.streams(), unit, name)?;
        let mode = number(match policy {
            ConversionPolicy::Saturate => 0,
            ConversionPolicy::Checked => 1,
            ConversionPolicy::Exact => 2,
            _ => return Err(DeviceError::Unavailable { what: "a kernel for this policy" }.into()),
        });
        if policy == ConversionPolicy::Saturate {
            // SAFETY: the caller's promise; no index is written under this policy.
            unsafe { self.launch_with(&function, geometry, arguments, [mode, number(0)]) }?;
            return Ok(None);
        }
        let mut refused = self.nothing_refused()?;
        let place = Argument::Write(&mut refused, 0..size_of::<u64>());
        // SAFETY: the caller's promise; the block has room for an index.
        unsafe { self.launch_with(&function, geometry, arguments, [mode, place]) }?;
        let index = self.refused(&refused)?;
        Ok(index.map(|index| usize::try_from(index).unwrap_or(usize::MAX)))
    }

    /// Allocates the number in which a kernel notes what it refuses.
    pub(super) fn nothing_refused(&self) -> Result<CudaBuffer, HandleError> {
        let mut refused = CudaBuffer::allocate(self.streams(), size_of::<u64>())?;
        self.space.transport().upload(&NONE.to_le_bytes(), &mut refused, 0)?;
        Ok(refused)
    }

    /// Waits for the kernel, and returns what it has noted.
    pub(super) fn refused(&self, refused: &CudaBuffer) -> Result<Option<u64>, HandleError> {
        let mut found = [0; size_of::<u64>()];
        self.space.transport().download(refused, 0..size_of::<u64>(), &mut found)?;
        Ok(Some(u64::from_le_bytes(found)).filter(|&found| found != NONE))
    }

    /// Launches a kernel with two more arguments.
    ///
    /// # Safety
    /// Those of [`launch`].
    unsafe fn launch_with<'a>(
        &self,
        function: &Function,
        geometry: Geometry,
        mut arguments: Vec<Argument<'a>>,
        last: [Argument<'a>; 2],
    ) -> Result<(), DeviceError> {
        arguments.extend(last);
        // SAFETY: the caller's promise.
        unsafe { launch(self.streams(), function, geometry, &mut arguments) }
    }
}
