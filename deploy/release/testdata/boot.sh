#!/bin/bash
# Boots systemd in namespaces of its own over this machine's root, of which nothing changes, and has it run a script.
# boot.sh WORK SCRIPT FILE…: WORK is an empty folder, the files come into /root beside the script, what that prints is in
# WORK/out.
set -eu -o pipefail
work=$1 script=$2
shift 2
root=$work/root
mkdir "$work/over" "$root" "$work/shared"
mount --make-rprivate /
mount -t tmpfs none "$work/over"
mkdir "$work/over/upper" "$work/over/work"
mount -t overlay -o "lowerdir=/,upperdir=$work/over/upper,workdir=$work/over/work" overlay "$root"
cp "$script" "$root/root/script.sh"
cp "$@" "$root/root/"
mkdir "$root/shared" "$root/old"
mount --bind "$work/shared" "$root/shared"
cd "$root"
mount -t tmpfs -o mode=1777 none tmp
mount -t tmpfs -o mode=755 none run
mount -t proc proc proc
mount --bind proc/sys proc/sys # the settings of the kernel are everybody's
mount -o remount,bind,ro proc/sys
mount -t sysfs -o ro sysfs sys
mount -t tmpfs -o mode=755 none sys/fs/cgroup
mkdir sys/fs/cgroup/systemd sys/fs/cgroup/unified
mount -t cgroup2 cgroup2 sys/fs/cgroup/unified
mount -t cgroup -o none,name=systemd cgroup sys/fs/cgroup/systemd
mount -t tmpfs -o mode=755 none dev
for device in null zero full random urandom tty; do
	touch "dev/$device"
	mount --bind "/dev/$device" "dev/$device"
done
mkdir dev/shm dev/pts dev/mqueue dev/hugepages
mount -t tmpfs none dev/shm
mount -t devpts -o newinstance,ptmxmode=0666 devpts dev/pts
ln -s pts/ptmx dev/ptmx
ip link set lo up
# Of the machine's own units none is wanted.
rm -rf etc/systemd/system/*.wants
: >etc/fstab
for unit in systemd-{sysctl,udevd,udev-trigger,modules-load,logind,networkd,resolved,timesyncd,random-seed,remount-fs}.service \
	proc-sys-fs-binfmt_misc.automount dev-hugepages.mount dev-mqueue.mount sys-kernel-{debug,tracing,config}.mount; do
	ln -sf /dev/null "etc/systemd/system/$unit"
done
cat >etc/systemd/system/script.service <<'END'
[Service]
Type=oneshot
ExecStart=/bin/bash /root/script.sh
StandardOutput=file:/shared/out
StandardError=file:/shared/out
ExecStopPost=/bin/systemctl --no-block --force exit
END
cat >etc/systemd/system/script.target <<'END'
[Unit]
Wants=script.service systemd-journald.service dbus.socket
AllowIsolate=yes
END
pivot_root . old
umount -l /old
mount --make-rshared /
exec chroot / env -i container=trawl PATH=/usr/sbin:/usr/bin:/sbin:/bin /lib/systemd/systemd --system \
	--unit=script.target --show-status=0
