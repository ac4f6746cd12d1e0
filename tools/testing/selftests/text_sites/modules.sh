#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Modules: their sites come, are traced, and go with them.

. "$(dirname "$0")/functions.sh"

MOD=dummy

need_module()
{
	modinfo $MOD > /dev/null 2>&1 || skip "no module $MOD"
	trap 'stop_jobs; rmmod $MOD 2>/dev/null || :' EXIT
	rmmod $MOD 2>/dev/null || :
}

of_module()
{
	grep -c "\[$MOD\]" "$1"
}

sites_come_as_NOPs_and_go()
{
	need_module
	equal "before" "$(of_module available_filter_functions)" 0
	modprobe $MOD
	[ "$(of_module available_filter_functions)" -gt 3 ] || fail "no functions"
	equal "text" "$(site_text ".*\[$MOD\]")" "nop $(of_module available_filter_functions)"
	! grep -q dummy_init_module available_filter_functions || fail "init text is still there"
	rmmod $MOD
	equal "after" "$(of_module available_filter_functions)" 0
}

# functions_many has more than a few.
names_are_those_that_kallsyms_has()
{
	need_module
	modprobe $MOD
	insmod "$HERE/test_modules/functions_many.ko"
	trap 'stop_jobs; rmmod functions_many $MOD' EXIT
	equal "of a thousand" "$(grep -c '^functions_many_[0-9]* \[functions_many\]$' \
		available_filter_functions)" 1000
	# Of several symbols at one address the first counts. There may be an ENDBR before a site.
	equal "wrong" "$(perl -e '
		my %symbol;
		open my $file, "<", "/proc/kallsyms" or die;
		while (<$file>) {
			my ($addr, undef, $name, $module) = split;
			$symbol{hex $addr} //= "$name $module" if $module;
		}
		open $file, "<", "available_filter_functions_addrs" or die;
		while (<$file>) {
			my ($addr, $name, $module) = split;
			next unless $module;
			my $is = $symbol{hex $addr} // $symbol{hex($addr) - 4} // "none";
			print "$name $module is $is " if $is ne "$name $module";
		}')" ''
}

loaded_while_everything_is_traced()
{
	need_module
	modprobe $MOD; rmmod $MOD	# what it needs is loaded and cached now
	echo 8192 > buffer_size_kb
	echo function > current_tracer
	echo > trace
	modprobe $MOD
	echo 0 > tracing_on
	equal "enabled" "$(of_module enabled_functions)" "$(of_module available_filter_functions)"
	# kallsyms has the function and its alias init_module: either may be printed.
	grep -qE ': (dummy_)?init_module .*<-do_one_initcall' trace ||
		fail "init was not traced: $(grep -c . trace) lines, $(grep '<-do_one_initcall' trace)"
	echo 1408 > buffer_size_kb
	rmmod $MOD
}

init_functions_keep_their_names()
{
	local module names
	need_module
	[ -e "$HERE/test_modules/held_function.ko" ] || skip "no module held_function"
	trap 'rmmod held_function 2>/dev/null || :; rmmod $MOD 2>/dev/null || :' EXIT
	echo ':mod:held_function' > set_ftrace_filter
	echo ":mod:$MOD" >> set_ftrace_filter
	echo function > current_tracer
	# It is the function's own name or init_module, whichever is found first.
	names="(held_function_init|dummy_init_module|init_module)"
	for module in held_function $MOD; do
		echo > trace
		modprobe $module 2> /dev/null || insmod "$HERE/test_modules/$module.ko"
		# Before other text comes to where it was, which may be the next module's.
		equal "in the trace" "$(grep -cE ": $names <-do_one_initcall\$" trace)" 1
	done
	for module in held_function $MOD; do
		equal "names of $module" "$(grep -cE " T $names\s\[$module\]\$" /proc/kallsyms)" 1
	done
	rmmod $MOD
	equal "names that are left" "$(grep -E " T $names\s\[.*\]\$" /proc/kallsyms |
		grep -o '\[.*')" '[held_function]'
}

filter_by_module()
{
	need_module
	modprobe $MOD
	echo ":mod:$MOD" > set_ftrace_filter
	equal "all of it" "$(wc -l < set_ftrace_filter)" "$(of_module available_filter_functions)"
	echo "dummy_*:mod:$MOD" > set_ftrace_filter
	equal "some of it" "$(grep -c "^dummy_.* \[$MOD\]" set_ftrace_filter)" \
		"$(wc -l < set_ftrace_filter)"
	echo "vfs_*:mod:!$MOD" > set_ftrace_filter
	grep -qx vfs_read set_ftrace_filter || fail "vfs_read is not outside of $MOD"
	! grep -q "\[$MOD\]" set_ftrace_filter || fail "something of $MOD"
}

a_filter_waits_for_its_module()
{
	need_module
	echo "*:mod:$MOD" > set_ftrace_filter
	equal "waiting" "$(cat set_ftrace_filter)" "*:mod:$MOD"
	echo function > current_tracer
	equal "nothing is traced" "$(wc -l < enabled_functions)" 0
	modprobe $MOD
	equal "enabled" "$(wc -l < enabled_functions)" "$(of_module available_filter_functions)"
	ip link add dummy9 type dummy
	ip link del dummy9
	echo 0 > tracing_on
	grep -q ': dummy_setup ' trace || fail "$(head -n20 trace)"
}

a_filter_waits_for_a_module_by_a_glob()
{
	local glob="*:mod:${MOD%??}*" of dir

	need_module
	mkdir instances/one
	for dir in . instances/one; do
		echo "$glob" > $dir/set_ftrace_filter
		equal "waiting" "$(cat $dir/set_ftrace_filter)" "$glob"
	done
	modprobe $MOD
	of=$(of_module available_filter_functions)
	for dir in . instances/one; do
		equal "in the filter" "$(wc -l < $dir/set_ftrace_filter)" "$of"
		! echo "no_such:mod:${glob##*:}" >> $dir/set_ftrace_filter ||
			fail "waits for what is there"
		! grep -q ':mod:' $dir/set_ftrace_filter || fail "waits"
	done
}

waiting_filters_are_dropped()
{
	need_module
	echo "*:mod:$MOD" > set_ftrace_filter
	echo "!*:mod:$MOD" >> set_ftrace_filter
	equal "filter" "$(filter)" ""
	echo ":mod:$MOD" > set_ftrace_filter
	equal "filter" "$(filter)" ":mod:$MOD"
	echo "!:mod:$MOD" >> set_ftrace_filter
	equal "filter" "$(filter)" ""
}

an_unloaded_module_leaves_the_filter()
{
	need_module
	modprobe $MOD
	echo "dummy_xmit" > set_ftrace_filter
	rmmod $MOD
	equal "filter" "$(filter)" ""
	echo function > current_tracer
	# It was the only one. That does not mean everything.
	equal "enabled" "$(wc -l < enabled_functions)" 0
	# And what comes after it stands there once
	echo 'vfs_read:traceoff' >> set_ftrace_filter
	equal "with a command" "$(cat set_ftrace_filter)" "vfs_read:traceoff:unlimited"
	echo '!vfs_read:traceoff' >> set_ftrace_filter
}

a_file_held_open_while_the_module_goes()
{
	need_module
	modprobe $MOD
	echo "dummy_xmit vfs_read" > set_ftrace_filter
	exec 9< set_ftrace_filter
	rmmod $MOD
	equal "filter" "$(cat <&9)" "vfs_read"
	exec 9<&-
}

# Text that one module's init has left is another's by now.
many_modules_one_after_the_other()
{
	need_module
	local all="$MOD" m
	! modinfo trace-events-sample > /dev/null 2>&1 || all+=" trace-events-sample"
	for _ in 1 2 3; do
		for m in $all; do modprobe $m; done
		equal "text" "$(site_text)" "nop $(nr_available)"
		echo function > current_tracer
		equal "text" "$(site_text)" "call $(nr_available)"
		for m in $all; do rmmod ${m//-/_}; done
		equal "text" "$(site_text)" "call $(nr_available)"
		echo nop > current_tracer
	done
	equal "text" "$(site_text)" "nop $(nr_available)"
}

the_number_of_sites_is_right_again()
{
	need_module
	local before; before=$(cut -d' ' -f1 dyn_ftrace_total_info)
	equal "sites" "$before" "$(nr_available)"
	modprobe $MOD
	equal "with $MOD" "$(cut -d' ' -f1 dyn_ftrace_total_info)" "$(nr_available)"
	rmmod $MOD
	equal "without" "$(cut -d' ' -f1 dyn_ftrace_total_info)" "$before"
}

coming_and_going_while_tracing()
{
	need_module
	load &
	endlessly 'echo function > current_tracer; echo nop > current_tracer'
	for _ in $(seq 10); do
		modprobe $MOD
		rmmod $MOD
	done
	stop_endless
	echo nop > current_tracer
	equal "text" "$(site_text)" "nop $(nr_available)"
}

# The kernel's own limit is that of kallsyms, KSYM_NAME_LEN with the NUL.
a_name_that_is_too_long_is_cut()
{
	[ -e "$HERE/test_modules/long_name.ko" ] || skip "no module long_name"
	insmod "$HERE/test_modules/long_name.ko"
	local line
	line=$(grep '^long_name_' available_filter_functions) || fail "it is not there"
	equal "name" "$(echo "${line%% *}" | wc -m)" 512
	equal "all" "$(cut -d' ' -f1 dyn_ftrace_total_info)" "$(nr_available)"
	rmmod long_name
}

# again_at FUNCTION ADDRESS: reload the module until FUNCTION has its site there again. It may not
# get there: memory that other modules have left is freed later, and taken instead.
again_at()
{
	local _
	for _ in $(seq 10); do
		rmmod $MOD
		modprobe $MOD
		[ "$(site_of "$1")" != "$2" ] || return 0
	done
	return 1
}

# An ops for direct calls, or with IPMODIFY, may keep the address of a function whose module was
# unloaded in its filter. It must not be attached to the function that is loaded there next.
an_ops_that_a_module_leaves_behind()
{
	local do=/sys/module/ops_test/parameters/do of come go try
	need_module
	[ -e "$HERE/test_modules/ops_test.ko" ] || skip "no module ops_test"
	insmod "$HERE/test_modules/ops_test.ko"
	trap 'stop_jobs; rmmod ops_test || :; rmmod $MOD || :' EXIT
	while read -r of come go; do
		modprobe $MOD
		for try in 1 2 3 4 5 none; do
			[ $try != none ] || skip "it does not get to where it was again"
			echo "new a $of" > $do
			echo "filter a dummy_xmit" > $do
			echo "$come a one" > $do
			equal "attached" "$(grep -o '^[a-z_]*' enabled_functions)" dummy_xmit
			! again_at dummy_xmit "$(site_of dummy_xmit)" || break
			echo "$go a one" > $do
			sleep 1
		done
		equal "attached to what came after" "$(cat enabled_functions)" ''
		echo "$go a one" > $do
	done <<< $'direct direct not-direct\nipmodify register unregister'
}

# Its table of functions would be misread.
one_for_another_engine_is_refused()
{
	local ko=/tmp/other_engine.ko said
	trap 'rm -f /tmp/other_engine.ko' EXIT
	perl -pe 's/(vermagic=[^\0]*)text_sites /$1other_site /' \
		"$HERE/test_modules/functions_many.ko" > $ko
	! said=$(insmod $ko 2>&1) || { rmmod functions_many; fail "it is loaded"; }
	[[ $said == *'nvalid module format'* ]] || fail "$said"
}

run_tests a_name_that_is_too_long_is_cut sites_come_as_NOPs_and_go names_are_those_that_kallsyms_has \
	loaded_while_everything_is_traced init_functions_keep_their_names filter_by_module \
	a_filter_waits_for_its_module a_filter_waits_for_a_module_by_a_glob \
	waiting_filters_are_dropped \
	an_unloaded_module_leaves_the_filter a_file_held_open_while_the_module_goes \
	many_modules_one_after_the_other the_number_of_sites_is_right_again \
	an_ops_that_a_module_leaves_behind one_for_another_engine_is_refused \
	coming_and_going_while_tracing
