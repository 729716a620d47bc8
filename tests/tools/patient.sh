#!/bin/bash
# SPDX-License-Identifier: MIT
# patient.sh ARG...: inject, which may stop a process PATIENCE times as long, for where all is so
# much slower. lib.sh has tests call it there.
inject=$BUILD/inject
pause=$((50 * ${PATIENCE:-1}))ms
case ${1:-} in
trace | record | count | hist | top | start | add | remove | stop)
	verb=$1
	shift
	exec "$inject" "$verb" --max-pause "$pause" "$@"
	;;
-h | --help | -V | --version) ;;
-*) exec "$inject" --max-pause "$pause" "$@" ;;
esac
exec "$inject" "$@"
