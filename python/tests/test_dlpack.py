"""Arrays of libraries that have DLPack and no other protocol."""

import numpy as np
import pytest

import numeric_table as nt


class OnlyDlpack:
    """Such an array, which has no items either."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


@pytest.mark.parametrize("dtype", ["float64", "int64", "uint8"])
def test_arrays_with_nothing_but_dlpack_are_tables_of_their_values(dtype):
    values = np.arange(6, dtype=dtype).reshape(3, 2)
    shared = nt.Table(OnlyDlpack(values), copy=False)
    assert shared.dtype == values.dtype
    assert np.shares_memory(np.asarray(shared), values)
    for table in (nt.Table(OnlyDlpack(values)), nt.Table(OnlyDlpack(values), copy=True)):
        assert np.array_equal(table.rows(), values)
        assert not np.shares_memory(np.asarray(table), values)
