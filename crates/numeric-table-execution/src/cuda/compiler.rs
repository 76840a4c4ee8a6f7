//! The compiler of kernels, NVRTC: CUDA C to the devices' assembly language (PTX).

use std::ffi::{CStr, CString, c_char};

use super::api::{self, Code, Compiler, Handle};

/// Why a text was not compiled.
#[derive(Debug)]
pub(super) enum CompileError {
    /// The compiler is missing.
    Unavailable,
    /// The compiler refuses the text, with these messages.
    Refused(String),
    /// The compiler has failed.
    Failed,
}

impl From<Code> for CompileError {
    fn from(_: Code) -> Self {
        Self::Failed
    }
}

/// Returns whether there is a compiler.
pub(super) fn is_there() -> bool {
    api::compiler().is_some()
}

/// A text that is being compiled.
struct Program {
    compiler: &'static Compiler,
    handle: Handle,
}

impl Program {
    fn new(compiler: &'static Compiler, text: &CStr) -> Result<Self, Code> {
        let (mut handle, none) = (Handle::NULL, std::ptr::null());
        // SAFETY: the text ends with a zero, and there are no headers; what is written lives until the call returns.
        let created =
            unsafe { (compiler.create)(&mut handle, text.as_ptr(), std::ptr::null(), 0, std::ptr::null(), none) };
        created.check()?;
        Ok(Self { compiler, handle })
    }

    fn compile(&self, options: &[&CStr]) -> Result<(), Code> {
        let options: Vec<*const c_char> = options.iter().map(|option| option.as_ptr()).collect();
        // SAFETY: the program is alive; the options are so many texts, each of which ends with a zero.
        unsafe { (self.compiler.compile)(self.handle, options.len() as i32, options.as_ptr()) }.check()
    }

    /// Returns what two functions say: the number of bytes, with that of the zero, and a text that ends with a zero.
    ///
    /// # Safety
    /// The functions are those of the same text of this program.
    unsafe fn text(
        &self,
        size: unsafe extern "system" fn(Handle, *mut usize) -> Code,
        get: unsafe extern "system" fn(Handle, *mut c_char) -> Code,
    ) -> Result<CString, CompileError> {
        let mut bytes = 0;
        // SAFETY: the program is alive, and the integer lives until the call returns.
        unsafe { size(self.handle, &mut bytes) }.check()?;
        let mut text = Vec::new();
        text.try_reserve_exact(bytes).map_err(|_| CompileError::Failed)?;
        text.resize(bytes, 0_u8);
        // SAFETY: there is room for as many bytes as the text has.
        unsafe { get(self.handle, text.as_mut_ptr().cast()) }.check()?;
        text.truncate(text.iter().position(|&byte| byte == 0).unwrap_or(bytes));
        CString::new(text).map_err(|_| CompileError::Failed)
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // SAFETY: the program is destroyed once.
        let _ = unsafe { (self.compiler.destroy)(&mut self.handle) };
    }
}

/// Compiles CUDA C.
pub(super) fn compile(text: &CStr, options: &[&CStr]) -> Result<CString, CompileError> {
    let compiler = api::compiler().ok_or(CompileError::Unavailable)?;
    let program = Program::new(compiler, text)?;
    if program.compile(options).is_err() {
        // SAFETY: both are of the messages.
        let log = unsafe { program.text(compiler.log_size, compiler.log) }?;
        return Err(CompileError::Refused(log.to_string_lossy().into_owned()));
    }
    // SAFETY: both are of the code.
    unsafe { program.text(compiler.code_size, compiler.code) }
}
