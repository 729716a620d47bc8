# SPDX-License-Identifier: MIT
# Much of ruby's interpreter in little time.
require 'json'
require 'set'
require 'digest'
require 'zlib'
require 'stringio'
require 'bigdecimal'
require 'date'
require 'strscan'
require 'erb'
require 'yaml'
Point = Struct.new(:x, :y) do
  def +(o) = Point.new(x + o.x, y + o.y)
  include Comparable
  def <=>(o) = [x, y] <=> [o.x, o.y]
end
module Greets; refine(String) { def greet = "hi #{self}" }; end
using Greets
class Ghost; def method_missing(n, *a, &b) = [n, a]; def respond_to_missing?(*) = true; end
(ARGV[0] || 10).to_i.times do |t|
  text = (1..300).map { |i| "wörd#{i} #{i.to_s(16)}" }.join(' ')
  words = text.scan(/\w+/).tally.sort_by { |k, v| [-v, k] }
  text.gsub(/(?<a>\w)(\d+)/i) { $~[:a].to_s.swapcase }.tr('a-y', 'b-z').squeeze.unpack('C*').pack('U*')
  text =~ /(?:(\w+)\s+){3}(?=x)|\p{Alpha}++\b(?<!z)|(?i:ÄÖ)\h*\R?/
  text.split(/[\s,]+/).group_by(&:size).transform_values(&:count).to_a.flatten.each_slice(3).to_a
  [1, 2.5, 'a', nil, true, :sym, [1, [2]], { a: 1 }].pack('A3') rescue 0
  [1, -2, 65_535, 3.5, 'abc', 2**40].pack('CslgA5q').unpack('CslgA5q')
  format('%05d %-8s|%+.3e %x %o %b %c %p %%%s', 42, 'ab', 3.14159, 255, 8, 5, 65, nil, :z)
  a = (1..500).to_a.shuffle(random: Random.new(t)); a.sort!; a.sort { |p, q| q <=> p }; a.bsearch { |x| x >= 99 }
  a.each_cons(3).lazy.map(&:sum).select(&:even?).first(5); a.inject(:+); a.minmax; a.partition(&:odd?); a.rotate(3)
  a.combination(2).first(50); a.permutation(2).first(50); a.zip(a.reverse).to_h.invert; a.product([1, 2]).uniq.take(9)
  h = Hash.new { |hh, k| hh[k] = k * 2 }; 200.times { |i| h[i]; h["s#{i}"] }; h.delete_if { |k, _| k.is_a?(String) }
  h.select { |_, v| v > 3 }.min_by { |_, v| v }; h.to_a.transpose; h.merge(h) { |_, x, y| x + y }; h.dig(1)
  JSON.parse(JSON.generate({ 'a' => [1, 2.5, nil, true, "ü\n\\"], 'b' => { 'c' => 'd' * 50 } }))
  JSON.pretty_generate([{ x: 1 }] * 5); Marshal.load(Marshal.dump([a, h.to_a, Point.new(1, 2), 1.5, 2**70, 'é']))
  YAML.load(YAML.dump('k' => [1, 'two', 3.0, nil])); ERB.new('<% 3.times do |i| %><%= i %><% end %>').result
  Digest::SHA256.hexdigest(text); Digest::MD5.hexdigest(text); Zlib::Inflate.inflate(Zlib::Deflate.deflate(text, 9))
  (2**200 * 3**100 / 7**50).to_s(36); (10**50).digits.sum; Integer.sqrt(10**40); 123_456_789.pow(5000, 97); 3.7 % 1.1; -7 / 2
  Rational(3, 4) + Complex(1, 2) * 2; BigDecimal('1.1') ** 20; 1e22.to_s; 0.1.rationalize; 3.14159.round(2); Float::NAN.nan?
  Date.new(2024, 2, 29).next_year.strftime('%F %j %U'); Time.at(86_400 * t).utc.iso8601 rescue 0
  (Point.new(1, 2) + Point.new(3, 4)).clamp(Point.new(0, 0), Point.new(9, 9)); 'x'.greet; Ghost.new.anything(1)
  begin; raise ArgumentError, 'bad'; rescue => e; e.full_message; ensure; t; end
  begin; Integer('zz'); rescue ArgumentError; 0; end; begin; nil.foo; rescue NoMethodError; 0; end; begin; 1 / 0; rescue ZeroDivisionError; 0; end
  catch(:done) { 10.times { |i| throw :done if i > 3 } }
  f = Fiber.new { |x| 5.times { |i| x = Fiber.yield(x.to_i + i) } }; 5.times { f.resume(1) }
  e = Enumerator.new { |y| n = 0; loop { y << (n += 1) } }; e.take(5); e.next; e.next
  Thread.new { Thread.current[:a] = 1; Queue.new.push(1) }.join; m = Mutex.new; m.synchronize { 0 }
  case [1, [2, { k: 5 }]]
  in [Integer => x, [y, { k: }]] then x + y
  end
  case({ n: 5 })
  in { n: 1..9 => z } then z
  end
  def kw(a, b = 2, *c, d:, e: 5, **g, &h) = [a, b, c, d, e, g]; kw(1, 2, 3, d: 4, z: 1)
  o = Object.new; o.instance_variable_set(:@a, 1); o.define_singleton_method(:q) { @a }; o.q; o.freeze.frozen?; eval('1 + 2')
  Class.new { attr_accessor :z; def initialize(z) = @z = z; def to_s = "#{@z}" }.new(5).to_s; [3, 1].sort.each_with_index.map { |v, i| v * i }
  s = StringIO.new("a\nb\n"); s.each_line { |l| l.chomp.upcase.center(9, '*') }; ss = StringScanner.new(text); ss.scan(/\w+/); ss.skip(/\s+/)
  text.encode('UTF-16LE').encode('UTF-8'); text.force_encoding('BINARY').valid_encoding?; "\u3042".unicode_normalize(:nfd) rescue 0
  File.write('ruby.out', 'x' * 100); File.foreach('ruby.out') { |l| l.hash }; File.stat('ruby.out').size; Dir.children('.').size
  Set.new(a).subset?(Set.new([1])); ObjectSpace.count_objects; GC.start if t.zero?; 'abc'.succ.ljust(9).each_char.with_index.to_a; proc { |x, (y, z)| z }.curry
end
puts 'ok'
