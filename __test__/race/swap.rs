//! Swaps a directory for a symbolic link to a directory elsewhere, again and again, until its standard input ends.
//!
//! `swap WORKSPACE OUTSIDE SEED`: the directory is `WORKSPACE/door`. In turns it is exchanged with the link in one step,
//! and renamed aside with the link renamed into its place, so that at times there is nothing of that name. Each way is
//! used as fast as it goes, and in its next turn with each state lasting for a random time, up to what a mutation takes.
//!
//! At the end `door` is a directory again, and one line tells how often it became the link in each way:
//! `{"exchanges":N,"renames":N}`. Linux only.

#[cfg(target_os = "linux")]
fn main() {
    swapping::main();
}

#[cfg(not(target_os = "linux"))]
fn main() {
    eprintln!("swap: needs Linux");
    std::process::exit(1);
}

#[cfg(target_os = "linux")]
mod swapping {
    use std::io::{self, Read};
    use std::os::unix::fs::symlink;
    use std::path::{Path, PathBuf};
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::time::{Duration, Instant};
    use std::{env, fs, process, thread};

    use rustix::fs::{CWD, RenameFlags, renameat_with};
    use rustix::io::Errno;

    /// How long the swaps go on in one manner.
    const TURN: Duration = Duration::from_millis(20);

    pub fn main() {
        let arguments: Vec<String> = env::args().skip(1).collect();
        let [workspace, outside, seed] = arguments.as_slice() else {
            eprintln!("usage: swap WORKSPACE OUTSIDE SEED");
            process::exit(2);
        };
        let seed: u64 = seed.parse().expect("SEED is a whole number");
        let mut swapper = Swapper::new(Path::new(workspace), Path::new(outside), seed)
            .unwrap_or_else(|error| fail("cannot begin", &error));
        let over = end_of_input();
        let (mut exchanges, mut renames) = (0u64, 0u64);
        while !over.load(Ordering::Relaxed) {
            for dwelling in [false, true] {
                swapper.dwelling = dwelling;
                exchanges += turn(|| swapper.exchange());
                renames += turn(|| swapper.rename());
            }
        }
        println!("{{\"exchanges\":{exchanges},\"renames\":{renames}}}");
    }

    /// Swaps for one turn. Returns how often.
    fn turn(mut swap: impl FnMut() -> io::Result<()>) -> u64 {
        let end = Instant::now() + TURN;
        let mut swaps = 0;
        while Instant::now() < end {
            swap().unwrap_or_else(|error| fail("cannot swap", &error));
            swaps += 1;
        }
        swaps
    }

    fn fail(what: &str, error: &io::Error) -> ! {
        eprintln!("swap: {what}: {error}");
        process::exit(1)
    }

    /// Becomes true when whoever started this program closes its input or is gone.
    fn end_of_input() -> Arc<AtomicBool> {
        let over = Arc::new(AtomicBool::new(false));
        let told = Arc::clone(&over);
        thread::spawn(move || {
            let _ = io::stdin().read_to_end(&mut Vec::new());
            told.store(true, Ordering::Relaxed);
        });
        over
    }

    struct Swapper {
        door: PathBuf,
        /// Where the directory is while the link is in its place.
        aside: PathBuf,
        /// Where the link is while the directory is in its place.
        link: PathBuf,
        /// Where a directory goes that the writer made under the name meanwhile.
        litter: PathBuf,
        /// Whether each state lasts for a while.
        dwelling: bool,
        random: u64,
    }

    impl Swapper {
        fn new(workspace: &Path, outside: &Path, seed: u64) -> io::Result<Self> {
            let at = |name: &str| workspace.join(name);
            let swapper = Self {
                door: at("door"),
                aside: at("aside"),
                link: at("link"),
                litter: at("litter"),
                dwelling: false,
                random: seed | 1,
            };
            symlink(outside, &swapper.link)?;
            Ok(swapper)
        }

        fn exchange(&mut self) -> io::Result<()> {
            for _ in 0..2 {
                renameat_with(CWD, &self.door, CWD, &self.link, RenameFlags::EXCHANGE)?;
                self.dwell();
            }
            Ok(())
        }

        fn rename(&mut self) -> io::Result<()> {
            fs::rename(&self.door, &self.aside)?;
            self.dwell();
            self.put_back(&self.link)?;
            self.dwell();
            fs::rename(&self.door, &self.link)?;
            self.dwell();
            self.put_back(&self.aside)?;
            self.dwell();
            Ok(())
        }

        /// Renames something to the free name. A writer that misses its parents makes them, so the name may not be free.
        fn put_back(&self, from: &Path) -> io::Result<()> {
            while let Err(error) = renameat_with(CWD, from, CWD, &self.door, RenameFlags::NOREPLACE)
            {
                if error != Errno::EXIST {
                    return Err(error.into());
                }
                // The writer may have taken back what it made.
                if fs::rename(&self.door, &self.litter).is_ok() {
                    self.remove_litter();
                }
            }
            Ok(())
        }

        /// The writer may be busy in there, so that one attempt need not be enough.
        fn remove_litter(&self) {
            while fs::remove_dir_all(&self.litter).is_err() && self.litter.exists() {}
        }

        /// Stays in a state for a while: three times in four for at most 8 µs, else for at most 2 ms.
        fn dwell(&mut self) {
            if !self.dwelling {
                return;
            }
            let draw = self.draw();
            let most = if draw.is_multiple_of(4) {
                2_000_000
            } else {
                8_000
            };
            let end = Instant::now() + Duration::from_nanos((draw >> 8) % most);
            while Instant::now() < end {
                std::hint::spin_loop();
            }
        }

        /// The next pseudo-random number (xorshift).
        fn draw(&mut self) -> u64 {
            self.random ^= self.random << 13;
            self.random ^= self.random >> 7;
            self.random ^= self.random << 17;
            self.random
        }
    }
}
