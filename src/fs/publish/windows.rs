//! The steps of a publication that differ on Windows: access control lists instead of modes, and
//! a replacement that keeps the list of the replaced file.
//!
//! Contract: provider §11 (Windows).

use std::fs::File;
use std::io;
use std::os::windows::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::ptr;

use super::Staged;
use crate::fs::directory::Status;
use windows_sys::Win32::Foundation::{
    ERROR_FILE_NOT_FOUND, ERROR_PATH_NOT_FOUND, ERROR_SUCCESS, LocalFree,
};
use windows_sys::Win32::Security::Authorization::{
    GetNamedSecurityInfoW, SE_FILE_OBJECT, SetNamedSecurityInfoW,
};
use windows_sys::Win32::Security::{
    ACL, DACL_SECURITY_INFORMATION, PROTECTED_DACL_SECURITY_INFORMATION, PSECURITY_DESCRIPTOR,
};
use windows_sys::Win32::Storage::FileSystem::ReplaceFileW;

/// Makes the staged file, which must not exist. While it is still empty it gets the access
/// control list of the file that it will replace, so that the content is never open to more.
pub(super) fn create_file(staged: &Staged<'_>, replaces: bool) -> io::Result<File> {
    let file = staged.staging.create_file(staged.file_name)?;
    if replaces {
        let (from, to) = (key_of(staged), staged.staging.path_of(staged.file_name));
        copy_access_list(&from, &to)?;
    }
    Ok(file)
}

/// Nothing to do: there is no mode.
pub(super) fn restore_mode(_file: &File, _replaced: &Status) -> io::Result<()> {
    Ok(())
}

/// Gives the staged file the name of the target; if the file that had it has gone, as a new file.
pub(super) fn replace(staged: &Staged<'_>, existed: bool) -> io::Result<()> {
    let rename = || {
        let Staged { parent, name, .. } = staged;
        staged.staging.rename(staged.file_name, parent, name)
    };
    if !existed {
        return rename();
    }
    let from = staged.staging.path_of(staged.file_name);
    match replace_file(&from, &key_of(staged)) {
        Err(error) if is_gone(&error) => rename(),
        result => result,
    }
}

fn key_of(staged: &Staged<'_>) -> PathBuf {
    staged.parent.path_of(staged.name)
}

fn is_gone(error: &io::Error) -> bool {
    let gone = [ERROR_FILE_NOT_FOUND, ERROR_PATH_NOT_FOUND];
    error
        .raw_os_error()
        .is_some_and(|code| gone.contains(&code.cast_unsigned()))
}

fn replace_file(staged: &Path, key: &Path) -> io::Result<()> {
    let (key, staged) = (wide(key), wide(staged));
    // SAFETY: both paths end in NUL and outlive the call; the other pointers may be null.
    let done = unsafe {
        ReplaceFileW(
            key.as_ptr(),
            staged.as_ptr(),
            ptr::null(),
            0,
            ptr::null(),
            ptr::null(),
        )
    };
    if done == 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(())
    }
}

/// Gives `to` the discretionary list of `from`, protected from what its directory would add.
fn copy_access_list(from: &Path, to: &Path) -> io::Result<()> {
    let (from, to) = (wide(from), wide(to));
    let mut list: *mut ACL = ptr::null_mut();
    let mut descriptor: PSECURITY_DESCRIPTOR = ptr::null_mut();
    // SAFETY: the path ends in NUL; `list` points into `descriptor`, which lives until it is freed
    // below.
    let read = unsafe {
        GetNamedSecurityInfoW(
            from.as_ptr(),
            SE_FILE_OBJECT,
            DACL_SECURITY_INFORMATION,
            ptr::null_mut(),
            ptr::null_mut(),
            &mut list,
            ptr::null_mut(),
            &mut descriptor,
        )
    };
    check(read)?;
    // SAFETY: the path ends in NUL, `list` is still valid; owner, group and audit list are not set.
    let written = unsafe {
        SetNamedSecurityInfoW(
            to.as_ptr(),
            SE_FILE_OBJECT,
            DACL_SECURITY_INFORMATION | PROTECTED_DACL_SECURITY_INFORMATION,
            ptr::null_mut(),
            ptr::null_mut(),
            list,
            ptr::null(),
        )
    };
    // SAFETY: the system allocated the descriptor for us with LocalAlloc; nothing uses it any more.
    unsafe { LocalFree(descriptor) };
    check(written)
}

fn check(code: u32) -> io::Result<()> {
    if code == ERROR_SUCCESS {
        Ok(())
    } else {
        Err(io::Error::from_raw_os_error(code.cast_signed()))
    }
}

/// The path in its long form, with NUL at its end.
fn wide(path: &Path) -> Vec<u16> {
    // Keys are canonical, hence in the long form `\\?\` where the system gave them so.
    path.as_os_str().encode_wide().chain([0]).collect()
}
