//! Text over the boundary, in the cheapest form that its content allows.
//!
//! JavaScript strings come in as bytes if they are ASCII, else as UTF-16 units: either is a plain
//! copy in every supported engine, and the conversion runs on a worker thread. They go out one- or
//! two-byte, made on a worker thread; above a size the engine takes over the bytes instead of
//! copying them.

use std::ptr;

use napi::bindgen_prelude::{FromNapiValue, ToNapiValue, TypeName, ValidateNapiValue};
use napi::{Env, JsStringLatin1, JsStringUtf16, ValueType, check_status, sys};

use crate::memory;
use crate::text::Text;

/// Bytes from which a string is handed over rather than copied. Smaller ones are cheaper copied,
/// as each handed-over string costs a finalizer.
const HAND_OVER: usize = 1 << 20;

/// A text on its way to JavaScript.
pub enum JsText {
    /// Every character fits one byte (Latin-1).
    OneByte(Vec<u8>),
    /// UTF-16 units.
    TwoByte(Vec<u16>),
}

impl From<Text> for JsText {
    fn from(text: Text) -> Self {
        let bytes = text.as_bytes();
        if bytes.is_ascii() {
            return JsText::OneByte(text.into_bytes());
        }
        if encoding_rs::mem::is_utf8_latin1(bytes) {
            let mut latin1 = memory::zeroed(bytes.len());
            let length = encoding_rs::mem::convert_utf8_to_latin1_lossy(bytes, &mut latin1);
            latin1.truncate(length);
            return JsText::OneByte(latin1);
        }
        JsText::TwoByte(text.to_utf16())
    }
}

impl TypeName for JsText {
    fn type_name() -> &'static str {
        "string"
    }

    fn value_type() -> ValueType {
        ValueType::String
    }
}

impl ToNapiValue for JsText {
    // SAFETY: as the trait demands, called on the JavaScript thread of `env`.
    unsafe fn to_napi_value(env: sys::napi_env, text: Self) -> napi::Result<sys::napi_value> {
        let js = Env::from_raw(env);
        match text {
            JsText::OneByte(bytes) if bytes.len() >= HAND_OVER => {
                let (start, length, size) = (bytes.as_ptr(), bytes.len(), announce(&js, &bytes)?);
                // SAFETY: the memory of `bytes` lives until `release` has it; `env` is the
                // environment of this call, as the caller guarantees.
                unsafe {
                    let string =
                        JsStringLatin1::from_external(&js, start, length, bytes, release(size));
                    let string = string.inspect_err(|_| withdraw(&js, size))?;
                    ToNapiValue::to_napi_value(env, string.into_value())
                }
            }
            JsText::TwoByte(units) if units.len() * 2 >= HAND_OVER => {
                let (start, length, size) = (units.as_ptr(), units.len(), announce(&js, &units)?);
                // SAFETY: as above.
                unsafe {
                    let string =
                        JsStringUtf16::from_external(&js, start, length, units, release(size));
                    let string = string.inspect_err(|_| withdraw(&js, size))?;
                    ToNapiValue::to_napi_value(env, string.into_value())
                }
            }
            JsText::OneByte(bytes) => {
                let string = js.create_string_latin1(bytes)?;
                // SAFETY: as above.
                unsafe { ToNapiValue::to_napi_value(env, string) }
            }
            JsText::TwoByte(units) => {
                let string = js.create_string_utf16(units)?;
                // SAFETY: as above.
                unsafe { ToNapiValue::to_napi_value(env, string) }
            }
        }
    }
}

/// Tells the engine how much memory a string keeps that it does not see, so that it collects such
/// strings in time; the number of bytes.
fn announce<T>(env: &Env, memory: &Vec<T>) -> napi::Result<i64> {
    let size = i64::try_from(memory.capacity() * size_of::<T>()).unwrap_or(i64::MAX);
    env.adjust_external_memory(size)?;
    Ok(size)
}

/// Frees the memory of a string that was collected.
fn release<T>(size: i64) -> impl FnOnce(Env, Vec<T>) {
    move |env, memory| {
        drop(memory);
        withdraw(&env, size);
    }
}

fn withdraw(env: &Env, size: i64) {
    // Fails only where the environment ends, which ends the account as well.
    let _ = env.adjust_external_memory(-size);
}

/// A string that came from JavaScript. The engine does not tell how it keeps a string; one of ASCII
/// alone takes half the memory and no conversion.
pub enum JsString {
    /// ASCII.
    OneByte(Vec<u8>),
    /// UTF-16 units.
    TwoByte(Vec<u16>),
}

impl JsString {
    /// The text. May cost a pass over it: call it on a worker thread.
    pub fn into_text(self) -> Text {
        match self {
            JsString::OneByte(ascii) => Text::from_valid(ascii),
            JsString::TwoByte(units) => Text::from_utf16(&units),
        }
    }
}

impl TypeName for JsString {
    fn type_name() -> &'static str {
        "string"
    }

    fn value_type() -> ValueType {
        ValueType::String
    }
}

impl ValidateNapiValue for JsString {}

impl FromNapiValue for JsString {
    // SAFETY: as the trait demands, called on the JavaScript thread of `env` with one of its values.
    unsafe fn from_napi_value(env: sys::napi_env, value: sys::napi_value) -> napi::Result<Self> {
        // SAFETY: as above, for all of the block; the functions write no more than they are told
        // and say how much they wrote.
        unsafe {
            let length = length_of(env, value, sys::napi_get_value_string_utf16)?;
            if is_ascii(env, value, length)? {
                let ascii = copy_of(env, value, length, get_latin1)?;
                return Ok(JsString::OneByte(ascii));
            }
            let units = copy_of(env, value, length, sys::napi_get_value_string_utf16)?;
            Ok(JsString::TwoByte(units))
        }
    }
}

/// Units that are looked at before all of a string is: where they are not ASCII it is not.
const SAMPLE: usize = 1 << 10;

/// One of the functions that copy a string in one encoding.
type GetString<Unit> =
    unsafe fn(sys::napi_env, sys::napi_value, *mut Unit, usize, *mut usize) -> sys::napi_status;

/// Copies a string in Latin-1, as bytes.
///
/// # Safety
/// On the JavaScript thread of `env`, with one of its values; `buffer` has room for `size` bytes.
unsafe fn get_latin1(
    env: sys::napi_env,
    value: sys::napi_value,
    buffer: *mut u8,
    size: usize,
    written: *mut usize,
) -> sys::napi_status {
    // SAFETY: as the caller guarantees.
    unsafe { sys::napi_get_value_string_latin1(env, value, buffer.cast(), size, written) }
}

/// Whether a string of `length` UTF-16 units is nothing but ASCII.
///
/// # Safety
/// On the JavaScript thread of `env`, with one of its values.
unsafe fn is_ascii(
    env: sys::napi_env,
    value: sys::napi_value,
    length: usize,
) -> napi::Result<bool> {
    // SAFETY: as the caller guarantees.
    unsafe {
        let sample = copy_of(
            env,
            value,
            length.min(SAMPLE),
            sys::napi_get_value_string_utf16,
        )?;
        // Everything but ASCII takes more bytes in UTF-8 than it has units.
        Ok(sample.iter().all(|&unit| unit < 0x80)
            && (length <= SAMPLE
                || length_of(env, value, sys::napi_get_value_string_utf8)? == length))
    }
}

/// Number of units of a string in the encoding of `get`.
///
/// # Safety
/// On the JavaScript thread of `env`, with one of its values.
unsafe fn length_of<Unit>(
    env: sys::napi_env,
    value: sys::napi_value,
    get: GetString<Unit>,
) -> napi::Result<usize> {
    let mut length = 0;
    // SAFETY: as the caller guarantees; without a buffer only the length is asked for.
    let status = unsafe { get(env, value, ptr::null_mut(), 0, &mut length) };
    check_status!(status, "a string was expected")?;
    Ok(length)
}

/// The first `length` units of a string in the encoding of `get`.
///
/// # Safety
/// On the JavaScript thread of `env`, with one of its values.
unsafe fn copy_of<Unit>(
    env: sys::napi_env,
    value: sys::napi_value,
    length: usize,
    get: GetString<Unit>,
) -> napi::Result<Vec<Unit>> {
    // The engine ends what it writes with a zero.
    let mut units = memory::with_capacity(length + 1);
    let mut written = 0;
    // SAFETY: as the caller guarantees; the buffer has the length that is given, and what is
    // counted as written has been.
    unsafe {
        let status = get(env, value, units.as_mut_ptr(), length + 1, &mut written);
        check_status!(status, "a string was expected")?;
        units.set_len(written);
    }
    Ok(units)
}
