//! Stops chosen system calls of another program so that a test can act between two steps.
//!
//! `gate run PREFIX NAME[,NAME...] -- PROGRAM [ARG...]` starts PROGRAM under a seccomp filter.
//! Each call of a named system call that has a path below PREFIX is written as one line
//! (`name<TAB>path[<TAB>path]`) to descriptor 3, and waits for one line on descriptor 4:
//! `go` lets the kernel carry the call out, `fail N` makes it return errno N.
//! The exit status is that of PROGRAM.
//!
//! `gate setxattr PATH NAME VALUE` and `gate getxattr PATH NAME` are here because Node has no
//! call for extended attributes; the second prints the value or nothing.
//!
//! Linux only, 5.5 or later. It needs no privilege.

use std::ffi::{CString, c_char, c_int, c_long, c_void};
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::os::fd::{FromRawFd, RawFd};
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::{env, fs, mem, process, ptr};

unsafe extern "C" {
    fn fork() -> c_int;
    fn prctl(option: c_int, ...) -> c_int;
    fn syscall(number: c_long, ...) -> c_long;
    fn ioctl(fd: c_int, request: u64, ...) -> c_int;
    fn fcntl(fd: c_int, command: c_int, ...) -> c_int;
    fn poll(fds: *mut PollFd, count: u64, timeout: c_int) -> c_int;
    fn socketpair(domain: c_int, kind: c_int, protocol: c_int, fds: *mut c_int) -> c_int;
    fn sendmsg(fd: c_int, message: *const Message, flags: c_int) -> isize;
    fn recvmsg(fd: c_int, message: *mut Message, flags: c_int) -> isize;
    fn execvp(file: *const c_char, arguments: *const *const c_char) -> c_int;
    fn waitpid(pid: c_int, status: *mut c_int, options: c_int) -> c_int;
    fn close(fd: c_int) -> c_int;
    fn setxattr(
        path: *const c_char,
        name: *const c_char,
        value: *const c_void,
        size: usize,
        flags: c_int,
    ) -> c_int;
    fn getxattr(path: *const c_char, name: *const c_char, value: *mut c_void, size: usize)
    -> isize;
}

/// A system call: its name, its number here, and which arguments are (directory, path).
/// `None` as directory means that the path is taken from the working directory.
struct Call {
    name: &'static str,
    number: u32,
    paths: &'static [(Option<usize>, usize)],
}

const fn call(name: &'static str, number: u32, paths: &'static [(Option<usize>, usize)]) -> Call {
    Call {
        name,
        number,
        paths,
    }
}

#[cfg(target_arch = "x86_64")]
const AUDIT_ARCH: u32 = 0xc000_003e;
#[cfg(target_arch = "x86_64")]
const SECCOMP: c_long = 317;
#[cfg(target_arch = "x86_64")]
const CALLS: &[Call] = &[
    call("open", 2, &[(None, 0)]),
    call("open", 257, &[(Some(0), 1)]),
    call("open", 437, &[(Some(0), 1)]),
    call("rename", 82, &[(None, 0), (None, 1)]),
    call("rename", 264, &[(Some(0), 1), (Some(2), 3)]),
    call("rename", 316, &[(Some(0), 1), (Some(2), 3)]),
    call("link", 86, &[(None, 0), (None, 1)]),
    call("link", 265, &[(Some(0), 1), (Some(2), 3)]),
    call("unlink", 87, &[(None, 0)]),
    call("unlink", 263, &[(Some(0), 1)]),
    call("rmdir", 84, &[(None, 0)]),
    call("mkdir", 83, &[(None, 0)]),
    call("mkdir", 258, &[(Some(0), 1)]),
];

#[cfg(target_arch = "aarch64")]
const AUDIT_ARCH: u32 = 0xc000_00b7;
#[cfg(target_arch = "aarch64")]
const SECCOMP: c_long = 277;
#[cfg(target_arch = "aarch64")]
const CALLS: &[Call] = &[
    call("open", 56, &[(Some(0), 1)]),
    call("open", 437, &[(Some(0), 1)]),
    call("rename", 38, &[(Some(0), 1), (Some(2), 3)]),
    call("rename", 276, &[(Some(0), 1), (Some(2), 3)]),
    call("link", 37, &[(Some(0), 1), (Some(2), 3)]),
    call("unlink", 35, &[(Some(0), 1)]),
    call("mkdir", 34, &[(Some(0), 1)]),
];

#[repr(C)]
struct Instruction {
    code: u16,
    if_true: u8,
    if_false: u8,
    value: u32,
}

#[repr(C)]
struct Program {
    length: u16,
    instructions: *const Instruction,
}

#[repr(C)]
struct PollFd {
    fd: c_int,
    events: i16,
    revents: i16,
}

#[repr(C)]
struct Buffer {
    base: *mut c_void,
    length: usize,
}

#[repr(C)]
struct Message {
    name: *mut c_void,
    name_length: u32,
    buffers: *mut Buffer,
    buffer_count: usize,
    control: *mut c_void,
    control_length: usize,
    flags: c_int,
}

/// The control part of a message that carries one descriptor, padded as the kernel wants it.
#[repr(C, align(8))]
struct OneDescriptor {
    length: usize,
    level: c_int,
    kind: c_int,
    fd: c_int,
    padding: c_int,
}

/// What the kernel tells about a stopped call (`struct seccomp_notif`).
#[repr(C)]
#[derive(Default)]
struct Notice {
    id: u64,
    thread: u32,
    flags: u32,
    number: i32,
    arch: u32,
    instruction: u64,
    arguments: [u64; 6],
}

/// What the kernel is told to do with it (`struct seccomp_notif_resp`).
#[repr(C)]
struct Verdict {
    id: u64,
    value: i64,
    error: i32,
    flags: u32,
}

const NOTICE_RECEIVE: u64 = 0xc050_2100;
const VERDICT_SEND: u64 = 0xc018_2101;
const CONTINUE: u32 = 1;
const EVENTS: RawFd = 3;
const REPLIES: RawFd = 4;
const AT_FDCWD: i32 = -100;

fn main() {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["run", prefix, names, "--", program @ ..] if !program.is_empty() => {
            run(prefix, names, program)
        }
        ["setxattr", path, name, value] => set_attribute(path, name, value),
        ["getxattr", path, name] => print_attribute(path, name),
        _ => fail(
            "usage: gate run PREFIX NAME[,NAME...] -- PROGRAM [ARG...] | setxattr PATH NAME VALUE | getxattr PATH NAME",
        ),
    }
}

fn fail(text: &str) -> ! {
    eprintln!("gate: {text}: {}", std::io::Error::last_os_error());
    process::exit(125)
}

fn text(value: &str) -> CString {
    CString::new(value).unwrap_or_else(|_| fail("NUL in an argument"))
}

fn run(prefix: &str, names: &str, program: &[&str]) {
    let names: Vec<&str> = names.split(',').collect();
    let calls: Vec<&Call> = CALLS
        .iter()
        .filter(|call| names.contains(&call.name))
        .collect();
    let arguments: Vec<CString> = program.iter().map(|word| text(word)).collect();
    let mut pointers: Vec<*const c_char> = arguments.iter().map(|word| word.as_ptr()).collect();
    pointers.push(ptr::null());
    let filter = filter(&calls);
    let mut pair = [0; 2];
    // SAFETY: plain system calls on values that live until the end of this function.
    unsafe {
        // The program must hold neither end of the conversation with the test (2 = F_SETFD).
        fcntl(EVENTS, 2, 1);
        fcntl(REPLIES, 2, 1);
        // 1 = AF_UNIX; SOCK_STREAM | SOCK_CLOEXEC.
        if socketpair(1, 0o2_000_000 | 1, 0, pair.as_mut_ptr()) != 0 {
            fail("socketpair");
        }
        match fork() {
            -1 => fail("fork"),
            0 => {
                send_descriptor(pair[1], install(&filter));
                execvp(pointers[0], pointers.as_ptr());
                fail("exec")
            }
            child => {
                close(pair[1]);
                supervise(receive_descriptor(pair[0]), prefix, &calls);
                let mut status = 0;
                waitpid(child, &mut status, 0);
                process::exit(if status & 0x7f == 0 {
                    (status >> 8) & 0xff
                } else {
                    128 + (status & 0x7f)
                })
            }
        }
    }
}

/// The filter: other architectures and all calls not asked for pass.
fn filter(calls: &[&Call]) -> Vec<Instruction> {
    const LOAD: u16 = 0x20;
    const JUMP_IF_EQUAL: u16 = 0x15;
    const RETURN: u16 = 0x06;
    const ALLOW: u32 = 0x7fff_0000;
    const NOTIFY: u32 = 0x7fc0_0000;
    let step = |code, if_true, if_false, value| Instruction {
        code,
        if_true,
        if_false,
        value,
    };
    let mut steps = vec![
        step(LOAD, 0, 0, 4),
        step(JUMP_IF_EQUAL, 1, 0, AUDIT_ARCH),
        step(RETURN, 0, 0, ALLOW),
        step(LOAD, 0, 0, 0),
    ];
    for call in calls {
        steps.push(step(JUMP_IF_EQUAL, 0, 1, call.number));
        steps.push(step(RETURN, 0, 0, NOTIFY));
    }
    steps.push(step(RETURN, 0, 0, ALLOW));
    steps
}

/// Puts this process under the filter and returns the descriptor that hears of stopped calls.
unsafe fn install(filter: &[Instruction]) -> RawFd {
    let program = Program {
        length: filter.len() as u16,
        instructions: filter.as_ptr(),
    };
    // SAFETY: the kernel copies the program. 38 = PR_SET_NO_NEW_PRIVS; mode 1 = filter,
    // flag 8 = new listener.
    unsafe {
        if prctl(38, 1 as c_long, 0 as c_long, 0 as c_long, 0 as c_long) != 0 {
            fail("no_new_privs");
        }
        let listener = syscall(
            SECCOMP,
            1 as c_long,
            8 as c_long,
            &program as *const Program,
        );
        if listener < 0 {
            fail("seccomp filter with a listener");
        }
        listener as RawFd
    }
}

unsafe fn send_descriptor(socket: RawFd, fd: RawFd) {
    let mut byte = 0u8;
    let mut buffer = Buffer {
        base: (&raw mut byte).cast(),
        length: 1,
    };
    let mut control = OneDescriptor {
        length: 20,
        level: 1,
        kind: 1,
        fd,
        padding: 0,
    };
    let message = message(&mut buffer, &mut control);
    // SAFETY: everything the message points to is alive.
    if unsafe { sendmsg(socket, &message, 0) } != 1 {
        fail("sendmsg");
    }
}

unsafe fn receive_descriptor(socket: RawFd) -> RawFd {
    let mut byte = 0u8;
    let mut buffer = Buffer {
        base: (&raw mut byte).cast(),
        length: 1,
    };
    let mut control = OneDescriptor {
        length: 0,
        level: 0,
        kind: 0,
        fd: -1,
        padding: 0,
    };
    let mut message = message(&mut buffer, &mut control);
    // SAFETY: everything the message points to is alive.
    if unsafe { recvmsg(socket, &mut message, 0) } != 1 {
        process::exit(125); // the child has said why
    }
    control.fd
}

fn message(buffer: &mut Buffer, control: &mut OneDescriptor) -> Message {
    Message {
        name: ptr::null_mut(),
        name_length: 0,
        buffers: buffer,
        buffer_count: 1,
        control: (control as *mut OneDescriptor).cast(),
        control_length: mem::size_of::<OneDescriptor>(),
        flags: 0,
    }
}

/// Answers stopped calls until no process is left under the filter.
fn supervise(listener: RawFd, prefix: &str, calls: &[&Call]) {
    // SAFETY: the test hands over these two descriptors, nobody else here uses them.
    let (mut events, replies) = unsafe { (File::from_raw_fd(EVENTS), File::from_raw_fd(REPLIES)) };
    let mut replies = BufReader::new(replies).lines();
    loop {
        let mut wait = PollFd {
            fd: listener,
            events: 1,
            revents: 0,
        };
        // SAFETY: one entry, alive.
        unsafe { poll(&mut wait, 1, -1) };
        if wait.revents & 1 == 0 {
            if wait.revents == 0 {
                continue;
            }
            return;
        }
        let mut notice = Notice::default();
        // SAFETY: the size of the notice is part of the request number.
        if unsafe { ioctl(listener, NOTICE_RECEIVE, &raw mut notice) } != 0 {
            continue; // the caller died or was interrupted in the meantime
        }
        let mut verdict = Verdict {
            id: notice.id,
            value: 0,
            error: 0,
            flags: CONTINUE,
        };
        if let Some(line) = describe(&notice, prefix, calls) {
            // A test that is gone lets everything pass.
            let asked = writeln!(events, "{line}").is_ok();
            let reply = if asked {
                replies.next().and_then(Result::ok)
            } else {
                None
            };
            if let Some(errno) = reply
                .as_deref()
                .and_then(|reply| reply.strip_prefix("fail "))
            {
                verdict.flags = 0;
                verdict.error = -errno.parse::<i32>().unwrap_or_else(|_| fail("bad reply"));
            }
        }
        // SAFETY: as above. A caller that is gone makes this fail, which changes nothing.
        unsafe { ioctl(listener, VERDICT_SEND, &raw mut verdict) };
    }
}

/// The line for the test, or nothing when no path of the call lies below the prefix.
fn describe(notice: &Notice, prefix: &str, calls: &[&Call]) -> Option<String> {
    let call = calls
        .iter()
        .find(|call| call.number == notice.number as u32)?;
    let paths: Vec<String> = call
        .paths
        .iter()
        .map(|&(at, path)| read_path(notice, at, path))
        .collect();
    paths
        .iter()
        .any(|path| path.starts_with(prefix))
        .then(|| format!("{}\t{}", call.name, paths.join("\t")))
}

/// An argument that is a path, made absolute with the caller's directory.
fn read_path(notice: &Notice, at: Option<usize>, path: usize) -> String {
    let process = format!("/proc/{}", notice.thread);
    let mut bytes = Vec::new();
    let mut byte = [0u8; 1];
    if let Ok(memory) = File::open(format!("{process}/mem")) {
        let mut address = notice.arguments[path];
        while bytes.len() < 4096
            && memory
                .read_at(&mut byte, address)
                .is_ok_and(|count| count == 1)
            && byte[0] != 0
        {
            bytes.push(byte[0]);
            address += 1;
        }
    }
    let path = String::from_utf8_lossy(&bytes).into_owned();
    let directory = match at.map(|at| notice.arguments[at] as i32) {
        None | Some(AT_FDCWD) => fs::read_link(format!("{process}/cwd")),
        Some(fd) => fs::read_link(format!("{process}/fd/{fd}")),
    };
    directory
        .unwrap_or_else(|_| PathBuf::from("?"))
        .join(path)
        .to_string_lossy()
        .into_owned()
}

fn set_attribute(path: &str, name: &str, value: &str) {
    let (path, name) = (text(path), text(name));
    // SAFETY: C strings and a slice with its length.
    if unsafe {
        setxattr(
            path.as_ptr(),
            name.as_ptr(),
            value.as_ptr().cast(),
            value.len(),
            0,
        )
    } != 0
    {
        fail("setxattr");
    }
}

fn print_attribute(path: &str, name: &str) {
    let (path, name) = (text(path), text(name));
    let mut value = [0u8; 4096];
    // SAFETY: C strings and a buffer with its length.
    let size = unsafe {
        getxattr(
            path.as_ptr(),
            name.as_ptr(),
            value.as_mut_ptr().cast(),
            value.len(),
        )
    };
    match usize::try_from(size) {
        Ok(size) => print!("{}", String::from_utf8_lossy(&value[..size])),
        // 61 = ENODATA: the file has no such attribute.
        Err(_) if std::io::Error::last_os_error().raw_os_error() == Some(61) => {}
        Err(_) => fail("getxattr"),
    }
}
