//! The size from which a second thread pays off: the same conversion by one thread and by all threads of the pool.
//!
//! Below the library's threshold, both are the same. `from_outside` calls from a thread outside the pool.

use criterion::Criterion;

pub(crate) fn threads(criterion: &mut Criterion) {
    use numeric_table::convert::convert_slice;
    use numeric_table::prelude::*;

    use crate::limits::{Copied, Threads};
    use crate::support::{MI, check, group, is_wanted, values_mut, written};

    let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a pool of one thread");
    for mebibytes in [1, 2, 3, 4, 6, 8, 16] {
        let id = format!("threads/f32_to_f64/{mebibytes}_mib_read_and_written");
        if !is_wanted(&id) {
            continue;
        }
        let count = mebibytes * MI / (size_of::<f32>() + size_of::<f64>());
        let (source, mut target): (Array<f32>, Array<f64>) = (written(count), written(count));
        let target = values_mut(&mut target);
        let mut group = group(criterion, id, mebibytes * MI);
        let mut convert = || convert_slice(&source, target, ConversionPolicy::Saturate).expect("as many elements");
        group.bench_function("one_thread", |bencher| one.install(|| bencher.iter(&mut convert)));
        group.bench_function("from_outside", |bencher| bencher.iter(&mut convert));
        check(&source, target);
        let mut copied = Copied { threads: Threads::One, ..Copied::like::<f32, f64>(count) };
        group.bench_function("memcpy_one_thread", |bencher| bencher.iter(|| copied.copy()));
        copied.threads = Threads::All;
        group.bench_function("memcpy_all_threads", |bencher| bencher.iter(|| copied.copy()));
        group.finish();
    }
}
