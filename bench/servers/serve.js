// SPDX-License-Identifier: MIT
// serve: a server of HTTP by node's own library; each answer is compressed, by a thread
// of libuv, and unpacked again.
'use strict';
const http = require('http');
const zlib = require('zlib');

http.createServer((request, response) => {
	zlib.gzip('x'.repeat(2000), (error, packed) => {
		response.setHeader('Content-Type', 'text/plain');
		response.end(error ? 'error\n' : zlib.gunzipSync(packed) + 'answer\n');
	});
}).listen(Number(process.argv[2]), '127.0.0.1');
