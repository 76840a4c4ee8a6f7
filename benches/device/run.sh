#!/usr/bin/env bash
# Measures a CUDA device beside PyTorch and CuPy, one after the other, in one run: `benches/device/run.sh [BINARY]`.
# The binary may come from a machine without a GPU: `cargo bench -p benches --features cuda --bench device --no-run`.
set -euo pipefail
cd "$(dirname "$0")/../.."
if [ $# -gt 0 ]; then "$1"; else cargo bench -p benches --features cuda --bench device; fi
if python3 -c 'import torch, cupy' 2>/dev/null; then
    python3 benches/device/rivals.py
else
    echo "skipped: PyTorch and CuPy are not installed"
fi
