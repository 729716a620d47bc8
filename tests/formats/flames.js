// SPDX-License-Identifier: MIT
// Does a flame graph do in a browser what it is for? Runs behind the script of the
// graph, in the same document, and leaves what is wrong in an attribute of it.
(function () {
'use strict';
var wrong = [], alerts = 0, root = document.documentElement;

function check(ok, what) { if (!ok) wrong.push(what); }
function near(a, b) { return Math.abs(a - b) < 0.1; }
function id(name) { return document.getElementById(name); }
function rect(g) { return g.querySelector('rect'); }
function width(g) { return parseFloat(rect(g).getAttribute('width')); }
function whole(g) { return parseFloat(g.getAttribute('data-w')); }
function shown(g) { return g.getAttribute('visibility') === 'visible'; }

function box(name, depth) {
	return document.querySelector('g.f[data-n="' + name + '"][data-d="' + depth + '"]');
}

// What a pointer there would meet.
function click(g) {
	var r = rect(g).getBoundingClientRect();
	var hit = document.elementFromPoint(r.left + r.width / 2, r.top + r.height / 2);

	check(hit && g.contains(hit), 'a click on ' + g.getAttribute('data-n') + ' meets something else');
	(hit || g).dispatchEvent(new MouseEvent('click', { bubbles: true }));
}

function key(name, ctrl) {
	window.dispatchEvent(new KeyboardEvent('keydown', { key: name, ctrlKey: ctrl, cancelable: true }));
}

function search(word) {
	window.prompt = function () { return word; };
	key('f', true);
}

window.onerror = function (message) { wrong.push(message); };
window.alert = function () { alerts++; };

var frame = box('count_frame', 1), leaf = box('count_leaf', 2), tail = box('count_tail', 1);
var all = Array.prototype.slice.call(document.querySelectorAll('g.f'));

check(frame && leaf && tail, 'a function has no box');
check(all.every(shown), 'a box is hidden from the start');

click(frame);
check(near(width(frame), 1180), 'what was clicked does not fill the width');
check(near(width(leaf), whole(leaf) * 1180 / whole(frame)), 'what it calls is not in scale');
check(shown(leaf) && !shown(tail), 'what is beside it is still there');
check(id('reset').getAttribute('visibility') === 'visible', 'no way back is shown');
key('Escape', false);
check(all.every(shown) && all.every(function (g) { return near(width(g), whole(g)); }),
      'Escape does not go back');

var before = rect(frame).getAttribute('fill'), leaves = 0;
all.forEach(function (g) { if (/leaf$/.test(g.getAttribute('data-n'))) leaves += whole(g); });
search('leaf$');
check(rect(leaf).getAttribute('fill') === '#e040fb', 'what is found has its old colour');
check(rect(frame).getAttribute('fill') === before, 'what is not found has another colour');
check(id('found').textContent === 'found: ' + (100 * leaves / 1180).toFixed(1) + ' %',
      'the share is ' + id('found').textContent);
search('(');
check(alerts === 1, 'what is no regular expression is not refused');
search('');
check(rect(leaf).getAttribute('fill') !== '#e040fb', 'the end of a search leaves a colour');

frame.dispatchEvent(new MouseEvent('mouseover', { bubbles: true }));
check(id('detail').textContent.indexOf('count_frame') === 0, 'no detail of what the pointer is on');
root.setAttribute('data-wrong', wrong.length ? wrong.join('; ') : 'nothing');
})();
