//! Copying tables of every kind to a device. The homogeneous table, which can share its memory, is in the module above.

use numeric_table::convert::ConversionPolicy;
use numeric_table::internal::HasRows;
use numeric_table::table::{BorrowedTable, BorrowedTableMut};
use numeric_table::{
    AosNumericTable, CsrNumericTable, Element, Error, ErrorKind, MergedNumericTable, NumericTable,
    PackedSymmetricMatrix, PackedTriangularMatrix, RowMergedNumericTable, SoaNumericTable,
};

use super::{DeviceTable, ToDevice};
use crate::stream::send_all;
use crate::{DeviceArray, HandleError, Kernels};

/// Copies a table of any kind to a device.
fn send<N: NumericTable + ?Sized, U: Element, D: Kernels>(
    table: &N,
    device: &D,
    policy: ConversionPolicy,
) -> Result<DeviceTable<U, D>, HandleError> {
    let (shape, source) = (table.shape(), table.row_source());
    let (layout, dictionary) = (source.data_layout(), table.dictionary().with_element_type(U::TYPE)?);
    if !source.is_allocated() {
        return Err(Error::new(ErrorKind::NotAllocated).into());
    }
    let values = match shape.is_empty() {
        true => DeviceArray::allocate(device, 0)?.into_handle(),
        false => send_all(source, device, policy)?,
    };
    Ok(DeviceTable { values, shape, layout, dictionary })
}

macro_rules! kinds {
    ($([$($parameters:tt)*] $Kind:ty;)*) => {$(
        impl<$($parameters)*> ToDevice for $Kind {
            fn to_device_with<U: Element, D: Kernels>(
                &self,
                device: &D,
                policy: ConversionPolicy,
            ) -> Result<DeviceTable<U, D>, HandleError> {
                send(self, device, policy)
            }
        }
    )*};
}

kinds! {
    [] CsrNumericTable;
    [] SoaNumericTable;
    [] AosNumericTable;
    [] PackedSymmetricMatrix;
    [] PackedTriangularMatrix;
    [] MergedNumericTable<'_>;
    [] RowMergedNumericTable<'_>;
    [T: Element] BorrowedTable<'_, T>;
    [T: Element] BorrowedTableMut<'_, T>;
    [] dyn NumericTable + '_;
}
