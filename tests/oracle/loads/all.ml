(* SPDX-License-Identifier: MIT *)
(* Much of OCaml's runtime and library in little time; native, and as bytecode. *)
module M = Map.Make (String)
module S = Set.Make (Int)
exception Found of int
type shape = Circle of float | Rect of float * float | Named of { n : string; v : int } | Nil
class counter = object (self) val mutable n = 0 method inc = n <- n + 1; self#get method get = n end
let rec fib n = if n < 2 then n else fib (n - 1) + fib (n - 2)
let area = function Circle r -> 3.14 *. r *. r | Rect (a, b) -> a *. b | Named { v; _ } -> float v | Nil -> 0.
let rec deep n = if n = 0 then 0 else 1 + deep (n - 1)
let turn t =
  let words = List.init 300 (fun i -> Printf.sprintf "w%d-%x %s %.3f %S %c %b %ld %Ld" (i * 7919 mod 211) i "s" (float i) "q" 'c' true 5l 6L) in
  let m = List.fold_left (fun m w -> M.update (String.sub w 0 3) (function None -> Some 1 | Some n -> Some (n + 1)) m) M.empty words in
  let s = S.of_list (List.map String.length words) in
  let h = Hashtbl.create 10 in
  List.iteri (fun i w -> Hashtbl.replace h w i; if i mod 3 = 0 then Hashtbl.remove h w) words;
  let a = Array.init 500 (fun i -> (i * 7919) mod 1009) in
  Array.sort compare a; Array.stable_sort (fun x y -> compare y x) a; ignore (List.sort_uniq compare words);
  (try Array.iter (fun x -> if x = 7 then raise (Found x)) a with Found x -> ignore x);
  (try ignore (List.find (fun x -> x > 5000) (Array.to_list a)) with Not_found -> ());
  (try ignore (a.(1000 + t)) with Invalid_argument _ -> ()); (try ignore (t / (t - t)) with Division_by_zero -> ());
  (try ignore (int_of_string "zz") with Failure _ -> ()); (try Fun.protect ~finally:ignore (fun () -> raise Exit) with Exit -> ());
  let b = Buffer.create 16 in
  M.iter (fun k v -> Buffer.add_string b k; Buffer.add_char b (Char.chr (v land 127))) m; S.iter (fun x -> Buffer.add_string b (string_of_int x)) s;
  let str = Buffer.contents b in
  ignore (Digest.to_hex (Digest.string str)); ignore (String.split_on_char ' ' str); ignore (String.uppercase_ascii str);
  let d : int list * float array = Marshal.from_string (Marshal.to_string ([ 1; 2; t ], [| 1.5; 2.5 |]) []) 0 in
  ignore (List.map area [ Circle 1.; Rect (2., 3.); Named { n = "a"; v = 3 }; Nil ]); ignore (snd d);
  let c = new counter in for _ = 1 to 100 do ignore c#inc done;
  ignore (Int64.(to_string (div (mul 123456789L 987654321L) 7L))); ignore (Int32.shift_left 1l 5, Nativeint.logxor 5n 3n, Int64.of_float 1e10);
  ignore (sqrt 2. +. sin 1. ** 2. -. exp 1. /. Float.rem 7. 3., classify_float nan, ldexp 1. 3, Float.round 2.5, floor 1.5, float_of_string "1e3");
  ignore (Lazy.force (lazy (fib 15))); ignore (Seq.fold_left ( + ) 0 (List.to_seq [ 1; 2; 3 ])); ignore (compare words [ "x" ], Hashtbl.hash words, words = []);
  ignore (Scanf.sscanf "12 ab 3.5" "%d %s %f" (fun a b c -> (a, b, c))); ignore (Format.asprintf "@[<hov 2>%a@ %d@]" (fun f -> Format.fprintf f "%s") "x" t);
  let q = Queue.create () in for i = 1 to 100 do Queue.add i q done; while not (Queue.is_empty q) do ignore (Queue.pop q) done;
  let w = Weak.create 3 in Weak.set w 0 (Some (ref 1)); Gc.finalise ignore (ref 2); if t mod 5 = 0 then Gc.compact () else Gc.minor ();
  let f = Array.make 100 1.5 in for i = 1 to 99 do f.(i) <- f.(i - 1) *. 1.01 +. float i done; ignore (Array.fold_left ( +. ) 0. f);
  ignore (deep 10000); ignore (Bytes.fill (Bytes.create 100) 0 50 'x'); ignore (List.rev_append words words |> List.filteri (fun i _ -> i mod 2 = 0));
  let oc = open_out "ml.out" in output_string oc str; output_value oc a; close_out oc;
  let ic = open_in_bin "ml.out" in (try while true do ignore (input_line ic) done with End_of_file -> ()); seek_in ic 0; close_in ic
let rec endless n = 1 + endless (n + 1)
let () = for t = 1 to 30 do turn t done; (try ignore (endless 0) with Stack_overflow -> prerr_endline "overflow"); print_endline "ok"
