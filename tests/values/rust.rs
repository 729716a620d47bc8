// SPDX-License-Identifier: MIT
// Functions that take and return what Rust has of its own: live/values_rust.sh has what is to be
// printed of them.
#![allow(dead_code)]
use std::borrow::Cow;
use std::fmt::Debug;
use std::rc::Rc;

pub enum Shape { Circle { r: f64 }, Square(f64), Unit, Pair(i32, i32) }
pub enum Color { Red, Green = 5, Blue }
pub enum Tree { Leaf, Node(Box<Tree>, i32) }
pub struct Point { x: i32, y: i32 }
pub struct Named { name: String, at: Point, tags: Vec<u8> }
pub struct Nothing;

static mut HOLE: u8 = 0;

#[inline(never)]
fn sink<T: ?Sized>(t: &T)
{
    let p = t as *const T as *const u8;
    for i in 0..std::mem::size_of_val(t) {
        unsafe { HOLE ^= std::ptr::read_volatile(p.add(i)); }
    }
}

#[inline(never)]
fn opaque<T>(t: T) -> T { sink(&t); t }

macro_rules! use_all { ($($e:expr),*) => { $(sink(&$e);)* } }

#[no_mangle] #[inline(never)]
pub fn rs_1(s: &str, t: String, v: &[i32], w: Vec<u16>) -> usize
{
    use_all!(s, t, v, w);
    opaque(s.len() + t.len() + v.len() + w.len())
}

#[no_mangle] #[inline(never)]
pub fn rs_2(o: Option<i32>, p: Option<&str>, q: Option<Box<i32>>, r: Option<String>) -> Option<u64>
{
    use_all!(o, p, q, r);
    opaque(o.map(|x| x as u64 + 1))
}

#[no_mangle] #[inline(never)]
pub fn rs_3(s: Shape, c: Color, p: Point, n: Nothing) -> Result<u32, String>
{
    use_all!(s, c, p, n);
    opaque(if p.x > 0 { Ok(1) } else { Err("bad".to_string()) })
}

#[no_mangle] #[inline(never)]
pub fn rs_4(b: bool, c: char, t: (i32, u8), s: &Shape, n: Option<bool>, m: Option<Color>)
    -> (u32, f32)
{
    use_all!(b, c, t, s, n, m);
    opaque((1, 2.5))
}

#[no_mangle] #[inline(never)]
pub fn rs_5(e: Result<u8, ()>, r: &mut Vec<String>, o: Option<Option<bool>>, d: Rc<i64>) -> [u64; 3]
{
    use_all!(e, r, o, d);
    opaque([1, 2, 3])
}

#[no_mangle] #[inline(never)]
pub fn rs_6(n: &Named, t: Tree, c: Cow<str>, u: u128) -> Box<i32>
{
    use_all!(*n, t, c, u);
    opaque(Box::new(5))
}

#[no_mangle] #[inline(never)]
pub fn rs_7(d: &dyn Debug, f: Option<f64>, g: fn(u8) -> u8, a: [u8; 4]) -> f64
{
    sink(&d);
    use_all!(f, g, a);
    opaque(0.5)
}

fn main()
{
    use_all!(rs_1("hi", "owned\n".to_string(), &[1, 2, 3], vec![4, 5]));
    use_all!(rs_1("", String::new(), &[], vec![]));
    use_all!(rs_2(Some(5), Some("x"), Some(Box::new(3)), Some("t".to_string())));
    use_all!(rs_2(None, None, None, None));
    use_all!(rs_3(Shape::Circle { r: 1.0 }, Color::Blue, Point { x: 1, y: 2 }, Nothing));
    use_all!(rs_3(Shape::Unit, Color::Red, Point { x: 0, y: -2 }, Nothing));
    use_all!(rs_3(Shape::Pair(-1, 7), Color::Green, Point { x: 0, y: -2 }, Nothing));
    use_all!(rs_4(true, 'x', (1, 2), &Shape::Square(2.0), Some(true), Some(Color::Green)));
    use_all!(rs_4(false, '\u{416}', (-1, 0), &Shape::Unit, None, None));
    use_all!(rs_5(Ok(1), &mut vec!["a".to_string()], Some(None), Rc::new(-9)));
    use_all!(rs_5(Err(()), &mut vec![], None, Rc::new(9)));
    let n = Named { name: "x".to_string(), at: Point { x: 3, y: 4 }, tags: vec![1, 2] };
    use_all!(rs_6(&n, Tree::Node(Box::new(Tree::Leaf), 4), Cow::Borrowed("b"), 1 << 100));
    use_all!(rs_6(&n, Tree::Leaf, Cow::Owned("o".to_string()), 7));
    use_all!(rs_7(&5, Some(-1.5), |x| x + 1, [1, 2, 3, 255]));
}
