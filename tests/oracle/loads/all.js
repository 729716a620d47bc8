// SPDX-License-Identifier: MIT
// Much of node's built-ins and interpreter in little time.
'use strict';
const assert = require('assert'), crypto = require('crypto'), zlib = require('zlib'), util = require('util');
const fs = require('fs'), { EventEmitter } = require('events'), url = require('url'), qs = require('querystring');
class A { #p = 1; static s = 2; get p() { return this.#p; } set p(v) { this.#p = v; } *[Symbol.iterator]() { yield* [1, 2, 3]; } }
class B extends A { constructor() { super(); this.z = new.target.name; } async am() { await null; return super.p; } toString() { return `B${this.p}`; } }
function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
async function turn(t) {
	const text = Array.from({ length: 200 }, (_, i) => `wörd${i} ${i.toString(16)} \u{1f600}`).join(' ');
	const count = new Map(); for (const [w] of text.matchAll(/\p{L}+\d*/gu)) count.set(w, (count.get(w) || 0) + 1);
	[...count].sort((a, b) => b[1] - a[1] || a[0].localeCompare(b[0])); text.replace(/(?<x>\w)(\d+)/g, '$2$<x>').split(/\s+/).map(Number).filter(isNaN);
	/^(a+)+$/.test('aaaaaaaaaaaaaaab'); /(?<=\w)x(?!y)|\bfoo\b|[^\x00-\x7f]+?/iu.exec(text); text.normalize('NFD').toUpperCase().padEnd(9999).trim().codePointAt(5);
	const o = JSON.parse(JSON.stringify({ a: [1, 2.5, null, true, 'ü\n'], b: { c: new Date(t * 1e9) }, d: text }, null, 2)); structuredClone({ o, m: new Map([[1, 2]]), d: new Date() });
	const a = Array.from({ length: 500 }, (_, i) => (i * 7919) % 1009); a.sort((x, y) => x - y); a.slice().reverse().splice(3, 5, 'x'); a.reduce((x, y) => x + y); a.flatMap((x) => [x, x]).indexOf(5); a.includes(NaN); a.copyWithin(0, 5, 9).fill(1, 2, 4); a.at(-1); a.findLast((x) => x > 5); new Set(a).has(3);
	for (const T of [Int8Array, Uint8ClampedArray, Int16Array, Uint32Array, Float32Array, Float64Array]) { const v = T.from(a); v.sort(); v.set([1, 2], 3); v.subarray(1, 9).map((x) => x * 2).join(); new DataView(v.buffer).getInt16(0, true); } new BigInt64Array(4).fill(5n); Atomics.add(new Int32Array(new SharedArrayBuffer(8)), 0, 1);
	const b = new B(); b.p = t; assert.deepStrictEqual([...b], [1, 2, 3]); String(b); await b.am(); ({ ...b, [`k${t}`]: 1 }); const { z, ...rest } = b; [b.q ??= 5, b?.q?.r, z, rest]; delete b.q; 'z' in b; b instanceof A; Object.entries(b); Object.freeze({ a: 1 }); Reflect.ownKeys(b); Object.defineProperty({}, 'x', { get() { return 1; } }).x;
	(2n ** 200n * 3n ** 100n / 7n ** 50n).toString(36); BigInt.asUintN(64, -1n) >> 3n; (3.14159).toFixed(2) + (1e21).toString() + (255).toString(2) + parseFloat('1e-7') + parseInt('zz', 36) + (0.1).toPrecision(20) + (123.456).toExponential(); Math.hypot(1, 2) + Math.fround(1.1) + Math.clz32(5) + Math.imul(3, 4) + Math.atan2(1, 2) + Math.cbrt(8) + Math.log2(5) + (7 % 3) + (-7.5 % 2) + 2 ** 0.5; t | 0; t >>> 1; ~t ^ 5;
	for (const f of [() => null.x, () => { throw new TypeError('x'); }, () => JSON.parse('{bad'), () => eval('syntax error'), () => [].reduce((x) => x), () => new Array(-1), () => undefinedName, () => 1n + 1]) try { f(); } catch (e) { e.stack; } finally { t; }
	const p = new Proxy({}, { get: (_, k) => k, has: () => true, set: () => true, ownKeys: () => ['a'], getOwnPropertyDescriptor: () => ({ configurable: true, enumerable: true, value: 1 }), apply() { } }); p.x; p.y = 1; 'q' in p; Object.keys(p); new WeakMap([[b, 1]]).get(b); new WeakRef(b).deref(); Symbol.for('x').description;
	await Promise.all([1, Promise.resolve(2), new Promise((r) => setTimeout(r, 1)), Promise.reject(new Error('x')).catch(() => 3)]); await Promise.allSettled([Promise.reject(1)]); await Promise.race([1]); await Promise.any([1]); for await (const x of (async function* () { yield 1; yield 2; })()) x; await new Promise(setImmediate); process.nextTick(() => { }); queueMicrotask(() => { });
	new Intl.NumberFormat('de', { style: 'currency', currency: 'EUR' }).format(12345.678); new Intl.DateTimeFormat('fr', { dateStyle: 'full' }).format(new Date(0)); new Intl.Collator('sv').compare('ä', 'z'); new Intl.PluralRules('ar').select(5); new Date(2024, 1, 29).toLocaleString(); new Date('2024-01-01T00:00:00Z').toISOString();
	for (const h of ['md5', 'sha1', 'sha256', 'sha512', 'sha3-256', 'blake2b512']) crypto.createHash(h).update(text).digest('hex'); const key = crypto.randomBytes(32), c = crypto.createCipheriv('aes-256-gcm', key, key.subarray(0, 12)); c.update(text); c.final(); crypto.createHmac('sha256', key).update('x').digest('base64'); crypto.scryptSync('p', 's', 16, { N: 64 }); crypto.pbkdf2Sync('p', 's', 10, 16, 'sha1'); if (t === 0) crypto.sign(null, Buffer.from('x'), crypto.generateKeyPairSync('ed25519').privateKey);
	zlib.gunzipSync(zlib.gzipSync(text)); zlib.brotliDecompressSync(zlib.brotliCompressSync(text, { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 5 } })); Buffer.from(text).toString('base64'); Buffer.from('ff00', 'hex').readUInt16BE(); Buffer.from(text, 'utf16le').swap16().indexOf('x'); Buffer.alloc(9).writeDoubleLE(1.5, 1); new TextDecoder('utf-16le').decode(Buffer.from('ab')); util.inspect(o, { depth: 9 }); util.format('%s %d %j %o', 1, 2, {}, []); new URL('http://u:p@ex.com:8/a/../b?x=1#y').href; qs.parse('a=1&b=2'); url.parse('http://a/b'); 
	const e = new EventEmitter(); e.once('x', () => { }); e.emit('x'); fs.writeFileSync('node.out', text); fs.readFileSync('node.out', 'utf8'); fs.statSync('node.out'); await fs.promises.readdir('.'); label: for (let i = 0; i < 9; i++) for (let j = 0; j < 9; j++) { if (j > i) continue label; if (i * j > 30) break label; } switch (t % 3) { case 0: fib(12); break; case 1: new Function('a', 'return a * 2')(2); break; default: eval('var q = 1; q++'); } const g = (function* () { try { const x = yield 1; yield x; } finally { fib(3); } })(); g.next(); g.next(5); g.return(1); String.raw`a${t}\n`; (function () { return arguments.length; })(1, 2, ...a.slice(0, 5)); escape(unescape('%u1234')); encodeURIComponent('ü'); decodeURI('%C3%BC');
}
const wasm = new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0, 1, 7, 1, 96, 2, 127, 127, 1, 127, 3, 2, 1, 0, 7, 7, 1, 3, 97, 100, 100, 0, 0, 10, 9, 1, 7, 0, 32, 0, 32, 1, 106, 11]);
(async () => {
	for (let t = 0; t < Number(process.argv[2] || 5); t++) await turn(t);
	try { const { instance } = await WebAssembly.instantiate(wasm); instance.exports.add(1, 2); } catch (e) { e.stack; }
	console.log('ok');
})();
