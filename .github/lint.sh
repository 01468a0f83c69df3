#!/usr/bin/env bash
# The step "Lint" of action.yml: one run for the log with annotations, one for the SARIF report (cached, so nearly free).
set -uo pipefail

read -ra paths <<< "${PATHS:-.}"
read -ra gpus <<< "${GPUS:-}"
read -ra more <<< "${ARGS:-}"
options=(--fail-on "${FAIL_ON:-warning}")
for gpu in "${gpus[@]}"; do options+=(--gpu "$gpu"); done
[ -n "${RELEASE:-}" ] && options+=(--triton "$RELEASE")
[ -n "${SINCE:-}" ] && options+=(--since "$SINCE")

status=0
"$TRITONLINT" check "${paths[@]}" "${options[@]}" "${more[@]}" --output-format sarif --output-file "$SARIF" || status=$?
echo "status=$status" >> "$GITHUB_OUTPUT"
[ "$status" -le 1 ] && "$TRITONLINT" check "${paths[@]}" "${options[@]}" "${more[@]}" --output-format github
exit "$status"
