# SPDX-License-Identifier: MIT
# Much of perl's interpreter in little time: regular expressions, sorting, formats,
# packing, hashes, closures, objects, threads of control that end by die.
use strict;
no warnings;
use utf8;
use Data::Dumper;
use Digest::MD5 qw(md5_hex);
use Digest::SHA qw(sha256_hex sha512_hex);
use Encode qw(encode decode);
use List::Util qw(sum reduce shuffle first uniq max);
use POSIX qw(floor ceil strftime fmod);
use Scalar::Util qw(blessed weaken looks_like_number);
use Storable qw(freeze thaw dclone);
use Time::Local;
use MIME::Base64;

my $turns = shift // 20;
my $text = join ' ', map { "word$_ ünïcode" . chr(0x4e00 + $_) } 1 .. 200;

package Shape { sub new { my ($c, %o) = @_; return bless {%o}, $c } sub area { 0 }
	use overload '+' => sub { Shape->new(a => $_[0]->area + (ref $_[1] ? $_[1]->area : $_[1])) },
		'""' => sub { ref($_[0]) . '=' . $_[0]->area }, '<=>' => sub { 0 }; }
package Square { our @ISA = ('Shape'); sub area { $_[0]{side}**2 } sub DESTROY { }
	sub AUTOLOAD { our $AUTOLOAD; return $AUTOLOAD } }
package Tied { sub TIEHASH { bless {}, shift } sub STORE { $_[0]{$_[1]} = $_[2] }
	sub FETCH { $_[0]{$_[1]} } sub FIRSTKEY { each %{$_[0]} } sub NEXTKEY { each %{$_[0]} }
	sub EXISTS { exists $_[0]{$_[1]} } sub DELETE { delete $_[0]{$_[1]} } sub SCALAR { 1 } }
package main;

for my $t (1 .. $turns) {
	my %count;
	$count{$_}++ for $text =~ /\b(\w+)\b/g;
	my @s = sort { $count{$b} <=> $count{$a} || $a cmp $b } keys %count;
	@s = sort @s; @s = reverse sort { lc $a cmp lc $b } @s; my @n = sort { $a <=> $b } map { length } @s;
	(my $u = $text) =~ s/(\w)(\d+)/$2$1/g;
	$u =~ tr/a-zA-Z/n-za-mN-ZA-M/;
	$u =~ s/(?<first>\w+)\s+(?=\w)/\u$+{first}_/gi;
	my @all = $u =~ /(?:(a|b|c)+?(d*)|[^\s\p{Lu}]{2,5}+)(?!x)(?<=\w)\w*?(?>y*)/gx;
	"aaaaaaaaaaaaaaab" =~ /^(a+)+$/; "((a)(b(c)))" =~ /(\((?:[^()]++|(?1))*\))/;
	"foobar" =~ /(?{ $t })o+(?<!b)b\Kar|\R|\X|\h+\v*/; study $u;
	my @split = split /[,\s]+/, $text; my $j = join '-', map { ucfirst lc uc } @split;
	my $p = pack 'A5 a7 Z* N n V v C q> d f w H4 U0 (s l)3', 'abc', 'def', 'zed', 1 .. 5, 6, 7.5, 8.25,
		300, 'beef', 1 .. 6;
	my @p = unpack 'A5 a7 Z* N n V v C q> d f w H4', $p; my $sum = unpack '%32C*', $p;
	my $f = sprintf '%s %5d %-5s|%05.2f %x %o %b %e %g %c %v d %*d %2$s %%', 'a', 12, 'b', 3.14159, 255, 8, 5,
		12345.678, 1e-10, 65, '1.22.333', 7, 42 if $t == 1;
	my @sq = map { Square->new(side => $_) } 1 .. 20; my $total = reduce { $a + $b } @sq;
	my $str = "$total" . $sq[0]->missing; my $deep = { a => [1 .. 10, { b => \@s }], c => sub { $t } };
	local $Data::Dumper::Sortkeys = 1; local $Data::Dumper::Useperl = $t % 2;
	my $d = Dumper(dclone({ x => [1, 'two', 3.0], y => undef })); my $e = eval $d =~ s/^\$VAR1 = //r;
	eval { die { code => $t } }; eval { die "text\n" }; eval { my $z = 1 / ($t - $t) };
	eval 'sub { my $x = shift; return $x <=> 3 }->(4)'; eval 'syntax error here (';
	tie my %tied, 'Tied'; $tied{$_} = $_ for 1 .. 5; delete $tied{2}; my @k = keys %tied; untie %tied;
	my $h = md5_hex($p) . sha256_hex($p) . sha512_hex($p); my $b = decode_base64(encode_base64($p));
	my $enc = encode('UTF-16LE', $text) . encode('iso-8859-1', 'é') . encode('UTF-8', $text);
	my $dec = decode('UTF-16LE', encode('UTF-16LE', $text)); my $fr = thaw(freeze($deep->{a}));
	my $when = strftime('%Y-%m-%d %H:%M:%S', gmtime(86400 * $t * 300)); timegm(gmtime 1e9);
	my ($x, $y, $big) = (1, 2.5, 18446744073709551615); $x += $y * 3 ** 2 % 7; $x <<= 2; $x ^= 5; $x = ~$x & 0xff;
	$big++; my $i = int(-3.7) + abs(-2) + sqrt(2) + sin(1) + atan2(1, 2) + exp(1) + log(2) + hex('ff') + oct('0b11');
	my @a = (1 .. 50); splice @a, 3, 5, 'a' .. 'e'; push @a, shift @a; unshift @a, pop @a; @a = @a[grep { $_ % 2 } 0 .. $#a];
	my %slice; @slice{@a} = @a; my %inv = reverse %slice; delete @slice{qw(a b)}; while (my ($k, $v) = each %inv) { }
	my $c = 0; OUTER: for my $q (1 .. 10) { for my $r (1 .. 10) { next OUTER if $r > $q; last OUTER if $q * $r > 50; $c++ } }
	my $bytes = encode('UTF-8', $text); open my $fh, '<', \$bytes or die; while (<$fh>) { chomp; my @w = split; } close $fh;
	open $fh, '>', 'perl.out' or die; printf $fh "%s\n", $_ for @s; close $fh; -s 'perl.out' > 0 or die;
	open $fh, '<', 'perl.out' or die; my @lines = <$fh>; seek $fh, 5, 0; read $fh, my $buf, 10; eof $fh; close $fh;
	opendir my $dh, '.' or die; my @files = readdir $dh; closedir $dh; my @st = stat 'perl.out';
	my $v = vec($p, 3, 4); vec(my $bits = '', 100, 1) = 1; my $lx = lc("ÀÉ") . uc("straße") . ucfirst("é") . quotemeta('a.b');
	my $idx = index($text, 'word5') + rindex($text, 'word7'); substr(my $copy = $text, 5, 3, 'zzz'); my $rep = 'ab' x 20;
	my $sref = \my @arr; weaken(my $weak = $sref); wantarray; local $_ = 'abc'; my @ch = /./g; chop; chomp; sleep 0;
	my $fib; $fib = sub { my $n = shift; $n < 2 ? $n : $fib->($n - 1) + $fib->($n - 2) }; $fib->(10); sprintf '%vd', '1.2.3';
}
format STDOUT =
@<<<<< @>>>>> @||||| @##.## ^*
'left', 'right', 'mid', 3.14159, my $m = "many\nlines"
.
write;
print "ok\n";
