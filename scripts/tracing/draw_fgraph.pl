#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0
#
# Draws a trace of the function_graph tracer: a flame graph of the times that functions took
# themselves, and a time line of each CPU. Both are in one HTML file, which needs nothing else.
# --help has the options.
#
# A line of the trace says how deep its function is, so that calls are found again after
# events were lost. Each task has a stack of frames, as in the kernel. A frame is
#
#   node   its place in the task's tree of calls, which the flame graph is made of
#   start  when it was entered
#   kids   the time that its callees took, and the time in which the task did not run
#   seen   since when it has been running on its CPU, for the time line
#   guess  its entry is not in the trace; the node gets its name when it returns
#   irq    it interrupted the frame below, or belongs to one that did
#
# All times are in nanoseconds. A trace without absolute times has a clock for each CPU, which
# advances by the durations. Such clocks cannot be compared with each other.
use strict;
use warnings;
use File::Basename qw(basename dirname);
use File::Temp qw(tempfile);
use Getopt::Long qw(:config no_ignore_case);

my $WIDTH = 1200;		# of the flame graph, in pixels
my $MARGIN = 10;		# on both sides of it
my $NARROWEST = 0.1;		# what it still draws
my $INTERRUPT = '[interrupt]';
my $NOT_RUNNING = '[not running]';

my $usage = <<'END';
usage: draw_fgraph.pl [OPTION...] [TRACE]

Reads TRACE, or standard input: the file `trace` of tracefs with the function_graph tracer, or
what `trace-cmd report` prints. Writes a page with a flame graph and a time line of each CPU.

  -o, --output FILE      write the page to FILE, not to standard output
      --together         one flame graph of all tasks; by default, each has its own part
      --folded           write only the stacks with their times in ns, as flame graphs are made of
      --flamegraph FILE  the flamegraph.pl to use; `none`: the time lines alone
      --bars N           draw at most N bars in the time lines, the longest ones (50000)
  -h, --help             show this text

The trace needs funcgraph-cpu, and funcgraph-duration or funcgraph-abstime. With
funcgraph-abstime, and with funcgraph-proc or the event sched_switch, the page shows more.
END

my ($output, $together, $folded, $flamegraph, $limit, $help) = (undef, 0, 0, undef, 50_000, 0);

sub fail
{
	print {*STDERR} 'draw_fgraph: ', @_, "\n";
	exit 1;
}

sub max { return $_[0] > $_[1] ? $_[0] : $_[1] }
sub min { return $_[0] < $_[1] ? $_[0] : $_[1] }

# --- What has been read

# By its number: { number, time: of the last line, clock: where the last bar ends, run: the task
# on it, since: when that one came, owner: the task whose lines follow, next: the task that an
# event has announced, irq: the next entry is that of an interrupt, leaf: a call that ends with
# the next line, before: where the last bar ended before this line }
my %cpus;
# By PID: { pid, label, root: its tree, stack, cpu, off: since when it has not been running }
my %tasks;
# All tasks, with those that have no PID yet
my @tasks;
# [ CPU, depth, start, length, node or task, task, irq ]; the task itself has depth -1
my @bars;
# Of the bars that have been left out: how many, and the length of the longest
my ($dropped, $longest_dropped) = (0, 0);
# Does the trace have absolute times? And of its first line?
my ($absolute, $begin);
my %count = map { ($_ => 0) } qw(calls lost gaps cut guessed leaves);

sub node { return { name => $_[0], self => 0, kids => {} } }

# child NODE, NAME: the node of a callee
sub child
{
	my ($node, $name) = @_;
	return $node->{kids}{$name} //= node($name);
}

# unnamed NODE: a callee whose name comes later, if at all
sub unnamed
{
	my ($node) = @_;
	# No function has such a name.
	my $key = '?' . keys %{ $node->{kids} };
	return $node->{kids}{$key} = node(undef);
}

sub new_task
{
	my ($pid, $label, $cpu) = @_;
	my $task = { pid => $pid, label => $label, root => node(undef), stack => [], cpu => $cpu,
		number => scalar @tasks };
	push @tasks, $task;
	return $task;
}

# key PID, CPU: each CPU has an idle task, and all of these have PID 0
sub key { return $_[0] ? $_[0] : "idle $_[1]{number}" }

# task_of PID, COMM, CPU: the task with this PID
sub task_of
{
	my ($pid, $comm, $cpu) = @_;
	my $label = $pid ? "$comm-$pid" : 'idle';
	my $task = $tasks{ key($pid, $cpu) } //= new_task($pid, $label, $cpu);

	# The tracer shortens names to seven characters, events do not.
	if ($pid && length $label > length $task->{label}) {
		my $short = $task->{label} =~ s/-\d+$//r;
		$task->{label} = $label if index($comm, $short) == 0;
	}
	return $task;
}

# name_owner CPU, PID, COMM: whose lines those were that did not say it. A task that has had
# lines on another CPU before has two trees then, whose stacks become one again at the end.
sub name_owner
{
	my ($cpu, $pid, $comm) = @_;
	my $owner = $cpu->{owner};
	return if !$owner || defined $owner->{pid};
	my $known = $tasks{ key($pid, $cpu) };

	cut($known, $cpu, 0, $cpu->{clock}) if $known;
	delete $tasks{ key($pid, $cpu) };
	@{$owner}{qw(pid label)} = ($pid, $pid ? "$comm-$pid" : 'idle');
	$tasks{ key($pid, $cpu) } = $owner;
}

# bar CPU, DEPTH, START, END, WHAT, TASK, IRQ: when there are too many, only the longest stay
sub bar
{
	my ($cpu, $depth, $start, $end, $what, $task, $irq) = @_;
	push @bars, [ $cpu->{number}, $depth, $start, max($end - $start, 0), $what, $task, $irq ];
	shorten() if @bars > 2 * $limit;
}

sub shorten
{
	return if @bars <= $limit;
	@bars = sort { $b->[3] <=> $a->[3] } @bars;
	$longest_dropped = max($longest_dropped, $bars[$limit][3]);
	$dropped += @bars - $limit;
	$#bars = $limit - 1;
}

# --- Tasks come and go

# pause CPU, NOW: the task there stops running
sub pause
{
	my ($cpu, $now) = @_;
	my $task = $cpu->{run} // return;

	for my $depth (0 .. $#{ $task->{stack} }) {
		my $frame = $task->{stack}[$depth];
		# A call that has just begun has a bar, too.
		bar($cpu, $depth, $frame->{seen}, $now, $frame->{node}, $task, $frame->{irq})
			if $now > $frame->{seen} || $frame->{seen} == $frame->{start};
	}
	bar($cpu, -1, $cpu->{since}, $now, $task, $task, 0) if $now > $cpu->{since};
	$task->{off} = $now;
	$cpu->{run} = undef;
}

# run TASK, CPU, NOW: the task runs there now
sub run
{
	my ($task, $cpu, $now) = @_;
	my $stack = $task->{stack};
	return if ($cpu->{run} // 0) == $task;

	pause($cpu, $now);
	# Nothing may have been seen of how it left the other CPU.
	my $other = $task->{cpu};
	pause($other, $other->{clock}) if $other != $cpu && ($other->{run} // 0) == $task;
	if ($absolute && @$stack && defined $task->{off} && $now > $task->{off}) {
		my $away = $now - $task->{off};
		child($stack->[-1]{node}, $NOT_RUNNING)->{self} += $away;
		$stack->[-1]{kids} += $away;
	}
	$_->{seen} = $now for @$stack;
	@{$cpu}{qw(run since)} = ($task, $now);
	@{$task}{qw(cpu off)} = ($cpu, undef);
}

# line_of TASK, CPU: it runs, or is still running after the event that announced another one
sub line_of
{
	my ($task, $cpu) = @_;
	if ($cpu->{next} && $cpu->{run} != $task) {
		run($cpu->{next}, $cpu, $cpu->{before});
		$cpu->{next} = undef;
	}
	run($task, $cpu, $cpu->{clock});
}

# --- Functions are entered and left

# leave TASK, CPU, END, DURATION: the innermost frame ends
sub leave
{
	my ($task, $cpu, $end, $duration) = @_;
	my $stack = $task->{stack};
	my $frame = pop @$stack;
	my $self = max($duration - $frame->{kids}, 0);

	$frame->{node}{self} += $self;
	$stack->[-1]{kids} += $frame->{kids} + $self if @$stack;
	# If the task does not run, its bars ended when it stopped.
	bar($cpu, scalar @$stack, $frame->{seen}, $end, $frame->{node}, $task, $frame->{irq})
		if !defined $task->{off};
}

# lasted FRAME, CPU, END: how long it has been there, as far as that can be told
sub lasted
{
	my ($frame, $cpu, $end) = @_;
	return 0 if !$absolute && $frame->{cpu} != $cpu;
	return max($end - $frame->{start}, 0);
}

# cut TASK, CPU, DEPTH, END: frames from DEPTH on have ended, and nobody saw how
sub cut
{
	my ($task, $cpu, $depth, $end) = @_;
	while (@{ $task->{stack} } > $depth) {
		my $frame = $task->{stack}[-1];
		my $last = $task->{off} // $end;
		$count{cut}++ unless $frame->{guess};
		leave($task, $cpu, $last, lasted($frame, $cpu, $last));
	}
}

sub push_frame
{
	my ($task, $cpu, $node, $now, $guess, $irq) = @_;
	my $frame = { node => $node, start => $now, seen => $now, kids => 0, guess => $guess,
		irq => $irq, cpu => $cpu };
	push @{ $task->{stack} }, $frame;
	return $frame;
}

# reach TASK, CPU, DEPTH, NOW: have the stack DEPTH frames, with those that were not seen
sub reach
{
	my ($task, $cpu, $depth, $now) = @_;
	my $stack = $task->{stack};

	cut($task, $cpu, $depth, $now);
	while (@$stack < $depth) {
		my $below = @$stack ? $stack->[-1] : { node => $task->{root}, irq => 0 };
		push_frame($task, $cpu, unnamed($below->{node}), $now, 1, $below->{irq});
	}
}

sub enter
{
	my ($task, $cpu, $depth, $name, $now) = @_;
	my $stack = $task->{stack};

	reach($task, $cpu, $depth, $now);
	my ($node, $irq) = @$stack ? @{ $stack->[-1] }{qw(node irq)} : ($task->{root}, 0);
	if ($cpu->{irq}) {
		($node, $irq) = (child($node, $INTERRUPT), 1);
		$cpu->{irq} = 0;
	}
	$count{calls}++;
	push_frame($task, $cpu, child($node, $name), $now, 0, $irq);
}

# finish TASK, CPU, DEPTH, NAME, DURATION, NOW: a function returns; returns when, by the clock of
# its CPU. NAME and DURATION may be unknown.
sub finish
{
	my ($task, $cpu, $depth, $name, $duration, $now) = @_;
	my $stack = $task->{stack};

	reach($task, $cpu, $depth + 1, $now) if @$stack != $depth + 1;
	my $frame = $stack->[-1];
	if (defined $name && defined $frame->{node}{name} && $frame->{node}{name} ne $name) {
		cut($task, $cpu, $depth, $now);
		reach($task, $cpu, $depth + 1, $now);
		$frame = $stack->[-1];
	}
	my $end = $now;
	$end = max($end, $frame->{start} + $duration)
		if defined $duration && !$frame->{guess} && $frame->{cpu} == $cpu &&
			(!$absolute || $frame->{start} + $duration < $now + 1000);
	if ($frame->{guess}) {
		# What it did before the trace began is not in the picture.
		my $lasted = lasted($frame, $cpu, $end);
		$duration = min($duration // $lasted, $lasted);
		$frame->{node}{name} //= $name;
		$count{calls}++;
		$count{guessed}++;
	}
	leave($task, $cpu, $end, $duration // lasted($frame, $cpu, $end));
	return $end;
}

# lose CPU: events of it are missing
sub lose
{
	my ($cpu) = @_;
	pause($cpu, $cpu->{clock});
	cut($_, $cpu, 0, $cpu->{clock}) for grep { $_->{cpu} == $cpu } @tasks;
	@{$cpu}{qw(irq leaf next)} = (0, undef, undef);
}

# --- Lines

# Of a function, with its module
my $NAME = qr/[\w.\$]+(?: \[[\w. -]+\])?/;
# The column of the duration, which may be empty; in front of it, a mark if it is long
my $DURATION = qr/ *(?:[+!#*@\$] )? *(?:(\d+(?:\.\d+)?) us)? *\|  /;
my ($line, $in_comment) = (0, 0);
# The columns in front of the function: undef until it is known which there are
my ($columns, $format);
my %has;

sub wrong { fail("line $line: ", @_) }

# ns SECONDS, FRACTION: the fraction has any number of digits
sub ns { return $_[0] * 1_000_000_000 + substr("$_[1]000000000", 0, 9) }

# duration TEXT: what stands in front of `us`, if anything does
sub duration
{
	my ($us, $rest) = split /\./, $_[0] // '';
	return undef unless defined $us;
	return $us * 1000 + substr(($rest // '') . '000', 0, 3);
}

# cpu NUMBER, TIME: where a line belongs, and when it was. Times are rounded down to
# microseconds: a line is not before the end of the call in front of it.
sub cpu
{
	my ($number, $time) = @_;
	my $cpu = $cpus{ $number + 0 } //= { number => $number + 0, clock => $time // 0, irq => 0 };

	$cpu->{before} = $cpu->{clock};
	if ($absolute) {
		wrong('its time is before that of the line before on the same CPU')
			if defined $cpu->{time} && $time < $cpu->{time};
		$begin = $time if !defined $begin || $time < $begin;
		$cpu->{time} = $time;
		$cpu->{clock} = $time unless $cpu->{clock} >= $time && $cpu->{clock} < $time + 1000;
	}
	$cpu->{begin} //= $cpu->{clock};
	if (my $leaf = delete $cpu->{leaf}) {
		my ($task, $depth, $frame) = @$leaf;
		# Its task may have gone on elsewhere.
		finish($task, $cpu, $depth, undef, undef, $cpu->{clock})
			if ($task->{stack}[$depth] // 0) == $frame;
	}
	return $cpu;
}

# function TASK, CPU, TEXT, DURATION: what is behind the columns
sub function
{
	my ($task, $cpu, $text, $took) = @_;
	my ($indent, $rest) = $text =~ /^( *)(.*?)\s*$/;
	my $depth = length($indent) / 2;
	my $now = $cpu->{clock};

	line_of($task, $cpu);
	if ($rest =~ m{^/\*}) {
		$in_comment = $line unless $rest =~ m{\*/$};
		scheduled($cpu, $1) if $rest =~ m{^/\* sched_switch: (.*) \*/$};
		return;
	}
	wrong("the function is indented by an odd number of spaces: $rest") if $depth != int $depth;
	if ($rest =~ m<^\}(?: /\* *(.*?) *\*/)?$>) {
		my ($name) = ($1 // '') =~ /^($NAME)(?: |$)/;
		wrong('the function has no duration') if !defined $took && !$absolute;
		$cpu->{clock} = finish($task, $cpu, $depth, $name, $took, $now);
	} elsif ($rest =~ m<^($NAME)\(.*\) \{(?: /\*.*\*/)?$>) {
		enter($task, $cpu, $depth, $1, $now);
	} elsif ($rest =~ m<^($NAME)\(.*\);(?: /\*.*\*/)?$>) {
		enter($task, $cpu, $depth, $1, $now);
		if (defined $took) {
			$cpu->{clock} = $now + $took;
			finish($task, $cpu, $depth, $1, $took, $cpu->{clock});
		} else {
			wrong('the function has no duration') if !$absolute;
			$cpu->{leaf} = [ $task, $depth, $task->{stack}[-1] ];
			$count{leaves}++;
		}
	} else {
		wrong($rest eq '' ? 'no function' : "no function: $rest");
	}
}

# scheduled CPU, TEXT: the event says who runs now, in the form of the kernel or of trace-cmd
sub scheduled
{
	my ($cpu, $text) = @_;
	$text =~ /^prev_comm=(.*) prev_pid=(\d+) .*==> next_comm=(.*) next_pid=(\d+) / ||
		$text =~ /^(.*):(\d+) \[\d+\] .*==> (.*):(\d+) \[\d+\]/ ||
		wrong("no switch of tasks: $text");
	my ($prev_comm, $prev, $next_comm, $next) = ($1, $2, $3, $4);

	name_owner($cpu, $prev, $prev_comm);
	task_of($prev, $prev_comm, $cpu);
	$cpu->{next} = task_of($next, $next_comm, $cpu);
}

# choose_columns HEADER: which there are, and how they look
sub choose_columns
{
	my $time = $has{time} ? qr/\s*(\d+)\.(\d+) \|  / : qr/()()/;
	my $proc = $has{proc} ? qr/\s*(.+?)-(\d+)\s* \| / : qr/()()/;
	my $latency = $has{latency} ? qr/ \s*\S{4,8}\s* \| / : qr//;
	my $duration = $has{duration} ? $DURATION : qr/()/;
	my $arrow = qr/\s*(==========>|<==========)/;

	$absolute = $has{time};
	$columns = qr/^$time *(\d+)\) $proc$latency(?:$arrow.*|$duration(.*))$/;
}

# guess_columns LINE: a trace may have lost its header
sub guess_columns
{
	my ($text) = @_;
	my ($front) = split m{/\*|\{|;}, $text;
	$has{time} = $front =~ /^\s*\d+\.\d+ \|  /;
	$has{duration} = $front =~ / us +\|  / || $front =~ / {14}\|  /;
	$has{proc} = $front =~ /\d\)\s+\S.*-\d+\s* \| /;
	$has{latency} = $front =~ / [.\w]{5,6}\s* \| /;
	choose_columns();
	wrong("no line of a function_graph trace: $text") if $text !~ $columns;
}

# header TEXT: says which columns there are
sub header
{
	my ($text) = @_;
	if ($text =~ /^# tracer: (\S+)/) {
		wrong("a trace of the tracer $1, not of function_graph") if $1 ne 'function_graph';
		wrong('a second trace begins') if $format;
		$format = 'tracefs';
	} elsif ($text =~ /FUNCTION CALLS/) {
		wrong('the trace does not have the CPUs: switch funcgraph-cpu on')
			if $text !~ /\bCPU\b/;
		my %word = (time => qr/(?<!REL )\bTIME\b/, proc => qr/TASK\/PID/,
			duration => qr/DURATION/, latency => qr/\|\|\|\|/);
		%has = map { ($_ => scalar $text =~ $word{$_}) } keys %word;
		wrong('the trace has no times: switch funcgraph-duration or funcgraph-abstime on')
			unless $has{duration} || $has{time};
		choose_columns();
	}
}

# reported LINE: as trace-cmd prints it; false if it is not
sub reported
{
	my ($text) = @_;
	my ($comm, $pid, $number, $s, $fraction, $event, $rest) =
		$text =~ /^ *(.+)-(\d+) +\[(\d+)\](?: +\S{4,8})? +(\d+)\.(\d+): (\w+): ?(.*)$/
		or return 0;

	$absolute = 1;
	$format //= 'trace-cmd';
	my $cpu = cpu($number, ns($s, $fraction));
	my $task = $cpu->{owner} = task_of($pid, $comm, $cpu);
	if ($event =~ /^funcgraph_(?:entry|exit)$/) {
		my ($took, $text) = $rest =~ /^$DURATION(.*)$/ or wrong("no function: $rest");
		function($task, $cpu, $text, duration($took));
	} elsif ($event eq 'sched_switch') {
		line_of($task, $cpu);
		scheduled($cpu, $rest =~ s/^ +//r);
	}
	return 1;
}

# read_line TEXT: one line of the trace
sub read_line
{
	my ($text) = @_;

	if ($in_comment) {
		$in_comment = 0 if $text =~ m{\*/$};
	} elsif ($text =~ /^\s*$/ || $text =~ /^ -{20,}$/ || $text =~ /^ \(Overruns: \d+\)$/) {
		return;
	} elsif ($text =~ /^#/) {
		header($text);
	} elsif ($text =~ /^CPU:(\d+) \[(?:LOST )?(?:(\d+) )?EVENTS(?: DROPPED)?\]$/) {
		my $cpu = $cpus{ $1 + 0 };
		lose($cpu) if $cpu;
		$count{lost} += $2 // 0;
		$count{gaps}++;
	} elsif (!$columns && ($text =~ /^cpus=\d+$/ || $text =~ /^(?:version = |CPU )\S/)) {
		$format //= 'trace-cmd';
	} elsif ($text =~ /^ *(\d+)\) +(\S.*?)-(\d+) +=> +(\S.*)-(\d+) *$/) {
		my $cpu = $cpus{ $1 + 0 } // wrong("CPU $1 switches tasks before it runs any");
		name_owner($cpu, $3, $2);
		$cpu->{owner} = task_of($5, $4, $cpu);
	} elsif ($columns && $text =~ $columns) {
		my ($s, $fraction, $number, $comm, $pid, $arrow, $took, $function) =
			($1, $2, $3, $4, $5, $6, $7, $8);
		my $cpu = cpu($number, $absolute ? ns($s, $fraction) : undef);
		$cpu->{owner} = task_of($pid, $comm, $cpu) if $has{proc};
		$cpu->{owner} //= new_task(undef, undef, $cpu);
		if (defined $arrow) {
			$cpu->{irq} = $arrow =~ />$/;
		} else {
			function($cpu->{owner}, $cpu, $function, duration($took));
		}
	} elsif ($text =~ /^ ?=> / || (!$columns || $has{time}) && reported($text)) {
		return;
	} elsif (!$columns && ($format // '') ne 'trace-cmd') {
		guess_columns($text);
		read_line($text);
	} else {
		wrong("no line of a function_graph trace: $text");
	}
}

sub read_trace
{
	my ($in) = @_;
	while (my $text = <$in>) {
		$line++;
		wrong('the trace ends in the middle of it') unless $text =~ s/\r?\n\z//;
		read_line($text);
	}
	fail('cannot read the trace: ', $!) if $in->error;
	fail("line $in_comment: the comment does not end") if $in_comment;
	fail('the trace has no functions') if !$count{calls};
	for my $cpu (values %cpus) {
		cpu($cpu->{number}, $cpu->{time}) if $cpu->{leaf};
		run($cpu->{next}, $cpu, $cpu->{clock}) if $cpu->{next};
		pause($cpu, $cpu->{clock});
	}
	cut($_, $_->{cpu}, 0, $_->{cpu}{clock}) for @tasks;
	shorten();
}

# --- The flame graph

sub task_name
{
	my ($task) = @_;
	return $task->{label} // "CPU $task->{cpu}{number}";
}

# plain NAME: of a task, which may have chosen any, without what folded stacks or pages do not take
sub plain { return $_[0] =~ s/[^\w \/.:<>()\[\]{}+=@#%*,~!?^-]/_/gr =~ tr/<>/()/r }

# fold NODE, PATH, INTO: adds the times of NODE and what it calls to those of their stacks
sub fold
{
	my ($node, $path, $into) = @_;
	no warnings 'recursion';
	$into->{$path} += $node->{self} if $node->{self} && $path ne '';
	for my $kid (values %{ $node->{kids} }) {
		# Nobody knows what it was.
		my $name = $kid->{name} // '';
		fold($kid, $path eq '' || $name eq '' ? "$path$name" : "$path;$name", $into);
	}
}

sub stacks
{
	my %times;
	fold($_->{root}, $together ? '' : plain(task_name($_)), \%times) for @tasks;
	return \%times;
}

# find_flamegraph: Debian's package has it among the modules of perl
sub find_flamegraph
{
	return if ($flamegraph // '') eq 'none';
	if (defined $flamegraph) {
		fail("$flamegraph: no such file") unless -f $flamegraph;
		return $flamegraph;
	}
	for my $name ((map { "$_/flamegraph.pl" } split /:/, $ENV{PATH} // ''),
			map { "$_/Devel/NYTProf/flamegraph.pl" } @INC) {
		return $name if -f $name;
	}
	fail('flamegraph.pl is missing: Debian has it in libdevel-nytprof-perl; see --flamegraph');
}

# draw_flames PROGRAM, STACKS: returns the picture as SVG
sub draw_flames
{
	my ($program, $stacks) = @_;
	my ($file, $name) = tempfile(UNLINK => 1);
	print {$file} map { "$_ $stacks->{$_}\n" } sort keys %$stacks;
	close $file or fail("$name: $!");
	# The colours are chosen by chance, but for --hash.
	open my $from, '-|', $^X, $program, '--hash', '--countname=ns', '--title= ',
		"--width=$WIDTH", "--minwidth=$NARROWEST", $name or fail("$program: $!");
	my $svg = do { local $/; <$from> };
	close $from or fail("$program failed");
	$svg =~ s/^.*?(?=<svg\b)//s or fail("$program has drawn nothing");
	return $svg;
}

# --- The page

sub us { return sprintf '%.3f us', $_[0] / 1000 }
sub escape { return $_[0] =~ s/&/&amp;/gr =~ s/</&lt;/gr =~ s/>/&gt;/gr =~ s/"/&quot;/gr }
sub plural { return "$_[0] $_[1]" . ($_[0] == 1 ? '' : 's') }
sub calls { return plural($count{ $_[0] }, 'call') }

# notes SUM: what a reader of the picture must know
sub notes
{
	my ($sum) = @_;
	my @notes;
	push @notes, 'The trace has no absolute times (funcgraph-abstime): on each time line, ' .
		'calls are in their order and as long as they took, but the time between them ' .
		'is missing, and the CPUs cannot be compared.' if !$absolute;
	push @notes, calls('leaves') . ' without a duration (funcgraph-duration): taken to last ' .
		'until the next line of the same CPU.' if $count{leaves};
	push @notes, 'Events were lost ' . plural($count{gaps}, 'time') .
		($count{lost} ? ", at least $count{lost}" : '') . ': calls end there.'
		if $count{gaps};
	push @notes, calls('guessed') . ' whose beginning is not in the trace: drawn from where ' .
		'the trace shows them first.' if $count{guessed};
	push @notes, calls('cut') . ' whose end is not in the trace: drawn as far as it is known.'
		if $count{cut};
	push @notes, plural($dropped, 'bar') . ' left out of the time lines, the shortest: none ' .
		'of more than ' . us($longest_dropped) . '.' if $dropped;
	push @notes, "The flame graph leaves out what is narrower than $NARROWEST pixels: less " .
		'than ' . us($sum * $NARROWEST / ($WIDTH - 2 * $MARGIN)) . ' in all.' if $sum;
	return @notes;
}

# text TEXT: as a string of JavaScript, within a page
sub text
{
	my ($text) = @_;
	# What is no UTF-8 is taken to be Latin-1.
	utf8::decode($text);
	# In ASCII: the rest of the page is bytes, which must not become characters.
	return '"' . $text =~ s/([^\w .()\[\]*:\/-])/sprintf '\\u{%x}', ord $1/gaer . '"';
}

# bars_of CPU, NAMES: as numbers: depth, start, length, name, task, irq; by their start
sub bars_of
{
	my ($cpu, $number_of) = @_;
	my @numbers;
	for my $bar (sort { $a->[2] <=> $b->[2] || $a->[1] <=> $b->[1] }
			grep { $_->[0] == $cpu->{number} } @bars) {
		my ($depth, $start, $length, $what, $task, $irq) = @{$bar}[1 .. 6];
		my $name = $depth < 0 ? task_name($what) : $what->{name} // next;
		push @numbers, $depth, $start - ($absolute ? $begin : $cpu->{begin}), $length,
			$number_of->($name), $task->{number}, $irq ? 1 : 0;
	}
	return join ',', @numbers;
}

sub json
{
	my (@names, %number);
	my $number_of = sub {
		my ($name) = @_;
		return $number{$name} //= push(@names, $name) - 1;
	};
	my @cpus = map { sprintf '{"cpu":%d,"bars":[%s]}', $_->{number}, bars_of($_, $number_of) }
		sort { $a->{number} <=> $b->{number} } values %cpus;
	return sprintf '{"begin":%s,"tasks":[%s],"names":[%s],"cpus":[%s]}',
		$absolute ? $begin : 0, join(',', map { text(task_name($_)) } @tasks),
		join(',', map { text($_) } @names), join(",\n", @cpus);
}

sub page
{
	my ($title, $stacks) = @_;
	my $program = find_flamegraph();
	my $sum = 0;
	$sum += $_ for values %$stacks;
	fail('no function of the trace took any time') if !$sum;
	my $flames = '';
	if (defined $program) {
		my $svg = draw_flames($program, $stacks);
		my ($height) = $svg =~ /^<svg[^>]* height="(\d+)/
			or fail("$program: a picture without a height");
		my $inner = escape("<!DOCTYPE html><style>body { margin: 0 }</style>$svg");
		$flames = qq{<iframe id="flames" width="$WIDTH" height="$height"\n} .
			qq{srcdoc="$inner"></iframe>};
	}
	my @notes = notes($flames ne '' ? $sum : 0);
	my %of = (
		title => escape($title),
		summary => escape(summary()),
		notes => join('', map { '<li>' . escape($_) . "</li>\n" } @notes),
		flames => $flames,
		data => json(),
	);
	my $page = do { local $/; <DATA> };
	return $page =~ s/\@(\w+)\@/$of{$1}/gr;
}

sub summary
{
	my %functions;
	my @nodes = map { $_->{root} } @tasks;
	while (my $node = shift @nodes) {
		$functions{ $node->{name} } = 1 if defined $node->{name};
		push @nodes, values %{ $node->{kids} };
	}
	delete @functions{$INTERRUPT, $NOT_RUNNING};
	my %names = map { (task_name($_) => 1) } @tasks;
	return join ', ', calls('calls') . ' of ' . plural(scalar keys %functions, 'function'),
		plural(scalar keys %names, 'task'), plural(scalar keys %cpus, 'CPU');
}

# print_to FILE, NAME, TEXT
sub print_to
{
	my ($out, $name, $text) = @_;
	(print {$out} $text) && close $out or fail("$name: $!");
}

# write_out TEXT: a file appears whole or not at all; what is no file, as /dev/null, stays
sub write_out
{
	my ($text) = @_;
	return print_to(\*STDOUT, 'standard output', $text) if !defined $output;
	if (-e $output && !-f _ || -l $output) {
		open my $out, '>', $output or fail("$output: $!");
		return print_to($out, $output, $text);
	}
	my $template = dirname($output) . '/.draw_fgraph.XXXXXX';
	my ($out, $name) = eval { tempfile($template, UNLINK => 1) };
	fail("$output: $!") unless $out;
	print_to($out, $output, $text);
	chmod(0666 & ~umask, $name) && rename($name, $output) or fail("$output: $!");
}

sub main
{
	GetOptions('output|o=s' => \$output, 'together' => \$together, 'folded' => \$folded,
		'flamegraph=s' => \$flamegraph, 'bars=i' => \$limit, 'help|h' => \$help) or exit 2;
	if ($help) {
		print $usage;
		return;
	}
	fail("--bars is a number of bars, not $limit") if $limit < 1;
	fail('one trace at a time, not ', scalar @ARGV) if @ARGV > 1;
	my ($in, $title) = (\*STDIN, 'standard input');
	if (@ARGV && $ARGV[0] ne '-') {
		$title = $ARGV[0];
		open $in, '<', $title or fail("$title: $!");
		$title = basename($title);
	}
	find_flamegraph() unless $folded;
	read_trace($in);
	my $stacks = stacks();
	if ($folded) {
		write_out(join '', map { "$_ $stacks->{$_}\n" } sort keys %$stacks);
	} else {
		write_out(page($title, $stacks));
		printf {*STDERR} "%s\n", summary();
	}
}

main() unless caller;
1;

__DATA__
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy"
	content="default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'">
<title>function_graph: @title@</title>
<style>
	body { font: 13px sans-serif; margin: 1em; }
	h1 { font-size: 1.4em; }
	h2 { font-size: 1.15em; margin-bottom: 0.4em; }
	iframe { border: 0; }
	#tools > * { margin-right: 0.4em; }
	#lines { width: 100%; background: #fafafa; cursor: grab; display: block; }
	#lines text { font-size: 11px; pointer-events: none; }
	#lines .bar { stroke: #fff; stroke-width: 0.4; cursor: pointer; }
	#lines .bar:hover { stroke: #000; stroke-width: 1; }
	#details { min-height: 1.4em; font-family: monospace; }
</style>
</head>
<body>
<h1>@title@</h1>
<p id="summary">@summary@</p>
<ul id="notes">
@notes@</ul>
<h2 id="flame-title">Flame graph: the width of a function is the time it took, with its callees</h2>
@flames@
<h2>Time line of each CPU</h2>
<p id="tools">
	<button id="all">whole trace</button>
	<button id="in">zoom in</button><button id="out">zoom out</button>
	<button id="left">&larr;</button><button id="right">&rarr;</button>
	<label>find <input id="find" size="24"></label>
	<span id="found"></span>
</p>
<p id="details"></p>
<svg id="lines" xmlns="http://www.w3.org/2000/svg"></svg>
<p>Click a bar to see only its time; turn the wheel to zoom, drag to move. Callees are below their
callers. The bar at the top of a CPU is the task; blue: in an interrupt.</p>
<p id="narrow"></p>
<noscript>The time lines need JavaScript.</noscript>
<script>
"use strict";
const trace = @data@;
const ROW = 17, AXIS = 20, GAP = 12, NARROW = 0.8, CHARACTER = 6.2;
const byId = (id) => document.getElementById(id);
const svg = byId("lines");
// What a bar is made of: six numbers of the CPU's list
const DEPTH = 0, START = 1, LENGTH = 2, NAME = 3, TASK = 4, IRQ = 5, STRIDE = 6;

let end = 1;
for (const cpu of trace.cpus) {
	cpu.rows = 1;
	for (let i = 0; i < cpu.bars.length; i += STRIDE) {
		end = Math.max(end, cpu.bars[i + START] + cpu.bars[i + LENGTH]);
		cpu.rows = Math.max(cpu.rows, cpu.bars[i + DEPTH] + 2);
	}
}
// The times that are shown, in ns since the trace began, and the name that is looked for
let from = 0, to = end, wanted = "";

if (!byId("flames"))
	byId("flame-title").remove();

function timeText(ns)
{
	if (Math.abs(ns) >= 1e9)
		return (ns / 1e9).toFixed(6) + " s";
	return Math.abs(ns) >= 1e6 ? (ns / 1e6).toFixed(3) + " ms" : (ns / 1e3).toFixed(3) + " us";
}

// Names that are alike are likely to get other colours, the same name always the same.
function hash(text)
{
	let value = 2166136261;
	for (let i = 0; i < text.length; i++)
		value = Math.imul(value ^ text.charCodeAt(i), 16777619) >>> 0;
	return value;
}

const nameHash = trace.names.map(hash);
const taskHash = trace.tasks.map(hash);

const isWanted = (name) => wanted && trace.names[name].includes(wanted);

function colour(depth, name, task, irq)
{
	if (isWanted(name))
		return "rgb(230,0,230)";
	if (depth < 0)
		return `hsl(${taskHash[task] % 360},35%,80%)`;
	const base = irq ? 205 : 5;
	return `hsl(${base + nameHash[name] % 50},85%,${60 + (nameHash[name] >>> 8) % 18}%)`;
}

function element(kind, attributes, text)
{
	const made = document.createElementNS("http://www.w3.org/2000/svg", kind);
	for (const name in attributes)
		made.setAttribute(name, attributes[name]);
	if (text !== undefined)
		made.textContent = text;
	svg.append(made);
	return made;
}

function drawAxis(width, height)
{
	const scale = width / (to - from);
	let step = 1;
	// 1, 2 or 5, with zeros
	for (let i = 0; step * scale < 110; i++)
		step *= i % 3 == 1 ? 2.5 : 2;
	for (let at = Math.ceil(from / step) * step; at <= to; at += step) {
		const x = (at - from) * scale;
		element("line", { x1: x, x2: x, y1: 0, y2: height, stroke: "#ddd" });
		element("text", { x: x + 3, y: 12, fill: "#555" }, timeText(at));
	}
}

// drawCpu returns how many bars have no place of their own
function drawCpu(index, top, width)
{
	const cpu = trace.cpus[index], bars = cpu.bars, scale = width / (to - from);
	// Where the last bar of a row ends; what is looked for is drawn beside others, too
	const edges = new Array(cpu.rows).fill(-1), wantedEdges = [...edges];
	let hidden = 0;

	for (let i = 0; i < bars.length; i += STRIDE) {
		const start = bars[i + START], length = bars[i + LENGTH];
		if (start + length < from || start > to)
			continue;
		const row = bars[i + DEPTH] + 1;
		const left = Math.max((start - from) * scale, 0);
		const right = Math.min((start + length - from) * scale, width);
		const wide = Math.max(right - left, NARROW);
		const edge = isWanted(bars[i + NAME]) ? wantedEdges : edges;
		if (right - left < NARROW && left < edge[row]) {
			hidden++;
			continue;
		}
		edges[row] = edge[row] = left + wide;
		const name = trace.names[bars[i + NAME]];
		element("rect", {
			class: "bar", x: left, y: top + row * ROW, width: wide, height: ROW - 1,
			fill: colour(bars[i + DEPTH], bars[i + NAME], bars[i + TASK],
				bars[i + IRQ]),
			"data-cpu": index, "data-bar": i, "data-name": name,
		});
		const room = Math.floor((wide - 4) / CHARACTER);
		if (room >= 3)
			element("text", { x: left + 2, y: top + row * ROW + 12 },
				name.length <= room ? name : name.slice(0, room - 2) + "..");
	}
	return hidden;
}

function draw()
{
	const width = svg.clientWidth || 1200;
	const height = trace.cpus.reduce((sum, cpu) => sum + (cpu.rows + 1) * ROW + GAP, AXIS);
	let top = AXIS, hidden = 0;

	svg.replaceChildren();
	svg.setAttribute("height", height);
	drawAxis(width, height);
	trace.cpus.forEach((cpu, index) => {
		element("text", { x: 2, y: top + 12, "font-weight": "bold" }, "CPU " + cpu.cpu);
		hidden += drawCpu(index, top + ROW, width);
		top += (cpu.rows + 1) * ROW + GAP;
	});
	byId("narrow").textContent = hidden ?
		`${hidden} bars are too narrow to be seen beside others: zoom in.` : "";
}

function show(newFrom, newTo)
{
	const length = Math.min(Math.max(newTo - newFrom, 20), end);
	from = Math.min(Math.max(newFrom, 0), end - length);
	to = from + length;
	draw();
}

function zoom(factor, at)
{
	const around = at === undefined ? (from + to) / 2 : at;
	show(around - (around - from) * factor, around + (to - around) * factor);
}

const move = (part) => show(from + (to - from) * part, to + (to - from) * part);
const timeAt = (event) => from + (event.clientX - svg.getBoundingClientRect().left) /
	svg.clientWidth * (to - from);

// What the list says of the bar under the pointer
function barOf(event)
{
	const at = event.target.dataset;
	if (at === undefined || at.bar === undefined)
		return undefined;
	const cpu = trace.cpus[at.cpu], i = Number(at.bar);
	return { cpu: cpu.cpu, depth: cpu.bars[i + DEPTH], start: cpu.bars[i + START],
		length: cpu.bars[i + LENGTH], name: trace.names[cpu.bars[i + NAME]],
		task: trace.tasks[cpu.bars[i + TASK]] };
}

byId("all").onclick = () => show(0, end);
byId("in").onclick = () => zoom(0.5);
byId("out").onclick = () => zoom(2);
byId("left").onclick = () => move(-0.5);
byId("right").onclick = () => move(0.5);

byId("find").oninput = (event) => {
	wanted = event.target.value;
	let count = 0, sum = 0;
	for (const cpu of trace.cpus)
		for (let i = 0; i < cpu.bars.length; i += STRIDE)
			if (isWanted(cpu.bars[i + NAME])) {
				count++;
				sum += cpu.bars[i + LENGTH];
			}
	byId("found").textContent = wanted ? `${count} bars, ${timeText(sum)}` : "";
	draw();
};

svg.addEventListener("wheel", (event) => {
	event.preventDefault();
	zoom(event.deltaY > 0 ? 1.3 : 1 / 1.3, timeAt(event));
}, { passive: false });

svg.addEventListener("mousemove", (event) => {
	const bar = barOf(event);
	if (bar)
		byId("details").textContent = `${bar.name}: ${timeText(bar.length)}, ` +
			`CPU ${bar.cpu}, task ${bar.task}, at ${timeText(trace.begin + bar.start)}`;
});

let held;
svg.addEventListener("mousedown", (event) => {
	held = { x: event.clientX, from: from, to: to, moved: false, bar: barOf(event) };
	event.preventDefault();
});
window.addEventListener("mousemove", (event) => {
	if (!held)
		return;
	const by = (event.clientX - held.x) / svg.clientWidth * (held.to - held.from);
	held.moved = held.moved || Math.abs(event.clientX - held.x) > 3;
	if (held.moved)
		show(held.from - by, held.to - by);
});
window.addEventListener("mouseup", () => {
	if (held && !held.moved && held.bar)
		show(held.bar.start, held.bar.start + held.bar.length);
	held = undefined;
});
window.addEventListener("resize", draw);
draw();
</script>
</body>
</html>
