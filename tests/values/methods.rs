// SPDX-License-Identifier: MIT
// Functions that only this program calls, so that what is optimised takes arguments and results
// away that are constants, or not used: each prints its own call, as live/values_rust.sh expects it.
use std::fmt::Debug;

/// The compiler does not know what comes back.
fn opaque<T>(t: T) -> T
{
    let r = unsafe { std::ptr::read_volatile(&t) };
    std::mem::forget(t);
    r
}

pub struct Sum { total: u64, log: Vec<u64> }

impl Sum {
    #[inline(never)]
    fn m_add(&mut self, n: u64, scale: u32) -> u64
    {
        self.total += n * scale as u64;
        self.log.push(n);
        println!("m_add(n={}, scale={}) = {}", n, scale, self.total);
        self.total
    }

    #[inline(never)]
    fn m_get(&self, unused: &str, i: usize) -> Option<u64>
    {
        let r = self.log.get(i).copied();
        println!("m_get(unused=\"xxx\", i={}) = {:?}", i, r);
        r
    }

    #[inline(never)]
    fn m_name(&self, k: i32) -> &'static str
    {
        println!("m_name(k={}) = \"sum\"", k);
        opaque("sum")
    }

    #[inline(never)]
    fn m_used(&self, k: u64) -> u64
    {
        println!("m_used(k={}) = {}", k, self.total + k);
        self.total + k
    }
}

#[inline(never)]
fn m_free(s: &mut Sum, n: u64, scale: u32) -> u64
{
    s.total += n * scale as u64;
    println!("m_free(n={}, scale={}) = {}", n, scale, s.total);
    s.total
}

#[inline(never)]
fn m_promoted(a: &i32, d: &dyn Debug, e: Box<i64>, f: Box<u8>) -> Box<i64>
{
    println!("m_promoted(a={}, e={}, f={}) = {}", a, e, f, e);
    e
}

#[inline(never)]
fn shared(a: std::rc::Rc<str>) -> usize
{
    opaque(a).len()
}

#[inline(never)]
fn each<F: Fn(i32, i32) -> i32>(f: F)
{
    opaque(f(11, 5));
}

fn main()
{
    let mut s = Sum { total: 0, log: vec![] };

    opaque(shared("text".into()));
    for i in 0..3u64 {
        s.m_add(i + 1, 10);
        s.m_get("xxx", i as usize);
        s.m_name(7);
        opaque(s.m_used(i));
        m_free(&mut s, i, 3);
        let base = opaque(s.total);
        // What it has captured comes before its parameters.
        each(|a, b| {
            let sum = opaque(a + b) + base as i32;
            println!("m_closure(a={}, b={}) = {}", a, b, sum);
            sum
        });
        opaque(m_promoted(opaque(&5), &7, Box::new(6), Box::new(8)));
    }
}
