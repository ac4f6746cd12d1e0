#!/usr/bin/perl
# scripts/tracing/draw_fgraph.pl: the stacks that it finds in traces of all forms, whole ones and
# damaged ones; what it says of a trace that it cannot read; the page. What a browser makes of the
# page is seen by `make test-picture`.
#
# reads: scripts/tracing/draw_fgraph.pl
use strict;
use warnings;
use Test::More;
use Cwd qw(abs_path);
use File::Basename qw(dirname);
use File::Temp qw(tempdir);
use JSON::PP qw(decode_json);
use lib dirname(__FILE__);

use Files;

my $top = abs_path(dirname(__FILE__) . '/../../../..');
my $script = "$top/scripts/tracing/draw_fgraph.pl";
my $dir = tempdir(CLEANUP => 1);

# draw TRACE, OPTION...: what the script prints and says, and its exit status
sub draw
{
	my ($trace, @options) = @_;
	put("$dir/trace", $trace);
	my $out = qx('$^X' '$script' @options '$dir/trace' 2>'$dir/said');
	return ($out, get("$dir/said"), $? >> 8);
}

# folds NAME, TRACE, STACKS, OPTION...: these stacks are in it
sub folds
{
	my ($name, $trace, $stacks, @options) = @_;
	my ($out, $said, $status) = draw($trace, '--folded', @options);
	is($out, $stacks, $name);
	is($said, '', '  without a complaint');
	is($status, 0, '  and it succeeds');
}

# fails NAME, TRACE, PATTERN, OPTION...: it says why, and leaves the last page as it was
sub fails
{
	my ($name, $trace, $pattern, @options) = @_;
	put("$dir/page", 'the last page');
	my ($out, $said, $status) = draw($trace, '-o', "$dir/page", @options);
	isnt($status, 0, "$name: fails");
	like($said, qr/\Adraw_fgraph: $pattern\n\z/, '  and says why');
	is($out, '', '  and prints nothing else');
	is(get("$dir/page"), 'the last page', '  and does not touch the last page');
	is(join(' ', glob "$dir/.draw*"), '', '  and leaves nothing behind');
}

# The same calls of one task, in all forms; times without absolute ones are those of the durations
my $HEADER = "# tracer: function_graph\n#\n# CPU  DURATION                  FUNCTION CALLS\n" .
	"# |     |   |                     |   |   |   |\n";
my $plain = $HEADER . <<'END';
 1) ! 317.529 us  |  vfs_write();
 1)               |  vfs_fstatat() {
 1)               |    vfs_statx() {
 1)               |      vfs_statx_path() {
 1) + 20.721 us   |        vfs_getattr_nosec();
 1) + 37.146 us   |      }
 1) + 92.479 us   |    }
 1) ! 120.382 us  |  }
 1) * 29874.40 us |  vfs_open();
 1) $ 1234567 us  |  vfs_read [some_mod]();
END
my $stacks = <<'END';
CPU 1;vfs_fstatat 27903
CPU 1;vfs_fstatat;vfs_statx 55333
CPU 1;vfs_fstatat;vfs_statx;vfs_statx_path 16425
CPU 1;vfs_fstatat;vfs_statx;vfs_statx_path;vfs_getattr_nosec 20721
CPU 1;vfs_open 29874400
CPU 1;vfs_read [some_mod] 1234567000
CPU 1;vfs_write 317529
END
folds('durations', $plain, $stacks);
folds('  without the task', $plain, $stacks =~ s/^CPU 1;//gmr, '--together');
folds('  without a header', $plain =~ s/^#.*\n//gmr, $stacks);
folds('  with line ends of a terminal', $plain =~ s/\n/\r\n/gr, $stacks);
my @names = qw(vfs_statx_path vfs_statx vfs_fstatat);
my $tail = $plain =~ s,\}$,'} /* ' . shift(@names) . ' */',gemr;
like($tail, qr{\} /\* vfs_fstatat \*/}, '  a trace with tails');
folds('funcgraph-tail', $tail, $stacks);
folds('funcgraph-retval', $tail =~ s{ \*/$}{ = -2 */}gmr =~ s{\);$}{); /* = 0x0 */}gmr, $stacks);
folds('  of later kernels', $tail =~ s{ \*/$}{ ret=0x0 */}gmr =~
	s|\(\);$|(a=1, b="}"); /* ret=0x0 */|gmr, $stacks);
folds('funcgraph-overrun', $plain =~ s/^(.*\}\n)/$1 (Overruns: 0)\n/gmr, $stacks);
folds('funcgraph-overhead off', $plain =~ s/[!+*\$] (?=.* us )/  /gr, $stacks);
my $of_task = $stacks =~ s/^CPU 1;/cat-102;/gmr;
my $proc = $plain =~ s/ CPU  /  CPU  TASK\/PID       /r =~ s/^ 1\) /$& cat-102     | /gmr;
folds('funcgraph-proc', $proc, $of_task);
folds('  without a header', $proc =~ s/^#.*\n//gmr, $of_task);
folds('latency-format', $proc =~ s/PID     /PID       ||||/r =~
	s/^( 1\) .*? \| )/$1 d.h1. | /gmr, $of_task);
my $us = 1_000_000;
my $abstime = $proc =~ s/^#(?=.* CPU)/#     TIME    /mr =~
	s/^ 1\)/sprintf '    5.%06d |  1)', $us++/gemr;
folds('funcgraph-abstime', $abstime, $of_task);
folds('  without a header', $abstime =~ s/^#.*\n//gmr, $of_task);

# Absolute times alone: a call without callees lasts until the next line.
my $NO_DURATION = "# tracer: function_graph\n#\n#     TIME        CPU               FUNCTION CALLS\n";
folds('funcgraph-duration off', $NO_DURATION . <<'END', <<'STACKS');
    5.389820 |   0) } /* vfs_open */
    5.390054 |   0) vfs_write();
    5.398844 |   0) vfs_fstatat() {
    5.398853 |   0)   vfs_statx();
    5.398867 |   0) }
    5.398900 |   1) vfs_read();
    5.398905 |   1) vfs_open() {
    5.398907 |   1)   vfs_stat() {
    5.398910 |   1)   } /* vfs_stat */
    5.398912 |   1) }
END
CPU 0;vfs_fstatat 9000
CPU 0;vfs_fstatat;vfs_statx 14000
CPU 0;vfs_write 8790000
CPU 1;vfs_open 4000
CPU 1;vfs_open;vfs_stat 3000
CPU 1;vfs_read 5000
STACKS

# It ends there even if that line is of another task.
my $TIMES = "# tracer: function_graph\n#     TIME        CPU  TASK/PID  FUNCTION CALLS\n";
folds('  and a switch', $TIMES . <<'END', <<'STACKS');
    1.000000 |   0)    cat-1       | vfs_read() {
    1.000001 |   0)    cat-1       |   schedule();
    1.000011 |   0)    ls-2        | vfs_open();
    1.000015 |   0)    cat-1       |   next();
    1.000018 |   0)    cat-1       | }
END
cat-1;vfs_read 1000
cat-1;vfs_read;[not running] 4000
cat-1;vfs_read;next 3000
cat-1;vfs_read;schedule 10000
ls-2;vfs_open 4000
STACKS

# Two CPUs at once; tasks whose names are only in the switches, one of which goes to another CPU
folds('CPUs and tasks', $HEADER . <<'END', <<'STACKS');
 0)               |  vfs_read() {
 1)               |  vfs_write() {
 0)   1.000 us    |    rw_verify_area();
 1)   2.000 us    |    rw_verify_area();
 ------------------------------------------
 0)    bash-80     =>    ls-81   
 ------------------------------------------

 0)               |  vfs_open() {
 1)   5.000 us    |  }
 0)   4.000 us    |    do_open();
 0)   6.000 us    |  }
 ------------------------------------------
 1)    cat-7       =>    bash-80     
 ------------------------------------------

 1)   3.000 us    |    schedule();
 1) + 10.000 us   |  }
END
bash-80;vfs_read 6000
bash-80;vfs_read;rw_verify_area 1000
bash-80;vfs_read;schedule 3000
cat-7;vfs_write 3000
cat-7;vfs_write;rw_verify_area 2000
ls-81;vfs_open 2000
ls-81;vfs_open;do_open 4000
STACKS

# The idle tasks of all CPUs have PID 0.
my $PROC = "# tracer: function_graph\n#\n#     TIME        CPU  TASK/PID         DURATION     " .
	"             FUNCTION CALLS\n";
folds('idle tasks, and calls in an interrupt', $PROC . <<'END', <<'STACKS');
    1.000000 |   0)    <idle>-0    |               |  do_idle() {
    1.000010 |   1)    <idle>-0    |               |  do_idle() {
    1.000020 |   0)    <idle>-0    |   ==========> |
    1.000020 |   0)    <idle>-0    |               |    irq_enter() {
    1.000021 |   0)    <idle>-0    |   1.000 us    |      tick();
    1.000025 |   0)    <idle>-0    |   5.000 us    |    }
    1.000025 |   0)    <idle>-0    |   <========== |
    1.000026 |   0)    <idle>-0    |   2.000 us    |    other();
    1.000030 |   0)    <idle>-0    | + 30.000 us   |  }
    1.000050 |   1)    <idle>-0    | + 40.000 us   |  }
END
idle;do_idle 63000
idle;do_idle;[interrupt];irq_enter 4000
idle;do_idle;[interrupt];irq_enter;tick 1000
idle;do_idle;other 2000
STACKS

# What a task waits for is no time of its functions; the event has the whole name of the task.
my $switched = $PROC . <<'END';
    6.336000 |   1)    cat-102     |               |  schedule() {
    6.336010 |   1)    cat-102     |               |    /* sched_switch: prev_comm=cat prev_pid=102 prev_prio=120 prev_state=R+ ==> next_comm=rcu_tasks_kthre next_pid=13 next_prio=120 */
 ------------------------------------------
 1)    cat-102     =>   rcu_tas-13  
 ------------------------------------------

    6.336020 |   1)   rcu_tas-13   |   4.000 us    |  rcu_wait();
    6.336050 |   1)   rcu_tas-13   |               |  /* sched_switch: prev_comm=rcu_tasks_kthre prev_pid=13 prev_prio=120 prev_state=D ==> next_comm=cat next_pid=102 next_prio=120 */
 ------------------------------------------
 1)   rcu_tas-13   =>    cat-102    
 ------------------------------------------

    6.336060 |   1)    cat-102     | + 60.000 us   |  }
END
folds('a task that waits', $switched, <<'STACKS');
cat-102;schedule 20000
cat-102;schedule;[not running] 40000
rcu_tasks_kthre-13;rcu_wait 4000
STACKS
folds('  without funcgraph-proc', $switched =~ s/ TASK\/PID //r =~
	s/^( {4}\S+ \|   1\) ) *\S+-\d+ +\| /$1/gmr,
	"cat-102;schedule 20000\ncat-102;schedule;[not running] 40000\n" .
	"rcu_tasks_kthre-13;rcu_wait 4000\n");
my $more = '    6.336012 |   1)    cat-102     |   3.000 us    |    switch_mm();' . "\n";
folds('  which still has lines after the event', $switched =~ s/^ -{20,}\n/$more$&/mr, <<'STACKS');
cat-102;schedule 22000
cat-102;schedule;[not running] 35000
cat-102;schedule;switch_mm 3000
rcu_tasks_kthre-13;rcu_wait 4000
STACKS
folds('  whose name is cut at first', $switched =~ s/^.*(?=sched_switch: prev_comm=cat).*\n//mr =~
	s/^.*\+ 60\.000.*\n//mr, <<'STACKS');
cat-102;schedule 20000
cat-102;schedule;[not running] 30000
rcu_tasks_kthre-13;rcu_wait 4000
STACKS
folds('  where the time asleep is left out', $switched =~ s/\+ 60\.000 us /  20.000 us /r, <<'STACKS');
cat-102;schedule;[not running] 40000
rcu_tasks_kthre-13;rcu_wait 4000
STACKS

# Cut at both ends: of the first calls, only what is in the trace; of the last ones also. The time
# of functions that never return is the task's.
folds('a trace that begins and ends in calls', $PROC . <<'END', <<'STACKS');
    1.000000 |   0)    cat-1       |   2.000 us    |        inner();
    1.000003 |   0)    cat-1       | + 90.000 us   |      } /* middle */
    1.000007 |   0)    cat-1       |               |      next() {
    1.000009 |   0)    cat-1       |   1.000 us    |        leaf();
    1.000020 |   0)    cat-1       |   1.000 us    |        last();
END
cat-1 4000
cat-1;middle 1000
cat-1;middle;inner 2000
cat-1;next 12000
cat-1;next;last 1000
cat-1;next;leaf 1000
STACKS
folds('  and ends what it began in', $PROC . <<'END', <<'STACKS');
    1.000000 |   0)    cat-1       |   2.000 us    |        inner();
    1.000003 |   0)    cat-1       | + 90.000 us   |      } /* middle */
    1.000007 |   0)    cat-1       | # 1000.000 us |    } /* outer */
    1.000008 |   0)    cat-1       | # 2000.000 us |  } /* outermost */
END
cat-1;outermost 1000
cat-1;outermost;outer 4000
cat-1;outermost;outer;middle 1000
cat-1;outermost;outer;middle;inner 2000
STACKS

# Lost events: what was open ends there; what closes later was entered at an unknown time.
folds('lost events', $PROC . <<'END', <<'STACKS');
CPU:0 [LOST 85844 EVENTS]
    1.000000 |   0)    cat-1       |               |  one() {
    1.000002 |   0)    cat-1       |               |    two() {
    1.000004 |   0)    cat-1       |   1.000 us    |      three();
CPU:0 [LOST EVENTS]
    1.000100 |   0)    cat-1       |               |      four() {
    1.000110 |   0)    cat-1       | + 10.000 us   |      }
    1.000120 |   0)    cat-1       | ! 110.000 us  |    } /* five */
    1.000130 |   0)    cat-1       | ! 130.000 us  |  } /* one */
END
cat-1;one 12000
cat-1;one;five 10000
cat-1;one;five;four 10000
cat-1;one;two 2000
cat-1;one;two;three 1000
STACKS
# Without a word of the kernel, it is seen by depths and names.
folds('lines that are missing', $HEADER . <<'END', <<'STACKS');
 0)               |  one() {
 0)               |    two() {
 0)   1.000 us    |      three();
 0)   2.000 us    |    four();
 0)   3.000 us    |      five();
 0)   9.000 us    |  } /* six */
 0)   4.000 us    |  seven();
END
CPU 0;one;five 3000
CPU 0;one;four 2000
CPU 0;one;two;three 1000
CPU 0;seven 4000
STACKS

# What trace-cmd prints
my $reported = <<'END';
cpus=2
              ls-116   [000]     9.903429: funcgraph_entry:      + 23.105 us  |  vfs_open();
CPU:1 [707 EVENTS DROPPED]
           <idle>-0     [001]     9.903500: funcgraph_entry:                   |  do_idle() {
              ls-116   [000]     9.903908: sched_switch:         prev_comm=ls prev_pid=116 prev_prio=120 prev_state=R+ ==> next_comm=migration/0 next_pid=20 next_prio=0
     migration/0-20    [000]     9.904016: funcgraph_entry:                   |  schedule() {
     migration/0-20    [000]     9.904051: sched_switch:         migration/0:20 [0] S ==> ls:116 [120]
              ls-116   [000]     9.904060: funcgraph_entry:                   |  vfs_statx() {
              ls-116   [000]     9.904062: funcgraph_entry:        3.586 us   |    vfs_getattr_nosec();
              ls-116   [000]     9.904070: funcgraph_exit:       + 10.000 us  |  }
           <idle>-0     [001]     9.904100: funcgraph_exit:       ! 600.000 us |  } /* do_idle */
END
my $report_stacks = <<'STACKS';
idle;do_idle 600000
ls-116;vfs_open 23105
ls-116;vfs_statx 6414
ls-116;vfs_statx;vfs_getattr_nosec 3586
migration/0-20;schedule 35000
STACKS
folds('trace-cmd report', $reported, $report_stacks);
folds('  without its header, with its flags', $reported =~ s/^cpus.*\n//r =~
	s/\] /] d..1. /gr, $report_stacks);

# Other lines
folds('comments, also of several lines', $HEADER . <<'END', "CPU 0;one 2000\n");
##### CPU 0 buffer started ####
 0)               |  one() {
 0)               |  /* a message: one() {
and its } second line
third */
 0)               |    /* user_event: x=1 */
 0)   2.000 us    |  }
END
folds('a task with a name of its own', $PROC . <<'END', "a_b _(img)_\\-5;one 1000\n" =~ s/\\/_/r);
    1.000000 |   0)  a;b '<img>"\-5 |   1.000 us    |  one();
END

# What is wrong is said with its line.
fails('no trace', '', qr/the trace has no functions/);
fails('an empty trace', $HEADER, qr/the trace has no functions/);
fails('some other text', "one\ntwo\n", qr/line 1: no line of a function_graph trace: one/);
fails('another tracer', "# tracer: function\n#\n",
	qr/line 1: a trace of the tracer function, not of function_graph/);
fails('no CPUs', "# tracer: function_graph\n#  DURATION    FUNCTION CALLS\n   1.0 us  |  one();\n",
	qr/line 2: the trace does not have the CPUs: switch funcgraph-cpu on/);
fails('no times', "# tracer: function_graph\n# CPU               FUNCTION CALLS\n 0) } /* vfs_open */\n",
	qr/line 2: the trace has no times: switch funcgraph-duration or funcgraph-abstime on/);
fails('no times and no header', " 0) vfs_open();\n", qr/line 1: the function has no duration/);
fails('a line of something else', $plain . "echo: write error\n",
	qr/line 15: no line of a function_graph trace: echo: write error/);
fails('a function that is cut', $plain =~ s/\(\) \{$/(/mr, qr/line 6: no function: vfs_fstatat\(/);
fails('an odd indentation', $plain =~ s/    vfs_statx\(/   vfs_statx(/r,
	qr/line 7: .* odd number of spaces: vfs_statx\(\) \{/);
fails('a file that is cut', substr($plain, 0, -1), qr/line 14: the trace ends in the middle of it/);
fails('two traces', $plain . $plain, qr/line 15: a second trace begins/);
fails('a time that goes back', $abstime =~ s/ 5(?=\.\d+ \| .* \* 29874)/ 4/r,
	qr/line 13: its time is before that of the line before on the same CPU/);
fails('a comment without an end', $plain . " 1)               |  /* begins\n",
	qr/line 15: the comment does not end/);
fails('a switch to nobody', $PROC . '    1.000000 |   0)    cat-1       |               |  /* sched_switch: none */' . "\n",
	qr/line 4: no switch of tasks: none/);
fails('calls that took no time', $HEADER . " 0)   0.000 us    |  one();\n",
	qr/no function of the trace took any time/);
fails('a page in no folder', $plain,
	qr{\Q$dir\E/none/page: No such file or directory}, '-o', "$dir/none/page");
fails('two traces at once', $plain, qr/one trace at a time, not 2/, "$dir/trace");
fails('no bars', $plain, qr/--bars is a number of bars, not 0/, '--bars=0');
fails('no such flamegraph.pl', $plain, qr{/none: no such file}, '--flamegraph=/none');
put("$dir/broken", "die qq(no flames\\n);\n");
{
	my ($out, $said, $status) = draw($plain, "--flamegraph=$dir/broken");
	is("$out$said", "no flames\ndraw_fgraph: $dir/broken failed\n", 'a flamegraph.pl that fails');
	isnt($status, 0, '  fails the whole');
}
{
	my $said = qx('$^X' '$script' '$dir/none' 2>&1);
	is($said, "draw_fgraph: $dir/none: No such file or directory\n", 'a trace that is not there');
	$said = qx('$^X' '$script' '$dir' 2>&1);
	like($said, qr/^draw_fgraph: cannot read the trace: Is a directory$/, 'a trace that is a folder');
	like(qx('$^X' '$script' --help), qr/^usage: draw_fgraph.pl /, '--help');
	isnt(system("'$^X' '$script' --nonsense 2>/dev/null"), 0, 'a wrong option');
}

# The page: data of the time lines
# page TRACE, OPTION...: the page, what its script gets, what is noted
sub page
{
	my ($trace, @options) = @_;
	my ($out, $said, $status) = draw($trace, @options);
	is($status, 0, 'a page') or diag($said);
	my ($data) = $out =~ /^const trace = (.*?\});$/ms;
	my $json = decode_json(($data // '{}') =~ s/\\u\{[0-9a-f]+\}/?/gr);
	return ($out, $json, [ $out =~ /<li>(.*)<\/li>/g ], $said);
}

# bars DATA, CPU: as text: name and task, depth, start and length
sub bars
{
	my ($data, $number) = @_;
	my ($cpu) = grep { $_->{cpu} == $number } @{ $data->{cpus} };
	my @all = @{ $cpu->{bars} };
	my @texts;
	while (my ($depth, $start, $length, $name, $task, $irq) = splice @all, 0, 6) {
		push @texts, "$data->{names}[$name] ($data->{tasks}[$task]) $depth $start $length" .
			($irq ? ' irq' : '');
	}
	return \@texts;
}

my ($out, $data, $notes, $said) = page($switched);
is_deeply(bars($data, 1), [
	'cat-102 (cat-102) -1 0 10000', 'schedule (cat-102) 0 0 10000',
	'rcu_tasks_kthre-13 (rcu_tasks_kthre-13) -1 10000 40000',
	'rcu_wait (rcu_tasks_kthre-13) 0 20000 4000',
	'cat-102 (cat-102) -1 50000 10000', 'schedule (cat-102) 0 50000 10000',
], '  has a bar for each time in which a task runs');
is($data->{begin}, 6336000000, '  and when the trace begins');
is($said, "2 calls of 2 functions, 2 tasks, 1 CPU\n", '  what is in it is said');
like($out, qr/<iframe id="flames".*schedule \(60,000 ns, 93\.75%\)/s, '  it has a flame graph');
unlike($out, qr{(?:src|href)="(?!#)|\bimport\b|url\((?!#)}, '  it needs no other file');
is(scalar @$notes, 1, '  and nothing but the narrowest frames is left out') or diag(@$notes);

($out, $data, $notes) = page($plain, '--flamegraph=none');
unlike($out, qr/<iframe/, '  without a flame graph');
like(join("\n", @$notes), qr/^The trace has no absolute times/,
	'  and without absolute times, which is noted');
is_deeply([ @{ bars($data, 1) }[0 .. 3] ], [ 'CPU 1 (CPU 1) -1 0 1264879311',
	'vfs_write (CPU 1) 0 0 317529', 'vfs_fstatat (CPU 1) 0 317529 120382',
	'vfs_statx (CPU 1) 1 317529 92479' ], '  bars follow each other');

# Times are in microseconds: a call begins where the one before it ends.
($out, $data) = page($PROC . <<'END');
    1.000000 |   0)    cat-1       |   0.400 us    |  one();
    1.000000 |   0)    cat-1       |   0.300 us    |  two();
    1.000000 |   0)    cat-1       |   0.500 us    |  three();
    1.000003 |   0)    cat-1       |   0.500 us    |  four();
    1.000005 |   0)    cat-1       |               |  five() {
END
is_deeply([ @{ bars($data, 0) }[1 .. 5] ], [ 'one (cat-1) 0 0 400', 'two (cat-1) 0 400 300',
	'three (cat-1) 0 700 500', 'four (cat-1) 0 3000 500', 'five (cat-1) 0 5000 0' ],
	'  bars of the same microsecond, and one of a call that has just begun');
{
	put("$dir/<b>&", $plain);
	like(scalar qx('$^X' '$script' '$dir/<b>&' 2>/dev/null), qr{<h1>&lt;b&gt;&amp;</h1>},
		'  with the name of the trace, whatever it is');
}

($out, $data, $notes) = page($plain, '--bars=3');
is(join(' ', map { s/ .*//r } @{ bars($data, 1) }), 'CPU vfs_open vfs_read', '  with the longest bars');
like(join("\n", @$notes), qr/^5 bars left out of the time lines, the shortest: none of more than 317\.529 us/m,
	'  and how many there are not');

($out, $data) = page($PROC . <<'END');
    1.000000 |   0)  </script>-5   |   1.000 us    |  one();
    1.000002 |   0)  </script>-5   |   ==========> |
    1.000002 |   0)  </script>-5   |               |  irq() {
    1.000003 |   0)  </script>-5   |   1.000 us    |    in_irq();
    1.000004 |   0)  </script>-5   |   2.000 us    |  }
    1.000005 |   0)  </script>-5   |   1.000 us    |  after();
END
is(scalar(() = $out =~ m{</script>}g), 1, '  no task ends its script');
is(join(' ', map { /^(\w+) .* irq$/ ? $1 : () } @{ bars($data, 0) }), 'irq in_irq',
	'  what is in an interrupt is marked');

# A task may have any name, in UTF-8 or not.
my $UTF8 = join '', map { chr } 0xc3, 0xa9, 0xe6, 0x97, 0xa5;
put("$dir/$UTF8", $PROC . <<"END");
    1.000000 |   0)  $UTF8-5   |   1.000 us    |  one();
    1.000002 |   0)    \xe9-6       |   1.000 us    |  two();
END
{
	my $page = qx('$^X' '$script' '$dir/$UTF8' 2>'$dir/said');
	is(get("$dir/said"), "2 calls of 2 functions, 2 tasks, 1 CPU\n",
		'  tasks with other letters are no reason to complain');
	like($page, qr/"tasks":\["\\u\{e9\}\\u\{65e5\}-5","\\u\{e9\}-6"\]/, '  and have their names');
	like($page, qr{<h1>$UTF8</h1>}, '  and the rest of the page stays as it is');
}
{
	put("$dir/trace", $plain);
	is(system("umask 027; '$^X' '$script' -o '$dir/new' '$dir/trace' 2>/dev/null"), 0, '  in a file');
	is((stat "$dir/new")[2] & 0777, 0640, '  that others may read as they may');
	symlink "$dir/new", "$dir/link";
	put("$dir/new", '');
	is(system("'$^X' '$script' -o '$dir/link' '$dir/trace' 2>/dev/null"), 0, '  by a link');
	ok(-l "$dir/link" && -s "$dir/new", '    which stays');
	# One that is open for both does not block.
	system "mkfifo '$dir/pipe'";
	open my $pipe, '+<', "$dir/pipe" or die "pipe: $!\n";
	is(system("'$^X' '$script' --folded -o '$dir/pipe' '$dir/trace'"), 0, '  by a pipe');
	ok(-p "$dir/pipe" && sysread($pipe, my $some, 100), '    which gets it, and stays');
}

# Damage: lines that are missing are lost events; a byte that is another is noticed, or not,
# but nothing else happens.
srand 1;
my ($bad, $errors, $fine) = ('', 0, 0);
for my $round (1 .. 150) {
	my @some = split /^/, ($switched, $reported, $abstime)[$round % 3];
	if ($round <= 75) {
		splice @some, 3 + rand(@some - 3), 1 for 1 .. 3;
	} else {
		my $at = rand @some;
		substr $some[$at], rand length($some[$at]) - 1, 1, chr 32 + rand 90;
	}
	my ($text, $complaint, $status) = draw(join('', @some), '--folded');
	$bad .= "$complaint\n" . join('', @some) if $complaint =~ / at \S+ line \d+/ ||
		$text =~ / -\d+$/m || ($status ? $text ne '' : $complaint ne '') ||
		$status && $complaint !~ /^draw_fgraph: (?:line \d+: |the trace has no functions)/;
	$status ? $errors++ : $fine++;
}
is($bad, '', 'damaged traces are drawn as far as they go, or refused with the line');
cmp_ok($errors, '>', 10, "  refused: $errors");
cmp_ok($fine, '>', 75, "  drawn: $fine");

done_testing();
