//! `#[methods]` and `#[function]`: PyO3's `#[pymethods]` and `#[pyfunction]`, except that a panic becomes an exception.
//!
//! PyO3 converts a panic to a `PanicException`, which `except Exception` does not catch. Here the body of each function
//! that Python calls runs in `crate::base::boundary::guarded`, which converts it to a `RuntimeError`, and the function
//! returns a
//! `PyResult` regardless of its declared return type. `__traverse__`, which the garbage collector calls and which may
//! not raise, is unchanged.

#![forbid(unsafe_code)]

use proc_macro::TokenStream;
use quote::quote;
use syn::{Block, ImplItem, ItemFn, ItemImpl, ReturnType, Signature, Type, parse_macro_input, parse_quote};

/// Exposes the methods of an `impl` block, as `#[pymethods]` does.
#[proc_macro_attribute]
pub fn methods(_: TokenStream, input: TokenStream) -> TokenStream {
    let mut block = parse_macro_input!(input as ItemImpl);
    for item in &mut block.items {
        if let ImplItem::Fn(function) = item
            && function.sig.ident != "__traverse__"
        {
            guard(&mut function.sig, &mut function.block);
        }
    }
    quote!(#[::pyo3::pymethods] #block).into()
}

/// Exposes a function, as `#[pyfunction]` does.
#[proc_macro_attribute]
pub fn function(_: TokenStream, input: TokenStream) -> TokenStream {
    let mut function = parse_macro_input!(input as ItemFn);
    guard(&mut function.sig, &mut function.block);
    quote!(#[::pyo3::pyfunction] #function).into()
}

/// Wraps the body in the guard. The function returns the result of the body, or `Ok` of it.
fn guard(signature: &mut Signature, body: &mut Block) {
    let returned: Type = match &signature.output {
        ReturnType::Default => parse_quote!(()),
        ReturnType::Type(_, returned) => (**returned).clone(),
    };
    let is_result =
        matches!(&returned, Type::Path(path) if path.path.segments.last().is_some_and(|last| last.ident == "PyResult"));
    let run = if is_result {
        quote!(crate::base::boundary::guarded(move || -> #returned #body))
    } else {
        signature.output = parse_quote!(-> ::pyo3::PyResult<#returned>);
        quote!(crate::base::boundary::guarded(move || ::core::result::Result::Ok((move || -> #returned #body)())))
    };
    *body = parse_quote!({ #run });
}
