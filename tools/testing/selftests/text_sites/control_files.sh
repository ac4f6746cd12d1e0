#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Nonsense in each control file of function tracing: the error it has always
# given, and nothing changed.

. "$(dirname "$0")/functions.sh"

CONTROLS="set_ftrace_filter set_ftrace_notrace set_ftrace_pid set_ftrace_notrace_pid
	current_tracer trace_options set_graph_function set_graph_notrace
	max_graph_depth function_profile_enabled stack_trace_filter stack_max_size
	enabled_functions tracing_on
	instances/i/set_ftrace_filter instances/i/set_ftrace_notrace
	instances/i/set_ftrace_pid instances/i/set_ftrace_notrace_pid
	instances/i/current_tracer instances/i/trace_options
	/proc/sys/kernel/ftrace_enabled /proc/sys/kernel/stack_tracer_enabled"

# Something in every control file there is, by which a change can be seen
set_up()
{
	local file
	mkdir instances/i
	for file in set_ftrace_filter instances/i/set_ftrace_filter stack_trace_filter \
		set_graph_function; do
		[ ! -e $file ] || echo vfs_read > $file
	done
	for file in set_ftrace_notrace instances/i/set_ftrace_notrace set_graph_notrace; do
		[ ! -e $file ] || echo vfs_write > $file
	done
	[ ! -e max_graph_depth ] || echo 3 > max_graph_depth
	echo 1 > set_ftrace_pid
	echo 2 > set_ftrace_notrace_pid
	echo function > current_tracer
	echo function > instances/i/current_tracer

	files=() in_tracefs=()
	for file in $CONTROLS; do
		[ -e "$file" ] || continue
		files+=("$file")
		# sysctls are only read in one piece
		case $file in /*) ;; *) in_tracefs+=("$file") ;; esac
	done
	trap 'stop_jobs; tear_down' EXIT
}

tear_down()
{
	local file
	for file in set_graph_function set_graph_notrace stack_trace_filter; do
		[ ! -e $file ] || : > $file
	done
	[ ! -e max_graph_depth ] || echo 0 > max_graph_depth
}

state()
{
	head -v -n 20 "${files[@]}"
}

# written TEXT: as printf does, but for what is long
written()
{
	case $1 in
	@word[0-9]*) head -c "${1#@word}" /dev/zero | tr '\0' a; echo ;;
	@words) yes no_such_function | head -c 65536 ;;
	@zeros*) head -c "${1#@zeros}" /dev/zero ;;
	*) printf '%b' "$1" ;;
	esac
}

# write_to FILE TEXT: in one write, nothing truncated; says what went wrong
write_to()
{
	local said
	case $2 in
	# The shell writes each line by itself.
	@* | *\\n?*) said=$(written "$2" | dd of="$1" bs=128k iflag=fullblock oflag=append \
		conv=notrunc status=none 2>&1) || : ;;
	*) said=$(written "$2" 2>&1 >> "$1") || : ;;
	esac
	echo "${said##*: }"
}

# refused FILE...: writes the texts on standard input to each file that exists; in
# front of a text is the error it gets, or -
refused()
{
	local error text file before tried=0
	set_up
	before=$(state)
	while read -r error text; do
		case $error in
		-) error='' ;;
		EINVAL) error='Invalid argument' ;;
		ERANGE) error='Numerical result out of range' ;;
		ENODEV) error='No such device' ;;
		EPERM) error='Operation not permitted' ;;
		*) fail "no name for $error" ;;
		esac
		for file; do
			[ -e "$file" ] || continue
			equal "'$text' to $file" "$(write_to "$file" "$text")" "$error"
			tried=$((tried + 1))
		done
		equal "state after '$text' to $*" "$(state)" "$before"
	done
	[ $tried -gt 0 ] || skip "no $*"
	echo "# $tried writes"
}

filters_of_functions()
{
	refused set_ftrace_filter set_ftrace_notrace instances/i/set_ftrace_filter \
		instances/i/set_ftrace_notrace <<-'EOF'
		EINVAL	no_such\n
		EINVAL	no_such_*\n
		EINVAL	*_no_such\n
		EINVAL	!no_such\n
		EINVAL	!\n
		EINVAL	[\n
		EINVAL	*[\n
		EINVAL	vfs_open[0]\n
		EINVAL	:\n
		EINVAL	vfs_open:\n
		EINVAL	vfs_open:nonsense\n
		EINVAL	!vfs_open:nonsense\n
		EINVAL	:traceoff\n
		EINVAL	:traceoff:x\n
		EINVAL	no_such:traceoff\n
		EINVAL	vfs_open:traceoff:x\n
		EINVAL	vfs_open:traceoff:-1\n
		EINVAL	vfs_open:stacktrace:x\n
		EINVAL	vfs_open:enable_event\n
		EINVAL	vfs_open:enable_event:\n
		EINVAL	vfs_open:enable_event:sched\n
		EINVAL	vfs_open:enable_event:no:such\n
		EINVAL	vfs_open:enable_event:sched:sched_switch:x\n
		EINVAL	vfs_open:disable_event:no:such\n
		EINVAL	!vfs_open:mod:no_such\n
		EINVAL	0\n
		EINVAL	-1\n
		EINVAL	99999999\n
		EINVAL	4294967297\n
		EINVAL	1e3\n
		EINVAL	@word127
		EINVAL	@word1023
		EINVAL	@word1024
		EINVAL	@word4095
		EINVAL	@word65536
		EINVAL	@words
		EINVAL	\0377\0376\0375\n
		EINVAL	no_such vfs_open\n
		-	@zeros4096
		-	\n
		-	\040\t\n
		-
	EOF
}

counts_of_commands()
{
	refused set_ftrace_filter instances/i/set_ftrace_filter <<-'EOF'
		ERANGE	vfs_open:traceoff:99999999999999999999\n
		ENODEV	!vfs_open:traceoff\n
		ENODEV	!vfs_open:stacktrace:0\n
		EINVAL	!vfs_open:enable_event:no:such\n
	EOF
}

# Each zero is written alone, and waits for readers of the list.
lists_of_pids()
{
	refused set_ftrace_pid set_ftrace_notrace_pid instances/i/set_ftrace_pid \
		instances/i/set_ftrace_notrace_pid <<-'EOF'
		EINVAL	abc\n
		EINVAL	-1\n
		EINVAL	1x\n
		EINVAL	1,2\n
		EINVAL	!1\n
		EINVAL	*\n
		EINVAL	3 abc\n
		EINVAL	abc 3\n
		EINVAL	99999999999999999999\n
		EPERM	1073741824\n
		EPERM	2147483647\n
		EINVAL	@word126
		EINVAL	@word127
		EINVAL	@word65536
		EINVAL	\0377\0376\0375\n
		-	@zeros16
		-	\n
		-	\040
		-
	EOF
}

# There need not be a task of that number, and numbers may be written oddly.
pids_of_no_task()
{
	# a kernel thread, which may run at any time
	echo 010 > set_ftrace_pid
	equal "octal" "$(xargs < set_ftrace_pid)" 8
	echo '0x7ffffff 99999999' > set_ftrace_pid
	equal "pids" "$(xargs < set_ftrace_pid)" "99999999 134217727"
	echo function > current_tracer
	cat /proc/version > /dev/null
	equal "events" "$(grep -vc '^#' trace)" 0
}

filters_of_graphs()
{
	[ -e set_graph_function ] || skip "no function graph tracer"
	refused set_graph_function set_graph_notrace <<-'EOF'
		EINVAL	no_such\n
		EINVAL	no_such_*\n
		EINVAL	!no_such\n
		EINVAL	!vfs_open\n
		EINVAL	!\n
		EINVAL	*[\n
		EINVAL	vfs_open:\n
		EINVAL	vfs_open:traceoff\n
		EINVAL	vfs_open:mod:x\n
		EINVAL	:mod:x\n
		EINVAL	0\n
		EINVAL	-1\n
		EINVAL	@word127
		EINVAL	@word1023
		EINVAL	@word65536
		EINVAL	@words
		EINVAL	\0377\0376\0375\n
		EINVAL	no_such vfs_open\n
		-	@zeros4096
		-	\n
		-
	EOF
}

tracers()
{
	refused current_tracer instances/i/current_tracer <<-'EOF'
		EINVAL	no_such\n
		EINVAL	function_\n
		EINVAL	func\n
		EINVAL	Function\n
		EINVAL	function nop\n
		EINVAL	nop function\n
		EINVAL	nop\nfunction\n
		EINVAL	@word127
		EINVAL	@word65536
		EINVAL	@zeros4096
		EINVAL	\0377\0376\0375\n
		EINVAL	\n
		EINVAL	\040
		-
	EOF
}

options_by_name()
{
	refused trace_options instances/i/trace_options <<-'EOF'
		EINVAL	no_such\n
		EINVAL	nono_such\n
		EINVAL	no\n
		EINVAL	nonofunction-fork\n
		EINVAL	function-fork=1\n
		EINVAL	function-fork x\n
		EINVAL	sym-offset sym-addr\n
		EINVAL	func-no-such\n
		EINVAL	1\n
		EINVAL	@word127
		EINVAL	@word65536
		EINVAL	@zeros4096
		EINVAL	\0377\0376\0375\n
		EINVAL	\n
		-
	EOF
}

options_by_file()
{
	refused options/function-fork options/func_stack_trace options/func-no-repeats \
		options/sym-offset <<-'EOF'
		EINVAL	abc\n
		EINVAL	2\n
		EINVAL	-1\n
		EINVAL	0x\n
		EINVAL	1 2\n
		EINVAL	1x\n
		EINVAL	4294967295\n
		ERANGE	99999999999999999999\n
		EINVAL	@word127
		EINVAL	@word65536
		EINVAL	@zeros4096
		EINVAL	\n
		-
	EOF
}

numbers()
{
	refused function_profile_enabled max_graph_depth stack_max_size tracing_on <<-'EOF'
		EINVAL	abc\n
		EINVAL	-1\n
		EINVAL	0x\n
		EINVAL	1 2\n
		EINVAL	1x\n
		ERANGE	99999999999999999999\n
		EINVAL	@word127
		EINVAL	@word65536
		EINVAL	@zeros4096
		EINVAL	\0377\0376\0375\n
		EINVAL	\n
		EINVAL	\040
		-
	EOF
}

sysctls()
{
	refused /proc/sys/kernel/ftrace_enabled /proc/sys/kernel/stack_tracer_enabled <<-'EOF'
		EINVAL	abc\n
		EINVAL	0x\n
		EINVAL	1x\n
		EINVAL	4294967296\n
		EINVAL	4294967295\n
		EINVAL	99999999999999999999\n
		EINVAL	@word127
		EINVAL	@word65536
		EINVAL	@zeros4096
		EINVAL	\0377\0376\0375\n
		EINVAL	\n
		EINVAL	\040
		-
	EOF
}

filter_of_the_stack_tracer()
{
	refused stack_trace_filter <<-'EOF'
		EINVAL	no_such\n
		EINVAL	no_such_*\n
		EINVAL	!no_such\n
		EINVAL	vfs_open:\n
		EINVAL	vfs_open:nonsense\n
		ENODEV	vfs_open:traceoff\n
		ENODEV	vfs_open:mod:x\n
		EINVAL	0\n
		EINVAL	-1\n
		EINVAL	@word127
		EINVAL	@word65536
		EINVAL	@words
		-	@zeros4096
		-	\n
		-
	EOF
}

files_that_are_only_read()
{
	local file text
	for file in enabled_functions touched_functions available_filter_functions \
		available_filter_functions_addrs available_tracers dyn_ftrace_total_info \
		stack_trace trace_stat/function0; do
		[ -e $file ] || { echo "# no $file"; continue; }
		for text in 'vfs_read\n' '\n' @zeros4096 @word65536; do
			equal "'$text' to $file" "$(write_to $file "$text")" "Invalid argument"
		done
	done
	equal "enabled" "$(cat enabled_functions)" ""
}

# same FILE WHERE GOT WANTED
same()
{
	cmp -s "$3" "$4" || fail "$1 $2: $(head -c 200 "$3"), not $(head -c 200 "$4")"
}

reading_at_odd_offsets()
{
	local dir file size offset
	set_up
	dir=$(mktemp -d)
	for file in "${in_tracefs[@]}" available_filter_functions \
		available_filter_functions_addrs available_tracers dyn_ftrace_total_info; do
		cat "$file" > "$dir/whole"
		size=$(stat -c %s "$dir/whole")
		for offset in 0 1 3 4095 4096 4097 $((size - 1)) "$size" $((size + 1)) 99999999; do
			[ "$offset" -ge 0 ] || continue
			# Byte by byte
			dd if="$file" bs=1 skip="$offset" count=7 status=none \
				> "$dir/got" 2> /dev/null || :
			tail -c +$((offset + 1)) "$dir/whole" | head -c 7 > "$dir/wanted"
			same "$file" "at $offset" "$dir/got" "$dir/wanted"
		done
	done
	rm -r "$dir"
}

reading_by_single_bytes()
{
	local dir file bytes
	set_up
	dir=$(mktemp -d)
	for file in "${in_tracefs[@]}"; do
		cat "$file" > "$dir/whole"
		for bytes in 1 2 5; do
			dd if="$file" bs=$bytes status=none > "$dir/got"
			same "$file" "by $bytes" "$dir/got" "$dir/whole"
		done
	done
	rm -r "$dir"
}

run_tests filters_of_functions counts_of_commands lists_of_pids pids_of_no_task \
	filters_of_graphs tracers options_by_name options_by_file numbers sysctls \
	filter_of_the_stack_tracer files_that_are_only_read reading_at_odd_offsets \
	reading_by_single_bytes
