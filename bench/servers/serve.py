# SPDX-License-Identifier: MIT
# serve: a server of HTTP by Python's own library; each answer takes it some computing.
import hashlib
import http.server
import sys


class Answer(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # head and body go out together

    def do_GET(self):
        body = b"x" * 1000
        for _ in range(50):
            body = hashlib.sha256(body).hexdigest().encode()
        body += b"answer\n"
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Answer)
server.serve_forever()
