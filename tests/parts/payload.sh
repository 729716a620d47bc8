#!/bin/bash
# SPDX-License-Identifier: MIT
# payload: what runs inside the target needs nothing, and harms nothing.
cd "$ROOT" && exec tools/payload-check.sh "$BUILD/payload.so" "$BUILD/loader.elf"
