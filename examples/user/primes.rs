// SPDX-License-Identifier: GPL-2.0-only OR MIT
//! A Rust program with events of its own, by libfkt-user.so (fkt/user_library.h): threads look for primes.
//!
//!     rustc -O primes.rs -o primes          (-L FOLDER where libfkt-user.so is not installed)
//!     fkt_record --user-only ./primes 4 100000 && fkt_print
//!
//! primes THREADS LIMIT: prints how many primes are below LIMIT. Each is an event, in its thread's span.
use std::ffi::CString;
use std::os::raw::{c_char, c_uint, c_void};
use std::sync::Arc;
use std::thread;

#[link(name = "fkt-user")]
extern "C" {
    fn fkt_library_event(kind: *const c_char, name: *const c_char, fields: *const c_char) -> *mut c_void;
    fn fkt_library_write(event: *mut c_void, values: *const i64);
    fn fkt_library_end(event: *mut c_void);
    fn fkt_library_probe(code: u32, count: c_uint, values: *const i64);
}

/// An event with a name. It is made once, and never freed; any thread may write it.
struct Event(*mut c_void);
unsafe impl Send for Event {}
unsafe impl Sync for Event {}

impl Event {
    /// fields: "key:u64 path:text". Panics if kind or fields make no sense.
    fn new(kind: &str, name: &str, fields: &str) -> Event {
        let [kind, name, fields] = [kind, name, fields].map(|text| CString::new(text).unwrap());
        let event = unsafe { fkt_library_event(kind.as_ptr(), name.as_ptr(), fields.as_ptr()) };
        assert!(!event.is_null());
        Event(event)
    }

    /// N: as many as the event has fields.
    fn write<const N: usize>(&self, values: [i64; N]) {
        unsafe { fkt_library_write(self.0, values.as_ptr()) }
    }
}

/// A span, until it is dropped.
struct Scope<'a>(&'a Event);

impl<'a> Scope<'a> {
    fn new<const N: usize>(span: &'a Event, values: [i64; N]) -> Scope<'a> {
        span.write(values);
        Scope(span)
    }
}

impl Drop for Scope<'_> {
    fn drop(&mut self) {
        unsafe { fkt_library_end(self.0 .0) }
    }
}

fn is_prime(number: u64) -> bool {
    number > 1 && (2..).take_while(|d| d * d <= number).all(|d| number % d != 0)
}

fn main() {
    let mut arguments = std::env::args().skip(1).map(|text| text.parse::<u64>().expect("a number"));
    let threads = arguments.next().unwrap_or(2).max(1);
    let limit = arguments.next().unwrap_or(1000);
    let search = Arc::new(Event::new("span", "search", "from:u64 step:u32"));
    let prime = Arc::new(Event::new("point", "prime", "number:u64"));
    let workers: Vec<_> = (0..threads)
        .map(|first| {
            let (search, prime) = (search.clone(), prime.clone());
            thread::spawn(move || {
                let _scope = Scope::new(&search, [first as i64, threads as i64]);
                let mut found = 0;
                for number in (first..limit).step_by(threads as usize).filter(|n| is_prime(*n)) {
                    prime.write([number as i64]);
                    found += 1;
                }
                found
            })
        })
        .collect();
    let found: i64 = workers.into_iter().map(|worker| worker.join().unwrap()).sum();
    unsafe { fkt_library_probe(0x30, 1, [found].as_ptr()) };
    println!("{found}");
}
