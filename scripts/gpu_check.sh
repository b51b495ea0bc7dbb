#!/usr/bin/env bash
# Trains (recipe=strong) and evaluates all eight models on both benchmarks on one GPU; writes OUT/gpu.json.
#
#   scripts/gpu_check.sh DATA OUT [KEY=VALUE...]     DATA holds fb15k-237/ and wn18rr/; OUT is made.
#
# TRAINER, DATASETS, MODELS and PYTHON change what runs, e.g. a rehearsal without a GPU, in a minute:
#   TRAINER=cpu DATASETS=umls scripts/gpu_check.sh ../shared/data /tmp/check training.max_epochs=1
set -euo pipefail
data=$(realpath "${1:?folder of the data}") out=${2:?folder to write to}
shift 2
mkdir -p "$out"
out=$(realpath "$out")
cd "$(dirname "$0")/.."
python=${PYTHON:-python}
models=${MODELS:-transe,transh,transr,transd,rescal,distmult,complex,analogy}
export PYTHONPATH="$PWD${PYTHONPATH:+:$PYTHONPATH}"
status=0
"$python" -m mohone.run -m trainer="${TRAINER:-gpu}" recipe=strong dataset="${DATASETS:-fb15k237,wn18rr}" \
    kge_model="$models" netemb=none data_dir="$data" store_dir="$out/store" hydra.sweep.dir="$out/sweep" \
    progress=false "$@" || status=$?
"$python" scripts/gpu_check.py "$out"  # Says of failed jobs that they failed.
exit $status
