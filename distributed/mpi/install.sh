#!/bin/sh
# Installs what the crate is built with and run by: Open MPI, and libclang, which reads its header. For Debian and
# Ubuntu; elsewhere install the packages of the same names. Fails if they cannot be had.
set -eu
if command -v mpirun >/dev/null && command -v mpicc >/dev/null && ls /usr/lib/llvm-*/lib/libclang*.so* >/dev/null 2>&1; then
    exit 0
fi
command -v apt-get >/dev/null || { echo "no apt-get: install Open MPI and libclang by hand" >&2; exit 1; }
as_root=
[ "$(id -u)" = 0 ] || as_root=sudo
$as_root apt-get update -qq
$as_root apt-get install -y -qq --no-install-recommends openmpi-bin libopenmpi-dev libclang-dev
