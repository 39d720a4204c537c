#!/bin/bash
# What an operator does with the package, under systemd. The last line that is printed is "all is well".
set -eu -o pipefail
trap 'systemctl status --no-pager trawld; journalctl --no-pager | grep -i trawl | tail -40' ERR
show() { systemctl show trawld --property "$1" --value; }
call() {
	setpriv --reuid=trawl --regid=trawl --clear-groups \
		trawl-cli -conf=/etc/trawl/trawl.conf -datadir=/var/lib/trawl -rpcwait -rpcwaittimeout=60 "$@"
}
log=/var/log/trawl/debug.log

dpkg --install /root/*.deb
# As taken over from a bitcoin.conf: the unit does not let it go to the background.
printf 'regtest=1\nblockfilterindex=1\ndaemon=1\n[regtest]\nlisten=0\n' >/etc/trawl/trawl.conf
systemctl enable --now trawld
test "$(show ActiveState)" = active # it was waited for
test "$(show StatusText)" = 'Answers calls'
grep -E '^(NoNewPrivs:\s1|Seccomp:\s2|CapEff:\s0+)$' -c "/proc/$(show MainPID)/status" | grep -x 3
call createwallet money
call -rpcwallet=money -generate 3
call scanblocks start '["raw(51)"]' | grep '"completed": true'

logrotate --force /etc/logrotate.d/trawl
until grep 'Configuration read again' $log; do sleep 0.1; done
test -s $log.1
systemctl reload trawld
until grep -c 'Configuration read again' $log | grep -x 2; do sleep 0.1; done

# An upgrade restarts the service.
before=$(show MainPID)
dpkg --install /root/*.deb
until test "$(show MainPID)" != "$before" -a "$(show ActiveState)" = active; do sleep 0.1; done
call getblockcount | grep -x 3

# A secret that the service cannot read by itself.
(umask 077 && printf '0a%.0s' {1..32} >/etc/trawl/cluster.secret)
mkdir /etc/systemd/system/trawld.service.d
printf '[Service]\nLoadCredential=cluster:/etc/trawl/cluster.secret\nWatchdogSec=4s\nRestartSec=1s\n' \
	>/etc/systemd/system/trawld.service.d/own.conf
printf 'clusterlisten=127.0.0.1:8340\nclustersecret=/run/credentials/trawld.service/cluster\n' >>/etc/trawl/trawl.conf
systemctl daemon-reload
systemctl restart trawld
call getclusterinfo | grep '127.0.0.1:8340'

# A node that gives no sign of life is ended and started again.
kill -STOP "$(show MainPID)"
until test "$(show NRestarts)" -ge 1 -a "$(show ActiveState)" = active; do sleep 0.1; done
journalctl --no-pager | grep -F "Failed with result 'watchdog'"
call getblockcount | grep -x 3

dpkg --remove trawl
test "$(systemctl is-active trawld)" = inactive
test -e /var/lib/trawl/regtest/wallets/money/wallet.dat
dpkg --install /root/*.deb
test "$(systemctl is-active trawld)" = inactive
systemctl start trawld
call getblockcount | grep -x 3
dpkg --purge trawl
test -e /var/lib/trawl/regtest/wallets/money/wallet.dat
test ! -e /etc/trawl/trawl.conf -a ! -e /var/log/trawl
echo all is well
