# Installs the packages "$@" with the host's own package manager: as root, or as a user who may become root without being
# asked.
if [ "$(id -u)" = 0 ]; then as_root=; else as_root='sudo -n'; fi
if command -v apt-get >/dev/null 2>&1; then
  $as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends "$@" ||
    { $as_root apt-get -qq update &&
      $as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends "$@"; }
elif command -v apk >/dev/null 2>&1; then $as_root apk add -q "$@"
elif command -v dnf >/dev/null 2>&1; then $as_root dnf -q -y install "$@"
else echo 'it has no apt-get, apk or dnf' >&2; exit 1
fi >/dev/null
