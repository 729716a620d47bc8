#!/bin/bash
# SPDX-License-Identifier: MIT
# layers: includes point one way, and no file is too long.
cd "$ROOT" && exec tools/layers.sh
