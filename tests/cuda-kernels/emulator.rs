//! Kernels as functions of a shared library.

use std::ffi::c_void;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use libloading::Library;

/// What kernels expect of a device, in C++.
const DEVICE: &str = include_str!("host/device.h");

/// As on a device: nothing is contracted, and addresses of words are addresses of values.
const FLAGS: [&str; 7] =
    ["-std=c++17", "-O1", "-fPIC", "-ffp-contract=off", "-frounding-math", "-fno-strict-aliasing", "-c"];

/// Compiles a text, unless it was compiled before, and returns the path of the object.
fn compile(compiler: &str, folder: &Path, name: &str, text: &str) -> PathBuf {
    let mut hasher = DefaultHasher::new();
    (compiler, FLAGS, DEVICE, text).hash(&mut hasher);
    let stem = format!("{name}-{:016x}", hasher.finish());
    let object = folder.join(format!("{stem}.o"));
    if object.exists() {
        return object;
    }
    // Of this call alone until it is whole.
    static CALLS: AtomicUsize = AtomicUsize::new(0);
    let own = folder.join(format!("{stem}-{}-{}", std::process::id(), CALLS.fetch_add(1, Ordering::Relaxed)));
    std::fs::create_dir_all(&own).unwrap();
    std::fs::write(own.join("device.h"), DEVICE).unwrap();
    std::fs::write(own.join("kernel.cpp"), format!("#include \"device.h\"\n{text}")).unwrap();
    let output = Command::new(compiler).current_dir(&own).args(FLAGS).arg("kernel.cpp").output().unwrap();
    assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
    std::fs::rename(own.join("kernel.o"), &object).unwrap();
    let _ = std::fs::remove_dir_all(own);
    object
}

/// Kernels that run on the CPU.
pub struct Emulator {
    kernels: Library,
}

/// A kernel, as its address.
#[derive(Clone, Copy)]
pub struct Kernel(*mut c_void);

// SAFETY: it is the address of a function.
unsafe impl Send for Kernel {}
// SAFETY: as above.
unsafe impl Sync for Kernel {}

impl Emulator {
    /// Compiles files of kernels, each a name and a text, to a library in `folder`, where what is compiled stays for
    /// the next time. `None` without a compiler.
    ///
    /// # Panics
    /// If a text does not compile.
    pub fn build(folder: &Path, files: &[(String, String)]) -> Option<Self> {
        let compiler = std::env::var("CXX").unwrap_or_else(|_| "c++".into());
        Command::new(&compiler).arg("--version").output().ok()?;
        std::fs::create_dir_all(folder).unwrap();
        let launch = [("launch".to_string(), include_str!("host/launch.cpp").to_string())];
        let files: Vec<_> = launch.iter().chain(files).collect();
        let (next, objects) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
        std::thread::scope(|scope| {
            for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
                scope.spawn(|| {
                    while let Some((name, text)) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
                        let object = compile(&compiler, folder, name, text);
                        objects.lock().unwrap().push(object);
                    }
                });
            }
        });
        let library = folder.join(format!("kernels-{}-{}.so", std::process::id(), files[1].1.len()));
        let mut link = Command::new(&compiler);
        let status = link.args(["-shared", "-o"]).arg(&library).args(objects.into_inner().unwrap()).status();
        assert!(status.unwrap().success(), "the kernels do not link");
        // SAFETY: the library was just made, and has no code that runs when it is loaded.
        let kernels = unsafe { Library::new(&library) }.unwrap();
        let _ = std::fs::remove_file(library); // it stays loaded
        Some(Self { kernels })
    }

    /// Returns a kernel.
    ///
    /// # Panics
    /// If there is none of that name.
    pub fn kernel(&self, name: &str) -> Kernel {
        // SAFETY: only the address is taken.
        let found = unsafe { self.kernels.get::<unsafe extern "C" fn()>(name) };
        Kernel(*found.unwrap_or_else(|error| panic!("{name}: {error}")) as *mut c_void)
    }

    /// Runs a kernel with blocks of 256 threads. `switches`: whether its threads wait for each other.
    ///
    /// # Safety
    /// The arguments must be those of the kernel, and pointers among them must be to memory as it uses it.
    pub unsafe fn launch(&self, kernel: Kernel, blocks: u32, switches: bool, arguments: &[u64]) {
        type Launch = unsafe extern "C" fn(*mut c_void, u32, bool, *const u64);
        let mut all = [0; 12];
        all[..arguments.len()].copy_from_slice(arguments);
        // SAFETY: as the caller promises; `launch` has this signature, in `launch.cpp`.
        unsafe { self.kernels.get::<Launch>("launch").unwrap()(kernel.0, blocks, switches, all.as_ptr()) }
    }

    /// Converts each value alone by a kernel for contiguous values, and returns whether it is refused.
    ///
    /// # Safety
    /// The kernel must be one for contiguous values of these types.
    ///
    /// # Panics
    /// If the lengths differ.
    pub unsafe fn each<S, T>(&self, kernel: Kernel, input: &[S], output: &mut [T], policy: i32) -> Vec<bool> {
        type Each = unsafe extern "C" fn(*mut c_void, *const S2, usize, *mut S2, usize, usize, i32, *mut bool);
        type S2 = c_void;
        assert_eq!(input.len(), output.len());
        let mut refused = vec![false; input.len()];
        let (from, to) = (input.as_ptr().cast(), output.as_mut_ptr().cast());
        // SAFETY: as the caller promises; all slices have the same length, and a `bool` is a byte of 0 or 1.
        unsafe {
            let each = self.kernels.get::<Each>("each").unwrap();
            each(kernel.0, from, size_of::<S>(), to, size_of::<T>(), input.len(), policy, refused.as_mut_ptr());
        }
        refused
    }
}
