#!/bin/bash
# startup.sh: runs in the machine; what the kernel tested when it started; prints TAP.

# Those that must be among them, whatever else there is
must='tracer nop
tracer function
dynamic ftrace
dynamic ftrace ops #1
dynamic ftrace ops #2
ftrace recursion
ftrace recursion safe
ftrace regs
tracer function_graph
fgraph storage of 1 byte
fgraph storage of 8 bytes
multiple fgraph storage on a function
tracer irqsoff
tracer preemptoff
tracer preemptirqsoff
tracer wakeup
tracer wakeup_rt
tracer wakeup_dl
kprobe tracing
ftrace filter
event sched_switch
event system sched
all events
event sched_switch, traced
event system sched, traced
all events, traced'

# The result may be on a later line, if another message came between.
dmesg | sed 's/^\[[^]]*\] *//' | awk -v must="$must" '
	function result(what, name, why) {
		gsub(/#/, "No. ", name)
		printf "%s %d - %s%s\n", what, ++n, name, why
	}
	function end(what, why) {
		if (name != "")
			result(what, name, why)
		seen[name] = 1
		name = text = ""
	}
	/^Running tests again, along with the function tracer/ { traced = ", traced" }
	/^([a-z_]+: )?Testing .*:/ {
		end("not ok", " # no result: " text)
		name = $0
		sub(/^.*Testing /, "", name)
		sub(/:.*/, "", name)
		if (name ~ /event/)
			name = name traced
		sub(/^.*Testing [^:]*:/, "")
	}
	name != "" {
		text = text " " $0
		if (/PASSED|OK *$/)
			end("ok", "")
		else if (/FAILED|NG:/)
			end("not ok", " # exit=1 " text)
	}
	BEGIN { print "TAP version 13" }
	END {
		end("not ok", " # no result: " text)
		count = split(must, names, "\n")
		for (i = 1; i <= count; i++)
			if (!(names[i] in seen))
				result("not ok", names[i], " # was not tested")
		print "1.." n
	}'
