#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# set_ftrace_filter and set_ftrace_notrace: what patterns mean, and how writes
# add up.

. "$(dirname "$0")/functions.sh"

# The same pattern, but asked of grep
available()
{
	cut -d' ' -f1 available_filter_functions | grep -E "$1" | sort | xargs
}

globs()
{
	local glob regex
	while read -r glob regex; do
		echo "$glob" > set_ftrace_filter
		[ -n "$(filter)" ] || fail "$glob matches nothing"
		equal "$glob" "$(filter)" "$(available "$regex")"
	done <<-'EOF'
		vfs_*		^vfs_
		*_lock_irq	_lock_irq$
		*pipe_wr*	pipe_wr
		vfs_*ink	^vfs_.*ink$
		vfs_[rs]*	^vfs_[rs]
		vfs_rea?	^vfs_rea.$
		vfs_read	^vfs_read$
	EOF
}

several_words_in_one_write()
{
	echo 'vfs_read  vfs_write	vfs_open' > set_ftrace_filter
	equal "filter" "$(filter)" "vfs_open vfs_read vfs_write"
}

several_writes_to_an_open_file()
{
	{ echo vfs_read; echo vfs_write; } > set_ftrace_filter
	equal "filter" "$(filter)" "vfs_read vfs_write"
}

appending_and_truncating()
{
	echo vfs_read > set_ftrace_filter
	echo vfs_write >> set_ftrace_filter
	equal "appended" "$(filter)" "vfs_read vfs_write"
	echo vfs_open > set_ftrace_filter
	equal "anew" "$(filter)" "vfs_open"
	: > set_ftrace_filter
	equal "truncated" "$(cat set_ftrace_filter)" "#### all functions enabled ####"
}

removing_with_an_exclamation_mark()
{
	echo 'vfs_*' > set_ftrace_filter
	echo '!vfs_r*' >> set_ftrace_filter
	equal "filter" "$(filter)" "$(available '^vfs_[^r]')"
	echo '!vfs_write' >> set_ftrace_filter
	! grep -qx vfs_write set_ftrace_filter || fail "vfs_write is still there"
}

by_line_number()
{
	local n; n=$(grep -nx vfs_read available_filter_functions | cut -d: -f1)
	echo "$n" > set_ftrace_filter
	equal "filter" "$(filter)" "vfs_read"
}

a_word_in_pieces()
{
	in_two() { printf 'vfs_'; sleep 0.1; printf 'read\n'; }
	in_two > set_ftrace_filter
	equal "filter" "$(filter)" "vfs_read"
}

without_newline()
{
	printf vfs_read > set_ftrace_filter
	equal "filter" "$(filter)" "vfs_read"
}

notrace_wins_over_filter()
{
	echo 'vfs_read vfs_write' > set_ftrace_filter
	echo 'vfs_write' > set_ftrace_notrace
	echo function > current_tracer
	equal "enabled" "$(cut -d' ' -f1 enabled_functions | xargs)" vfs_read
	equal "notrace" "$(filter set_ftrace_notrace)" vfs_write
	: > set_ftrace_notrace
	equal "notrace is empty" "$(cat set_ftrace_notrace)" "#### no functions disabled ####"
	equal "enabled again" "$(cut -d' ' -f1 enabled_functions | sort | xargs)" "vfs_read vfs_write"
}

changing_the_filter_while_tracing()
{
	echo vfs_read > set_ftrace_filter
	echo function > current_tracer
	equal "before" "$(cut -d' ' -f1 enabled_functions | xargs)" vfs_read
	echo vfs_write > set_ftrace_filter
	equal "after" "$(cut -d' ' -f1 enabled_functions | xargs)" vfs_write
	echo 'vfs_r*' >> set_ftrace_filter
	equal "more" "$(cut -d' ' -f1 enabled_functions | sort | xargs)" \
		"$(available '^vfs_(r.*|write)$')"
	: > set_ftrace_filter
	equal "all" "$(wc -l < enabled_functions)" "$(nr_available)"
	echo '*' > set_ftrace_notrace
	equal "none" "$(cat enabled_functions)" ""
}

a_filter_not_closed_yet_has_no_effect()
{
	echo vfs_read > set_ftrace_filter
	exec 9> set_ftrace_filter
	echo vfs_write >&9
	equal "while open" "$(filter)" vfs_read
	exec 9>&-
	equal "when closed" "$(filter)" vfs_write
}

# shellcheck disable=SC2016
written_at_an_offset()
{
	local pwrite=18 file

	[ "$(uname -m)" = x86_64 ] || pwrite=181
	for file in set_ftrace_filter set_ftrace_notrace set_graph_function set_graph_notrace \
		stack_trace_filter; do
		[ -e "$file" ] || continue
		perl -e 'my ($nr, $file, $word) = @ARGV;
			 open(my $fh, ">", $file) or die "$!\n";
			 syscall($nr, fileno($fh), $word, length($word), 3, 0) == length($word) or
				die "$!\n"' $pwrite "$file" $'vfs_read\n'
		equal "$file" "$(grep -v '^#' "$file")" vfs_read
		echo > "$file"
	done
}

reading_in_small_pieces()
{
	equal "by single bytes" "$(head -c 20000 available_filter_functions | md5sum)" \
		"$(dd if=available_filter_functions bs=7 count=100000 status=none | head -c 20000 | md5sum)"
	echo '*_read' > set_ftrace_filter
	equal "filter by single bytes" "$(dd if=set_ftrace_filter bs=1 status=none)" \
		"$(cat set_ftrace_filter)"
}

run_tests globs several_words_in_one_write several_writes_to_an_open_file \
	appending_and_truncating removing_with_an_exclamation_mark by_line_number \
	a_word_in_pieces without_newline notrace_wins_over_filter \
	changing_the_filter_while_tracing a_filter_not_closed_yet_has_no_effect \
	written_at_an_offset reading_in_small_pieces
