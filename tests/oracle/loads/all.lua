-- SPDX-License-Identifier: MIT
-- Much of LuaJIT's interpreter (run with -joff, too) in little time.
local turns = tonumber((...)) or 30
local ok, ffi = pcall(require, 'ffi')
local bit = require('bit')
local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end
local mt = { __index = function(t, k) return k end, __newindex = function(t, k, v) rawset(t, k, v) end,
	__add = function(a, b) return 1 end, __sub = function() return 2 end, __mul = function() return 3 end,
	__div = function() return 4 end, __mod = function() return 5 end, __pow = function() return 6 end,
	__unm = function() return 7 end, __concat = function() return 'c' end, __len = function() return 9 end,
	__eq = function() return true end, __lt = function() return true end, __le = function() return false end,
	__call = function(self, ...) return select('#', ...), ... end, __tostring = function() return 'obj' end,
	__gc = function() end, __mode = 'k' }
local function vararg(...) local a, b = ... return select(2, a, b, ...), ... end
if ok then ffi.cdef 'int abs(int); typedef struct { int a; double b; char c[8]; } rec; size_t strlen(const char *);' end
for t = 1, turns do
	local s, o, p = {}, setmetatable({}, mt), setmetatable({}, mt)
	for i = 1, 200 do s[i] = (i * 7919) % 211 s['k' .. i] = i s[i + 0.5] = i end
	table.sort(s) table.sort(s, function(a, b) return a > b end) table.insert(s, 3, 1) table.remove(s, 5) table.remove(s)
	local r = table.concat(s, ',', 1, 50) local n = #s + #r
	for k, v in pairs(s) do n = n + (type(k) == 'string' and 1 or 0) end
	for i, v in ipairs(s) do if i > 100 then break end n = n + v end
	for i = 10, 1, -2 do n = n - i end for x = 0, 1, 0.1 do n = n + x end for x = 1.5, 0.5, -0.25 do n = n - x end
	local str = ('hello %d %5.2f %s %q %x %g %c %-5s|'):format(t, 3.14, 'w', 'q\n', 255, 1e100, 65, 'z')
	str:gsub('(%w+)', string.upper) str:gsub('%d', { ['1'] = 'one' }) str:gsub('l', function(c) return nil end) str:find('%f[%w]%w+') str:match('^(.-)%s')
	for w in str:gmatch('%a+') do n = n + #w end str:rep(3):reverse():lower():byte(1, -1) str:sub(2, -2) string.char(65, 66) str:find('5', 1, true)
	n = n + o + 1 + (o - 1) + (1 * o) + o / 2 + o % 3 + o ^ 2 + -o + #o local c = o .. 'x' local e = (o == p) or (o < p) or (o <= p) or (o ~= p) or not (o > 1)
	o.x = 1 n = n + #tostring(o) + o(1, 2, 3) o[1] = 2 n = n + (o[1] or 0) local q = o.nothing
	local m = math.floor(2.7) + math.ceil(2.2) + math.sqrt(2) + math.sin(1) + math.fmod(7, 3) + math.max(1, 2, 3) + math.min(3, 1) + math.abs(-1) + math.huge + math.ldexp(1, 3) + math.frexp(8) + math.modf(1.5)
	m = 7 % 3 + -7 % 3 + 7.5 % 2 + 2 ^ 10 + 2 ^ 0.5 + 7 / 2 - -m
	n = bit.band(5, 3) + bit.bor(1, 2) + bit.bxor(1, 3) + bit.lshift(1, 4) + bit.rshift(-1, 4) + bit.arshift(-8, 1) + bit.rol(1, 31) + bit.bswap(1) + bit.bnot(0) + bit.tobit(2 ^ 33)
	pcall(error, { 1 }) pcall(error, 'x', 2) xpcall(function() local z = nil; return z.y end, debug.traceback) pcall(function() return 1 + {} end) pcall(function() return {} < {} end) pcall(function() return #5 end)
	pcall(function() return ('x')() end) pcall(string.rep) pcall(setmetatable, 1) assert(select('#', vararg(1, 2, 3)) == 4 or true)
	local co = coroutine.wrap(function(a) for i = 1, 5 do a = coroutine.yield(a + i) end error('end') end) for i = 1, 5 do co(i) end pcall(co, 1) pcall(co)
	local co2 = coroutine.create(function() coroutine.yield(coroutine.running()) end) coroutine.resume(co2) coroutine.status(co2) coroutine.resume(co2) coroutine.resume(co2)
	local f = loadstring('local a, b = ... ; return function() a = a + 1; b = not b; return a, b end') local g = f(1, true) g() g() string.dump(f) loadstring('bad syntax(')
	local up = 0 local function inc() up = up + 1 return up end for i = 1, 100 do inc() end fib(15)
	tonumber('0x1f') tonumber('1e5') tonumber('zz', 36) tostring(1e15) tostring(-0.0) tostring(nil) rawequal(o, p) rawget(o, 1) next({}) unpack({ 1, 2, 3 }) type(n)
	if ok then local a = ffi.new('rec[4]') a[1].a = t a[1].b = 2.5 n = n + a[1].a + ffi.C.abs(-3) ffi.copy(a[2].c, 'abc') ffi.string(a[2].c) ffi.sizeof('rec') local l = 5LL * 7ULL / 3LL l = l % 2LL + l ^ 2LL n = n + tonumber(ffi.C.strlen('abcd')) end
	local x = {} for i = 1, 300 do x[#x + 1] = { i, name = 'n' .. i } end x = nil if t % 10 == 0 then collectgarbage() collectgarbage('step') end
	n = 5 while true do n = n + 1 if n ~= n or n > 1e3 then break end end repeat n = (n or 0) - 100 until n < 0 or n ~= n goto done ::done::
	local tt = { 1, 2, vararg(3, 4) } local u, v = (vararg(1)), nil local y = u and v or not u y = u == nil y = u ~= 'x' y = u == 1 y = 'a' < 'b' y = u ~= true
	os.time() os.date('%c') os.clock() io.write('') local fh = io.open('lua.out', 'w') fh:write(1, ' x\n', 2.5) fh:close() for l in io.lines('lua.out') do n = #l end
	debug.getinfo(1) debug.sethook(function() end, 'l') n = 1 n = 2 debug.sethook(function() end, 'cr') fib(3) debug.sethook() debug.getlocal(1, 1)
end
print('ok')
