#!/bin/busybox sh
# pid 1 of the finishing boot: configures the tree under /target, writes it to /dev/vda as erofs, powers off.
# The host reads the lines that start with "@finish". /finish.conf sets EPOCH, UUID.

b=/bin/busybox
loader=/target/usr/lib/ld-linux-riscv64-lp64d.so.1
libraries=/tools/usr/lib/riscv64-linux-gnu:/target/usr/lib/riscv64-linux-gnu

say() {
  read -r up _ < /proc/uptime
  echo "@finish $* @$up"
}

leave() {
  $b sync
  $b poweroff -f
}

fail() {
  echo "@finish fail $*"
  leave
}

$b mount -t proc proc /proc
$b mount -t sysfs sysfs /sys
$b mount -t devtmpfs dev /dev
. /finish.conf
$b date -s "@$EPOCH" > /dev/null
# Writing back must not start before the end: it would only run in between.
echo 90 > /proc/sys/vm/dirty_ratio
echo 80 > /proc/sys/vm/dirty_background_ratio
say stage boot

for module in virtio_mmio virtio_blk; do
  $b insmod "/modules/$module.ko" || fail "module $module"
done
[ -b /dev/vda ] || fail "no disk"

for folder in proc sys dev; do
  $b mount -o bind "/$folder" "/target/$folder"
done
$b chroot /target /usr/bin/env -i "EPOCH=$EPOCH" /bin/sh /var/tmp/finish/configure.sh < /dev/null 2>&1 || fail "configure"
for folder in dev sys proc; do
  $b umount "/target/$folder" || fail "umount $folder"
done

say stage write
$loader --library-path "$libraries" /tools/usr/bin/mkfs.erofs --quiet \
  -T "$EPOCH" --mkfs-time -U "$UUID" -x-1 /dev/vda /target || fail "mkfs.erofs"
$b sync
sum=$($b dd if=/dev/vda bs=4096 count=1 2> /dev/null | $b sha256sum)
say done "${sum%% *}"
leave
