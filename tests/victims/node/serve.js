// SPDX-License-Identifier: MIT
// serve: an HTTP server and its clients in one process; every answer is checked.
// What is wrong is said. Ends at the end of standard input.
'use strict';
const http = require('http');
const zlib = require('zlib');
const crypto = require('crypto');

const CLIENTS = 8;
const agent = new http.Agent({ keepAlive: true, maxSockets: CLIENTS });
let requests = 0, ends = false, busy = CLIENTS;

const hash = (text) => crypto.createHash('sha256').update(text).digest('hex');

// The threads of libuv compress, those of V8 collect.
const server = http.createServer((request, response) => {
	const body = hash(request.url).repeat(20);

	zlib.gzip(body, (error, packed) => response.end(error ? 'error' : packed));
});

function done() {
	if (--busy === 0) {
		agent.destroy();
		server.close(() => console.log('bye'));
	}
}

function check(url, packed) {
	let body = 'unpacked';

	try {
		body = zlib.gunzipSync(packed).toString();
	} catch (error) {
		console.log(`WRONG ${error}`);
	}
	if (body !== hash(url).repeat(20))
		console.log(`WRONG answer to ${url}`);
	requests++;
}

function ask(client) {
	const path = `/${client}/${requests}`;

	if (ends) {
		done();
		return;
	}
	const request = http.get({ port: server.address().port, path, agent }, (response) => {
		const parts = [];

		response.on('data', (part) => parts.push(part));
		response.on('end', () => {
			check(path, Buffer.concat(parts));
			ask(client);
		});
	});
	request.on('error', (error) => {
		console.log(`WRONG ${error}`);
		ask(client);
	});
}

server.listen(0, '127.0.0.1', () => {
	for (let i = 0; i < CLIENTS; i++)
		ask(i);
	console.log('ready');
});
process.stdin.on('data', () => console.log(`alive ${requests} 0`));
process.stdin.on('end', () => { ends = true; });
