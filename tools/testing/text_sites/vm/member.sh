#!/bin/bash
# member.sh HOW NUMBER: runs in each of two machines, for `fleet`. eth0 leads to where the trace
# goes, eth1 to the other machine. Number 1 pings number 2.
set -eu
how=$1 number=$2

# What carries the trace is not traced: that would have no end.
events=(-p function -l icmp_rcv
	-e net:net_dev_queue -f 'name=="eth1"'
	-e net:netif_receive_skb -f 'name=="eth1"')

up() { ip address add "$2" dev "$1"; ip link set "$1" up; }

# By a clock that counts from the machine's boot
record() { trace-cmd record -C mono "$@" >/tmp/record 2>&1 || { cat /tmp/record; exit 1; }; }

reach()
{
	local tries=1
	until ping -q -c 1 -W 1 "$1" >/dev/null; do
		[ $((tries++)) -lt 100 ] || { echo "cannot reach $1"; exit 1; }
	done
}

# Each has a length of its own. The last ten are apart from each other.
pings()
{
	local i
	reach 10.1.0.2
	for i in {1..40}; do
		[ "$i" -le 30 ] || sleep 0.2
		ping -q -c 1 -W 5 -s $((1000 + i)) 10.1.0.2 >/dev/null
	done
}
export -f reach pings

# Number 2 waits for this, however 1 ends.
done_with() { echo 2>/dev/null >/dev/tcp/10.1.0.2/9 || :; }
[ "$number" -eq 2 ] || trap done_with EXIT

hostname "machine-$number"
modprobe e1000
case $how$number in
listen1)
	up eth0 10.0.2.15/24
	up eth1 10.1.0.1/24
	record -t -N 10.0.2.2:5555 "${events[@]}" bash -c pings
	;;
listen2)
	up eth0 10.0.2.15/24
	ip address add 10.1.0.2/24 dev eth1
	record -t -N 10.0.2.2:5555 "${events[@]}" bash -c 'ip link set eth1 up; nc -l -p 9'
	;;
agent1)
	up eth0 10.2.0.1/24
	up eth1 10.1.0.1/24
	reach 10.1.0.2
	cd /tmp
	record -o 1.dat "${events[@]}" -A 10.2.0.2:823 "${events[@]}" bash -c pings
	grep 'time sync' record | sed 's/^/# /'
	mv 1-10.2.0.2.dat 2.dat
	trace-cmd report -t -i 1.dat -i 2.dat
	;;
agent2)
	up eth0 10.2.0.2/24
	trace-cmd agent -N 10.2.0.1 >/dev/null &
	# The other machine calls it (port 823) as soon as this one answers.
	until cat /proc/net/tcp /proc/net/tcp6 2>/dev/null | grep -q ':0337 [0-9A-F]*:0000 0A '; do
		sleep 0.1
	done
	up eth1 10.1.0.2/24
	nc -l -p 9
	;;
esac
