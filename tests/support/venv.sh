# Sourced by the two commands of the README, in the top directory: what a build needs from the system, and .venv.
# Environment: PYTHON, the interpreter (python3).

python=${PYTHON:-python3}
missing=

fail() {
    echo "$0: $*" >&2
    exit 1
}

as_root() {
    if [ "$(id -u)" -eq 0 ]; then
        "$@"
    elif command -v sudo >/dev/null; then
        sudo "$@"
    else
        fail "needs root or sudo to install:$missing"
    fi
}

# need PACKAGES CHECK...: notes the Debian packages as missing unless the check succeeds
need() {
    packages=$1
    shift
    "$@" >/dev/null 2>&1 || missing="$missing $packages"
}

need_build_tools() {
    need python3 command -v "$python"
    need python3-venv "$python" -c 'import ensurepip, venv'
    need python3-dev "$python" -c 'import pathlib, sysconfig; pathlib.Path(sysconfig.get_path("include"), "Python.h").stat()'
    need "gcc libc6-dev" command -v gcc
}

# Installs what `need` found missing. No service starts: the tests run servers of their own.
install_missing() (
    [ -n "$missing" ] || exit 0
    command -v apt-get >/dev/null || fail "install these Debian packages, or what has their content here:$missing"
    echo "installing:$missing"
    if [ ! -e /usr/sbin/policy-rc.d ]; then
        trap 'as_root rm -f /usr/sbin/policy-rc.d' EXIT
        printf '#!/bin/sh\nexit 101\n' | as_root tee /usr/sbin/policy-rc.d >/dev/null
        as_root chmod 755 /usr/sbin/policy-rc.d
    fi
    as_root apt-get -qq update </dev/null
    # shellcheck disable=SC2086  # a list of words
    as_root env DEBIAN_FRONTEND=noninteractive \
        apt-get -qq --yes --no-install-recommends install $missing </dev/null >/dev/null
)

# install_project ARGUMENTS...: makes .venv if needed, and installs with `pip install ARGUMENTS`.
# Without build isolation a second time needs no network.
install_project() {
    "$python" -c 'import sys; sys.exit(sys.version_info < (3, 10))' ||
        fail "$python is $("$python" -V); Python 3.10 or newer is needed (set PYTHON)"
    .venv/bin/python -m pip --version >/dev/null 2>&1 || "$python" -m venv --clear .venv
    requirements=$(.venv/bin/python - <<'EOF'
import sys
if sys.version_info >= (3, 11):
    import tomllib
else:
    from pip._vendor import tomli as tomllib
with open("pyproject.toml", "rb") as file:
    print(*tomllib.load(file)["build-system"]["requires"])
EOF
    )
    # shellcheck disable=SC2086  # a list of words
    quiet_pip install $requirements
    quiet_pip install --no-build-isolation "$@"
}

quiet_pip() {
    .venv/bin/python -m pip --quiet --disable-pip-version-check --no-input "$@"
}
