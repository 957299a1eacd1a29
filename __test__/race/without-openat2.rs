//! Runs a program as on a kernel that does not know the system call `openat2`.
//!
//! `without-openat2 PROGRAM [ARG...]` answers `ENOSYS` to that call of PROGRAM and of all that it starts, and becomes it.
//! `without-openat2 --probe` puts itself under the same filter and exits with 0 if the call works before and is answered
//! with `ENOSYS` after. Linux only; it needs no privilege.

#[cfg(target_os = "linux")]
fn main() {
    refusing::main();
}

#[cfg(not(target_os = "linux"))]
fn main() {
    eprintln!("without-openat2: needs Linux");
    std::process::exit(1);
}

#[cfg(target_os = "linux")]
mod refusing {
    use std::os::unix::process::CommandExt;
    use std::process::{Command, exit};
    use std::{env, io, mem};

    use libc::{c_ulong, sock_filter, sock_fprog};
    use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat2};
    use rustix::io::Errno;

    pub fn main() {
        let arguments: Vec<_> = env::args_os().skip(1).collect();
        match arguments.as_slice() {
            [] => fail("usage: without-openat2 PROGRAM [ARG...] | --probe"),
            [only] if only == "--probe" => probe(),
            [program, rest @ ..] => {
                refuse().unwrap_or_else(|error| fail(&format!("no filter: {error}")));
                let error = Command::new(program).args(rest).exec();
                fail(&format!("cannot start {}: {error}", program.display()))
            }
        }
    }

    fn fail(text: &str) -> ! {
        eprintln!("without-openat2: {text}");
        exit(125)
    }

    fn probe() {
        if let Err(error) = call() {
            fail(&format!("openat2 does not work here: {error}"));
        }
        refuse().unwrap_or_else(|error| fail(&format!("no filter: {error}")));
        match call() {
            Err(Errno::NOSYS) => {}
            other => fail(&format!("under the filter openat2 answers {other:?}")),
        }
    }

    fn call() -> Result<(), Errno> {
        openat2(CWD, ".", OFlags::PATH, Mode::empty(), ResolveFlags::BENEATH).map(drop)
    }

    /// Puts this process and all that it becomes or starts under the filter.
    fn refuse() -> io::Result<()> {
        rustix::thread::set_no_new_privs(true)?;
        let filter = filter();
        let program = sock_fprog {
            len: filter.len() as u16,
            filter: filter.as_ptr().cast_mut(),
        };
        let mode = c_ulong::from(libc::SECCOMP_MODE_FILTER);
        // SAFETY: the kernel copies the program, which is alive, and writes nothing.
        match unsafe { libc::prctl(libc::PR_SET_SECCOMP, mode, &raw const program) } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }

    /// Loads the number of the system call, answers `ENOSYS` if it is that of `openat2` and lets all others pass. The
    /// number is the same on every architecture, so that the filter need not look at it.
    fn filter() -> [sock_filter; 4] {
        let step = |code: u32, value: u32, if_false: u8| sock_filter {
            code: code as u16,
            jt: 0,
            jf: if_false,
            k: value,
        };
        let number = mem::offset_of!(libc::seccomp_data, nr) as u32;
        let refused = libc::SECCOMP_RET_ERRNO | libc::ENOSYS as u32;
        [
            step(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, number, 0),
            step(
                libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K,
                libc::SYS_openat2 as u32,
                1,
            ),
            step(libc::BPF_RET | libc::BPF_K, refused, 0),
            step(libc::BPF_RET | libc::BPF_K, libc::SECCOMP_RET_ALLOW, 0),
        ]
    }
}
