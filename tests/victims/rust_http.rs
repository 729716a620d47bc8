// SPDX-License-Identifier: MIT
//! rust_http [REQUESTS]: a server of HTTP with a pool of threads, and its clients, with
//! nothing but Rust's standard library. Some requests panic, in every way there is: is
//! each call left as the server itself has counted, and each value dropped?
//!
//! With REQUESTS it answers so many, and then says of each function of its own
//!
//!     made FUNCTION CALLS LEFT    LEFT: of them, without a return
//!     cause WHAT COUNT            why, for what the standard library does for us
//!
//! Without, it obeys the commands of victim.h, and answers all the time, but for
//!
//!     hold            -> held         all clients wait, after their last answers
//!     go              -> going
//!     forbid LO HI    -> forbidden    these bytes may not be read or run any more
//!
//! Where a panic
//! ends the process (panic=abort) no request does, but a last one at the very end.
use std::any::Any;
use std::cell::RefCell;
use std::collections::HashMap;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::panic::{self, AssertUnwindSafe};
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::sync::{mpsc, Arc, Condvar, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;

const WORKERS: usize = 4;
const CLIENTS: u64 = 3;
const DEEP: u64 = 6;

/// What a request's number tells to do: from PANIC on they fail, DIE with its thread.
const KINDS: u64 = 16;
const PANIC: u64 = 10;
const INDEX: u64 = 11;
const UNWRAP: u64 = 12;
const ANY: u64 = 13;
const RESUME: u64 = 14;
const DIE: u64 = 15;

const ZERO: AtomicU64 = AtomicU64::new(0);

/// The functions that are counted.
#[derive(Clone, Copy)]
enum Of {
    Accept, Work, Serve, Route, Parse, Descend, Burst, Release, Answer,
    Ask, Client, Judge, Settle, Order, Again, Square,
}

const NAMES: [&str; 16] = [
    "accept", "work", "serve", "route", "parse", "descend", "burst", "release", "answer",
    "ask", "client", "judge", "settle", "order", "again", "square",
];
static MADE: [AtomicU64; NAMES.len()] = [ZERO; NAMES.len()];
static LEFT: [AtomicU64; NAMES.len()] = [ZERO; NAMES.len()];
static CAUSES: [AtomicU64; KINDS as usize] = [ZERO; KINDS as usize];
static GUARDS: AtomicU64 = ZERO;
static HOOKED: AtomicU64 = ZERO;
static THREADS: AtomicU64 = ZERO;
static PROGRESS: AtomicU64 = ZERO;
static ERRORS: AtomicU64 = ZERO;

/// Are clients to wait, and how many do?
static HELD: Mutex<(bool, u64)> = Mutex::new((false, 0));
static CHANGED: Condvar = Condvar::new();

extern "C" {
    fn mprotect(start: usize, size: usize, rights: i32) -> i32;
}

fn count(f: Of, left: bool) {
    MADE[f as usize].fetch_add(1, SeqCst);
    LEFT[f as usize].fetch_add(left as u64, SeqCst);
}

fn say(line: String) {
    io::stdout().write_all((line + "\n").as_bytes()).unwrap();
}

fn wrong(what: &str) {
    ERRORS.fetch_add(1, SeqCst);
    say(format!("WRONG {}", what));
}

/// Does this request leave functions by a panic?
fn leaves(n: u64) -> bool {
    !cfg!(panic = "abort") && n % KINDS >= PANIC
}

fn is_lost(n: u64) -> bool {
    leaves(n) && n % KINDS == DIE
}

/// What is to be dropped, however its function is left.
struct Guard(u64);

impl Guard {
    fn new(n: u64) -> Guard {
        GUARDS.fetch_add(1, SeqCst);
        Guard(n)
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        release(self.0);
    }
}

#[inline(never)]
fn release(n: u64) {
    count(Of::Release, false);
    TALLY.with(|t| t.borrow_mut().released += n | 1);
    GUARDS.fetch_sub(1, SeqCst);
}

/// Of each thread; it is dropped when its thread ends, by a panic or not.
struct Tally {
    released: u64,
}

thread_local!(static TALLY: RefCell<Tally> = RefCell::new(Tally { released: 0 }));

impl Drop for Tally {
    fn drop(&mut self) {
        settle(self);
    }
}

#[inline(never)]
fn settle(t: &mut Tally) {
    count(Of::Settle, false);
    t.released = 0;
}

/// The innermost call: it returns, or panics.
#[inline(never)]
fn burst(n: u64) -> u64 {
    count(Of::Burst, leaves(n));
    let mut v: Vec<u64> = (0..n % 9 + 3).map(|i| i * 7919 % 101 ^ n).collect();
    v.sort_by(|a, b| order(a, b));
    if leaves(n) {
        CAUSES[(n % KINDS) as usize].fetch_add(1, SeqCst);
        match n % KINDS {
            INDEX => return v[n as usize + 99],
            UNWRAP => return *v.iter().find(|x| **x == u64::MAX).unwrap(),
            ANY => panic::panic_any(n),
            RESUME => panic::resume_unwind(Box::new(n)),
            _ => panic!("request {}", n),
        }
    }
    v.iter().fold(n, |sum, x| sum.wrapping_mul(31) ^ x)
}

#[inline(never)]
fn order(a: &u64, b: &u64) -> std::cmp::Ordering {
    count(Of::Order, false);
    a.cmp(b)
}

#[inline(never)]
fn descend(n: u64, depth: u64) -> u64 {
    count(Of::Descend, leaves(n));
    let guard = Guard::new(n ^ depth);
    let below = if depth == 0 { burst(n) } else { descend(n, depth - 1) };
    below.wrapping_add(guard.0)
}

/// A call whose function is not known beforehand.
trait Shape {
    fn shape(&self, x: u64) -> u64;
}

struct Square;
struct Round(u64);

#[inline(never)]
fn square(x: u64) -> u64 {
    count(Of::Square, false);
    x.wrapping_mul(x)
}

impl Shape for Square {
    fn shape(&self, x: u64) -> u64 {
        square(x)
    }
}

impl Shape for Round {
    #[inline(never)]
    fn shape(&self, x: u64) -> u64 {
        x.rotate_left(self.0 as u32 % 64)
    }
}

/// A panic on its way is caught, looked at, and let go on.
#[inline(never)]
fn again(n: u64) -> u64 {
    count(Of::Again, leaves(n));
    let _guard = Guard::new(n);
    match panic::catch_unwind(|| descend(n, n % DEEP)) {
        Ok(x) => x,
        Err(payload) => panic::resume_unwind(payload),
    }
}

#[inline(never)]
fn route(n: u64) -> u64 {
    count(Of::Route, leaves(n));
    let shapes: [Box<dyn Shape>; 2] = [Box::new(Square), Box::new(Round(n))];
    let x = if n % 3 == 0 { again(n) } else { descend(n, n % DEEP) };
    shapes.iter().fold(x, |x, s| s.shape(x))
}

/// Of `GET /N HTTP/1.0` and the headers behind it.
#[inline(never)]
fn parse(stream: &TcpStream) -> Option<u64> {
    count(Of::Parse, false);
    let mut lines = BufReader::with_capacity(128, stream).lines();
    let first = lines.next()?.ok()?;
    let mut headers = HashMap::new();
    for line in lines {
        let line = line.ok()?;
        match line.split_once(": ") {
            Some((k, v)) => headers.insert(k.to_lowercase(), v.to_string()),
            None => break,
        };
    }
    let n = first.split(' ').nth(1)?.strip_prefix('/')?.parse().ok()?;
    if headers.get("x-again") != Some(&format!("{:x}", n)) {
        wrong("a header");
    }
    Some(n)
}

#[inline(never)]
fn answer(stream: &mut TcpStream, status: u64, body: String) {
    count(Of::Answer, false);
    let text = format!("HTTP/1.0 {} x\r\nContent-Length: {}\r\n\r\n{}", status, body.len(), body);
    stream.write_all(text.as_bytes()).unwrap_or_else(|_| wrong("write"));
}

/// Is this what the request has thrown?
fn is_own(payload: &Box<dyn Any + Send>, n: u64) -> bool {
    match n % KINDS {
        ANY | RESUME => payload.downcast_ref::<u64>() == Some(&n),
        PANIC => payload.downcast_ref::<String>() == Some(&format!("request {}", n)),
        _ => payload.is::<String>() || payload.is::<&str>(),
    }
}

#[inline(never)]
fn serve(mut stream: TcpStream) {
    let n = parse(&stream).unwrap_or_else(|| {
        wrong("a request");
        0
    });
    count(Of::Serve, is_lost(n));
    if is_lost(n) {
        let _guard = Guard::new(n);
        answer(&mut stream, 200, route(n).to_string());
        return;
    }
    match panic::catch_unwind(AssertUnwindSafe(|| route(n))) {
        Ok(x) => answer(&mut stream, 200, x.to_string()),
        Err(p) if is_own(&p, n) => answer(&mut stream, 500, String::new()),
        Err(_) => wrong("another panic"),
    }
}

type Jobs = Arc<Mutex<mpsc::Receiver<TcpStream>>>;
type Pool = Arc<Mutex<Vec<JoinHandle<()>>>>;

/// A thread that has died of a request gets a successor.
struct Place(Jobs, Pool);

impl Drop for Place {
    fn drop(&mut self) {
        count(Of::Work, thread::panicking());
        if thread::panicking() {
            hire(self.0.clone(), &self.1);
        }
    }
}

#[inline(never)]
fn work(place: Place) {
    TALLY.with(|t| t.borrow_mut().released = 1);
    loop {
        let job = place.0.lock().unwrap().recv();
        match job {
            Ok(stream) => serve(stream),
            Err(_) => break,
        }
    }
}

fn spawn<T: Send + 'static>(f: impl FnOnce() -> T + Send + 'static) -> JoinHandle<T> {
    THREADS.fetch_add(1, SeqCst);
    thread::Builder::new().name("server".into()).spawn(f).unwrap()
}

fn hire(jobs: Jobs, pool: &Pool) {
    let place = Place(jobs, pool.clone());
    let t = spawn(move || work(place));
    pool.lock().unwrap().push(t);
}

/// Until `limit` have come.
#[inline(never)]
fn accept(listener: TcpListener, limit: u64, jobs: mpsc::Sender<TcpStream>) {
    count(Of::Accept, false);
    for _ in 0..limit {
        jobs.send(listener.accept().unwrap().0).unwrap();
    }
}

/// What is answered; nothing, when the server's thread has died of it.
#[inline(never)]
fn ask(at: SocketAddr, n: u64) -> io::Result<String> {
    count(Of::Ask, false);
    let mut stream = TcpStream::connect(at)?;
    let mut text = String::new();
    stream.write_all(format!("GET /{} HTTP/1.0\r\nX-Again: {:x}\r\n\r\n", n, n).as_bytes())?;
    stream.read_to_string(&mut text)?;
    Ok(text)
}

/// The value that route() is to find.
fn expected(n: u64) -> u64 {
    let mut v: Vec<u64> = (0..n % 9 + 3).map(|i| i * 7919 % 101 ^ n).collect();
    v.sort_unstable();
    let mut x = v.iter().fold(n, |sum, x| sum.wrapping_mul(31) ^ x);
    for depth in 0..=n % DEEP {
        x = x.wrapping_add(n ^ depth);
    }
    x.wrapping_mul(x).rotate_left(n as u32 % 64)
}

#[inline(never)]
fn judge(n: u64, got: io::Result<String>) {
    count(Of::Judge, false);
    let got = got.unwrap_or_else(|e| e.to_string());
    let ok = match got.split_once("\r\n\r\n") {
        Some((head, body)) if leaves(n) => head.contains(" 500 ") && body.is_empty(),
        Some((head, body)) => head.contains(" 200 ") && body == expected(n).to_string(),
        None => is_lost(n) && got.is_empty(),
    };
    if !ok {
        wrong(&format!("answer to {}: {}", n, got));
    }
    PROGRESS.fetch_add(1, SeqCst);
}

/// Wait while clients are held.
#[inline(never)]
fn pass() {
    let mut held = HELD.lock().unwrap();
    held.1 += 1;
    CHANGED.notify_all();
    while held.0 {
        held = CHANGED.wait(held).unwrap();
    }
    held.1 -= 1;
}

#[inline(never)]
fn client(at: SocketAddr, first: u64, limit: u64) {
    count(Of::Client, false);
    let mut n = first;
    while n < limit {
        pass();
        judge(n, ask(at, n));
        n += CLIENTS;
        if limit == u64::MAX {
            thread::sleep(Duration::from_micros(500));
        }
    }
}

/// All threads but main's. They end when `limit` requests are answered.
fn start(limit: u64) -> (JoinHandle<()>, Pool, Vec<JoinHandle<()>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let at = listener.local_addr().unwrap();
    let (send, receive) = mpsc::channel();
    let (jobs, pool) = (Arc::new(Mutex::new(receive)), Pool::default());
    for _ in 0..WORKERS {
        hire(jobs.clone(), &pool);
    }
    let acceptor = spawn(move || accept(listener, limit, send));
    let clients = (0..CLIENTS).map(|i| spawn(move || client(at, i, limit)));
    (acceptor, pool, clients.collect())
}

fn run(limit: u64) {
    let (acceptor, pool, clients) = start(limit);
    for c in clients {
        c.join().unwrap();
    }
    acceptor.join().unwrap();
    let mut died = 0;
    loop {
        let last = pool.lock().unwrap().pop();
        match last {
            Some(t) => died += t.join().is_err() as u64,
            None => break,
        }
    }
    if died != CAUSES[DIE as usize].load(SeqCst) || GUARDS.load(SeqCst) != 0 {
        wrong("threads that died, or what was not dropped");
    }
}

fn tell() {
    for (i, name) in NAMES.iter().enumerate() {
        let (made, left) = (MADE[i].load(SeqCst), LEFT[i].load(SeqCst));
        say(format!("made {} {} {}", name, made, left));
    }
    for (kind, name) in ["panic", "index", "unwrap", "any", "resume", "die"].iter().enumerate() {
        let n = CAUSES[PANIC as usize + kind].load(SeqCst);
        say(format!("cause {} {}", name, n));
    }
    say(format!("cause again {}", LEFT[Of::Again as usize].load(SeqCst)));
    say(format!("cause hooked {}", HOOKED.load(SeqCst)));
    say(format!("cause threads {}", THREADS.load(SeqCst)));
}

/// Panics are to be seen by us alone.
fn hush() {
    panic::set_hook(Box::new(|_| {
        HOOKED.fetch_add(1, SeqCst);
    }));
}

/// A last panic, told by the standard library itself, with the callers.
fn last_words() {
    let _ = panic::take_hook();
    if cfg!(panic = "abort") {
        tell();
        panic!("the last one");
    }
    if spawn(|| descend(PANIC, 3)).join().is_ok() {
        wrong("no panic at last");
    }
    tell();
}

fn hold() -> String {
    let mut held = HELD.lock().unwrap();
    held.0 = true;
    while held.1 < CLIENTS {
        held = CHANGED.wait(held).unwrap();
    }
    "held".into()
}

fn go() -> String {
    HELD.lock().unwrap().0 = false;
    CHANGED.notify_all();
    "going".into()
}

fn forbid(range: &str) -> String {
    let ends: Vec<usize> =
        range.split(' ').map(|x| usize::from_str_radix(x, 16).unwrap()).collect();
    if unsafe { mprotect(ends[0], ends[1] - ends[0], 0) } != 0 {
        wrong("mprotect");
    }
    "forbidden".into()
}

fn obey() {
    let _running = start(u64::MAX);
    say("ready".into());
    for line in io::stdin().lock().lines() {
        match line.unwrap().as_str() {
            "ping" => say(format!("alive {} {}", PROGRESS.load(SeqCst), ERRORS.load(SeqCst))),
            "hold" => say(hold()),
            "go" => say(go()),
            "quit" => break,
            other if other.starts_with("forbid ") => say(forbid(&other[7..])),
            other => say(format!("what is {}?", other)),
        }
    }
    say("bye".into());
    std::process::exit((ERRORS.load(SeqCst) != 0) as i32);
}

fn main() {
    hush();
    match std::env::args().nth(1) {
        None => obey(),
        Some(n) => {
            run(n.parse().unwrap());
            last_words();
        }
    }
    std::process::exit((ERRORS.load(SeqCst) != 0) as i32);
}
