# Runs in a fresh mount namespace. Builds a root at $1 that shares the directories $2... read-only, enters it, and
# leaves an init behind whose process id, as seen from outside, is all that is printed.
set -eu
root=$1
shift
mount --bind "$root" "$root"
cd "$root"
mkdir -p .old dev home proc root run tmp var/tmp work
chmod 1777 tmp var/tmp
chmod 700 root

for dir; do
  if [ -L "$dir" ]; then
    ln -sfn "$(readlink "$dir")" ".$dir"
  elif [ -d "$dir" ]; then
    mkdir -p ".$dir"
    mount -o bind,ro "$dir" ".$dir"
  fi
done

mount -t tmpfs -o mode=755 tmpfs dev
mkdir dev/pts dev/shm
for device in full null random tty urandom zero; do
  : >"dev/$device"
  mount --bind "/dev/$device" "dev/$device"
done
mount -t devpts -o newinstance,ptmxmode=0666,mode=620 devpts dev/pts
ln -s pts/ptmx dev/ptmx
ln -s /proc/self/fd dev/fd

pivot_root . .old
cd /
# The first child after `unshare -p` is the init of the box: it reaps processes without a parent, and its end ends everything there.
exec unshare -p sh -c 'while :; do sleep 86400 & wait; done </dev/null >/dev/null 2>&1 & echo $!'
