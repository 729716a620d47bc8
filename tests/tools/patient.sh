#!/bin/bash
# SPDX-License-Identifier: MIT
# patient.sh ARG...: inject, which may stop a process much longer, for where all is so much slower,
# and no pause means anything. lib.sh has tests call it there.
inject=$BUILD/inject
pause=$((500 * ${PATIENCE:-1}))ms
case ${1:-} in
trace | record | count | hist | top | start | add | remove | stop)
	verb=$1
	shift
	# Of a recording no process is stopped.
	case "$verb $* " in
	*" -p "* | *" --pid"* | *" -- "*) ;;
	"hist "*) exec "$inject" hist "$@" ;;
	esac
	exec "$inject" "$verb" --max-pause "$pause" "$@"
	;;
-h | --help | -V | --version) ;;
-*) exec "$inject" --max-pause "$pause" "$@" ;;
esac
exec "$inject" "$@"
