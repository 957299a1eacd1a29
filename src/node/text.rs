//! Text over the boundary, in the cheapest form that its content allows.
//!
//! JavaScript strings come in as UTF-16 units: that is a plain copy in every supported engine, and
//! the conversion runs on a worker thread. They go out one- or two-byte, made on a worker thread;
//! above a size the engine takes over the bytes instead of copying them.

use napi::bindgen_prelude::{ToNapiValue, TypeName, Utf16String};
use napi::{Env, JsStringLatin1, JsStringUtf16, ValueType, sys};

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
            let mut latin1 = vec![0; bytes.len()];
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
                let string = JsStringLatin1::from_data(&js, bytes)?.into_value();
                // SAFETY: `env` is the environment of this call, as the caller guarantees.
                unsafe { ToNapiValue::to_napi_value(env, string) }
            }
            JsText::TwoByte(units) if units.len() * 2 >= HAND_OVER => {
                let string = JsStringUtf16::from_data(&js, units)?.into_value();
                // SAFETY: as above.
                unsafe { ToNapiValue::to_napi_value(env, string) }
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

/// The text of a JavaScript string. Costs a pass over it: call it on a worker thread.
pub fn text_of(string: &Utf16String) -> Text {
    Text::from_utf16(string)
}
