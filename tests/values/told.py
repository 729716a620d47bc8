#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""told WANT GOT: are the lines the same, but for values that are said not to be known?"""

import re
import sys


def main():
    with open(sys.argv[1], encoding='utf-8') as want, open(sys.argv[2], encoding='utf-8') as got:
        want, got = want.readlines(), got.readlines()
    if len(want) != len(got):
        sys.exit(f'{len(got)} lines, not {len(want)}')
    for w, g in zip(want, got):
        pattern = re.escape(g)
        for word in ('<optimised out>', '<unknown>'):
            pattern = pattern.replace(re.escape(word), '.*')
        # What has no bytes may have no name.
        if not re.fullmatch(pattern, w, re.S) and g != re.sub(r'\bn=Nothing', 'Nothing', w):
            sys.exit(f'{g} is not {w}')


if __name__ == '__main__':
    main()
