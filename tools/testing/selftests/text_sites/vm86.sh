#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Breakpoints in VM86 mode, where the code segment may look like the kernel's

. "$(dirname "$0")/functions.sh"

breakpoints_while_functions_are_switched()
{
	local reason status=0
	reason=$("$HERE/vm86" 1 2>&1) || status=$?
	[ $status -ne 4 ] || skip "$reason"

	endlessly 'echo function > current_tracer; echo nop > current_tracer'
	"$HERE/vm86" "$(setting breakpoints 20000)" ||
		fail "its breakpoints: see above"
	stop_endless
}

run_tests breakpoints_while_functions_are_switched
