#!/usr/bin/env bash
# What the tests in real editors and in a browser need beside Python: Debian's Chromium, Emacs and Neovim, and from npm
# all of VS Code as code-server has it, Playwright to drive Chromium, and axe to judge a page. Quick when everything is
# there. The folder is that of tests/cache.py.
set -euo pipefail
cd "$(dirname "$0")/.."
cache=${TRITONLINT_TEST_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/tritonlint-tests}
mkdir -p "$cache/vscode"

missing=()
command -v chromium >/dev/null || missing+=(chromium)
command -v emacs >/dev/null || missing+=(emacs-nox)
command -v nvim >/dev/null || missing+=(neovim)
[ -e /usr/share/emacs/site-lisp/elpa-src ] && ls -d /usr/share/emacs/site-lisp/elpa-src/eglot-* >/dev/null 2>&1 || missing+=(elpa-eglot)
[ -e /usr/share/fonts/truetype/noto/NotoColorEmoji.ttf ] || missing+=(fonts-noto-color-emoji)
if [ ${#missing[@]} -gt 0 ]; then
    sudo=$([ "$(id -u)" -eq 0 ] || echo sudo)
    $sudo apt-get update -qq
    DEBIAN_FRONTEND=noninteractive $sudo apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
fi

# VS Code: the server of code-server with its own dependencies, none of which is compiled.
npm() { command npm --no-audit --no-fund --loglevel=error "$@"; }
packages="code-server@4.139.1 playwright-core@1.65.1 axe-core@4.14.1"
if [ "$(cat "$cache/vscode/.complete" 2>/dev/null)" != "$packages" ]; then
    (
        cd "$cache/vscode"
        [ -f package.json ] || echo '{"private": true}' > package.json
        npm install node@24
        export PATH="$PWD/node_modules/node/bin:$PATH"
        # shellcheck disable=SC2086  # one word a package
        npm install --ignore-scripts $packages
        (cd node_modules/code-server/lib/vscode && npm install --omit=dev --ignore-scripts)
        (cd node_modules/code-server/lib/vscode/extensions && npm install --omit=dev --ignore-scripts)
        echo "$packages" > .complete
    )
fi

# The extension, packaged as it is published.
if [ -f server/vscode/package-lock.json ]; then
    export PATH="$cache/vscode/node_modules/node/bin:$PATH"
    (cd server/vscode && npm ci --ignore-scripts && npm rebuild esbuild && npm run --silent package)
fi
