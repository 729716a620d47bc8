# SPDX-License-Identifier: MIT
"""protobuf: what is in a message of protocol buffers, whatever it is."""


def fields(data):
    """Numbers of fields, and numbers or bytes."""
    at = 0

    def varint():
        nonlocal at
        n = shift = 0
        while True:
            byte = data[at]
            at += 1
            n |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return n

    while at < len(data):
        key = varint()
        value = varint()
        if key & 7 == 2:
            at, value = at + value, data[at:at + value]
        yield key >> 3, value
