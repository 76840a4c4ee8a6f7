//! Owners of the memory of tables whose blocks borrow them.

use numeric_table::prelude::*;

use super::{IMMUTABLE, MUTABLE, repeat, repeat_with_all, table};

#[test]
fn row_blocks_for_reading_keep_the_owner_alive_through_their_scope() {
    repeat_with_all(|array, owner| {
        let table = table(array);
        {
            let (in_place, converted) = (table.rows::<f32>(1..3).unwrap(), table.rows::<f64>(1..3).unwrap());
            let column = table.column::<f32>(1, 0..3).unwrap();
            assert_eq!((in_place[0], converted[0], column[0]), (3.0, 3.0, 2.0));
        }
        owner.assert_alive();
        assert_eq!(table.array().unwrap().owner_count(), 1);
        drop(table);
    });
}

#[test]
fn row_blocks_for_writing_in_place_keep_a_mutable_owner_alive_through_their_scope() {
    repeat(&MUTABLE, |array, owner| {
        let mut table = table(array);
        table.rows_mut::<f32>(1..3).unwrap()[0] = 9.0;
        table.rows_mut::<f64>(1..3).unwrap()[1] = 8.0;
        owner.assert_alive();
        assert_eq!(table.as_slice().unwrap(), [1.0, 2.0, 9.0, 8.0, 5.0, 6.0]);
        drop(table);
    });
}

#[test]
fn row_blocks_for_writing_let_go_of_an_immutable_owner_when_they_are_taken() {
    repeat(&IMMUTABLE, |array, owner| {
        let mut table = table(array);
        let block = table.rows_mut::<f64>(1..3).unwrap();
        owner.assert_dropped();
        block.release().unwrap();
    });
}

#[test]
fn row_block_iterators_keep_the_owner_alive_through_their_scope() {
    repeat(&MUTABLE, |array, owner| {
        let mut table = table(array);
        for block in table.row_blocks_mut::<f64>(2).unwrap() {
            block.unwrap().fill(5.0);
        }
        assert_eq!(table.row_blocks::<f32>(2).unwrap().count(), 2);
        owner.assert_alive();
        assert_eq!(table.as_slice().unwrap(), [5.0; 6]);
        drop(table);
    });
}
