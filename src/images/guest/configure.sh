# Runs once, in the guest, with the unpacked packages as its root: does what installing them would have done, and
# leaves nothing that depends on the time or on chance. EPOCH is the clock at which everything made here is dated.
set -eu
umask 022
here=/var/tmp/finish
PATH=$here/shims:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin
HOME=/root LC_ALL=C DEBIAN_FRONTEND=noninteractive DEBCONF_NONINTERACTIVE_SEEN=true
PERL_HASH_SEED=0 PERL_PERTURB_KEYS=0 PYTHONHASHSEED=0
export PATH HOME LC_ALL DEBIAN_FRONTEND DEBCONF_NONINTERACTIVE_SEEN PERL_HASH_SEED PERL_PERTURB_KEYS PYTHONHASHSEED

say() {
  read -r up _ < /proc/uptime
  echo "@finish $* @$up"
}

# The scripts that dpkg would have run before unpacking; they find the files already there, which they allow for. Those
# that only look at what an older version left behind are passed over: they cost 1.2 G instructions and do nothing.
say stage preinst
preinst() {
  DPKG_MAINTSCRIPT_PACKAGE=$1 DPKG_MAINTSCRIPT_NAME=preinst DPKG_MAINTSCRIPT_ARCH=riscv64 \
    DPKG_MAINTSCRIPT_PACKAGE_REFCOUNT=1 "$2" install
}
preinst base-passwd /var/lib/dpkg/info/base-passwd.preinst
for script in /var/lib/dpkg/info/*.preinst; do
  package=${script##*/}
  package=${package%.preinst}
  case ${package%:*} in
    base-passwd | base-files | dash | gzip | iproute2 | libc6 | libpam-modules) continue ;;
  esac
  preinst "${package%:*}" "$script"
done

say stage configure
dpkg --configure -a --force-unsafe-io --force-confold

say stage libraries
/usr/sbin/ldconfig

say stage python
# The host has compiled the modules unless it could not; either way these folders are dated alike.
if command -v python3 > /dev/null; then
  [ -e /usr/lib/python3*/__pycache__/os.* ] || python3 -S -B "$here/compile_all.py" ""
  find /usr/lib/python3* /usr/share/python3* -type d -exec touch --no-dereference --date="@$EPOCH" {} +
fi

say stage settle
useradd --create-home --shell /bin/bash --uid 1000 --user-group --comment "" agent
echo shinken > /etc/hostname
printf '127.0.0.1\tlocalhost shinken\n::1\tlocalhost ip6-localhost ip6-loopback\n' > /etc/hosts
: > /etc/resolv.conf
: > /etc/machine-id
mkdir -p /etc/default
printf 'LANG=C.UTF-8\n' > /etc/default/locale

# What differs from run to run, or that nobody needs.
rm -rf "$here" /run/* /tmp/* /var/tmp/* /var/cache/ldconfig/* /var/cache/debconf/*-old /var/lib/dpkg/*-old \
  /etc/passwd- /etc/group- /etc/shadow- /etc/gshadow- /etc/subuid- /etc/subgid- /etc/.pwd.lock \
  /var/lib/dpkg/lock /var/lib/dpkg/lock-frontend /var/lib/dpkg/triggers/Lock /var/lib/systemd/*
find /var/log -type f -delete
find / -xdev -newermt "@$EPOCH" -exec touch --no-dereference --date="@$EPOCH" {} +
