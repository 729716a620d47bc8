#!/bin/bash
# SPDX-License-Identifier: MIT
# kinds_static: programs without a dynamic loader, in states of ordinary ones.
# timeout: 1200
# long: 20
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"
# shellcheck source=tests/kinds_lib.sh
. "$ROOT/tests/kinds_lib.sh"

kind static attach_exec attach_single vfork_children command_status command_whole hist
kind static_pie attach_everything longjmp
