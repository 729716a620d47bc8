// SPDX-License-Identifier: MIT
//! callers: calls of probed() from everywhere, which prints its callers itself, by std::backtrace,
//! which reads the debug information by itself: for each call "probed", then a line for each
//! function up to main, also of those that are inlined.
#![feature(backtrace, bench_black_box)]
#![allow(stable_features)]
use std::backtrace::Backtrace;
use std::hint::black_box;

#[inline(never)]
pub fn probed(n: u64) -> u64 {
    let text = format!("{}", Backtrace::force_capture());
    println!("probed");
    for line in text.lines() {
        // "   4: callers::deep", and below it where that is
        if let Some((number, name)) = line.trim_start().split_once(": ") {
            if number.parse::<u32>().is_ok() {
                println!("{}", name);
            }
        }
    }
    n
}

#[inline(never)]
fn deep(n: u64) -> u64 {
    if n > 0 {
        deep(black_box(n - 1)) + 1
    } else {
        black_box(probed(n)) + 1
    }
}

#[inline(always)]
fn inner(n: u64) -> u64 {
    probed(n) + 1
}

#[inline(always)]
fn middle(n: u64) -> u64 {
    inner(n) + deep(1)
}

trait Shape {
    fn area(&self) -> u64;
}

struct Square(u64);
struct Named<T>(T);

impl Shape for Square {
    #[inline(never)]
    fn area(&self) -> u64 {
        black_box(middle(self.0)) * 2
    }
}

impl<T: Into<u64> + Copy> Shape for Named<T> {
    #[inline(never)]
    fn area(&self) -> u64 {
        black_box(inner(self.0.into())) * 3
    }
}

struct Dropped(u64);

impl Drop for Dropped {
    fn drop(&mut self) {
        black_box(probed(self.0));
    }
}

#[inline(never)]
fn unwound(n: u64) {
    let _dropped = Dropped(n);
    if black_box(n) > 1 {
        panic!("unwound");
    }
}

#[inline(never)]
fn all() {
    black_box(probed(0));
    black_box(deep(20));
    let shapes: Vec<Box<dyn Shape>> = vec![Box::new(Square(2)), Box::new(Named(3u32))];
    for shape in &shapes {
        black_box(shape.area());
    }
    let sum: u64 = (0..black_box(2u64)).map(|n| probed(n) + 1).sum();
    black_box(sum);
    let mut v = [3u64, 1, 2];
    v.sort_by_key(|n| black_box(probed(*n)));
    unwound(1);
    let _ = std::panic::catch_unwind(|| unwound(2));
}

fn main() {
    std::panic::set_hook(Box::new(|_| ()));
    all();
    std::thread::spawn(all).join().unwrap();
}
