// SPDX-License-Identifier: GPL-2.0
/*
 * rt_delay PERIOD COMMAND...: a real-time task that wakes up each PERIOD microseconds while
 * a command runs, and sees how late that is. Prints how often it was late by how many
 * microseconds ("DELAY TIMES" a line), then "worst NANOSECONDS". Exits as the command does.
 */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PRIORITY	90
#define SECOND		1000000000ll
#define MAX_US		100000

/* The last one is of all that are longer. */
static unsigned int times[MAX_US + 1];

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static pid_t start(char **command)
{
	pid_t child = fork();

	if (child < 0)
		die("fork");
	if (!child) {
		execvp(command[0], command);
		die(command[0]);
	}
	return child;
}

static long long now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * SECOND + time.tv_nsec;
}

static void sleep_until(long long when)
{
	const struct timespec time = { when / SECOND, when % SECOND };
	int err = clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL);

	if (err) {
		errno = err;
		die("clock_nanosleep");
	}
}

/* Until @child ends: the longest delay, in ns */
static long long measure(long long period, pid_t child, int *status)
{
	long long next = now(), delay, worst = 0;
	pid_t ended;

	while (!(ended = waitpid(child, status, WNOHANG))) {
		next += period;
		sleep_until(next);
		delay = now() - next;
		times[delay / 1000 < MAX_US ? delay / 1000 : MAX_US]++;
		if (delay > worst)
			worst = delay;
		/* Those that it was too late for are none of its delays. */
		if (delay > period)
			next += delay / period * period;
	}
	if (ended < 0)
		die("waitpid");
	return worst;
}

int main(int argc, char **argv)
{
	const struct sched_param param = { .sched_priority = PRIORITY };
	long long period, worst;
	int status, us;
	pid_t child;

	period = argc > 2 ? atoll(argv[1]) * 1000 : 0;
	if (period <= 0) {
		fprintf(stderr, "usage: rt_delay PERIOD COMMAND...\n");
		return 2;
	}
	if (mlockall(MCL_CURRENT | MCL_FUTURE))
		die("mlockall");
	child = start(argv + 2);
	if (sched_setscheduler(0, SCHED_FIFO, &param))
		die("sched_setscheduler");
	worst = measure(period, child, &status);

	for (us = 0; us <= MAX_US; us++) {
		if (times[us])
			printf("%d %u\n", us, times[us]);
	}
	printf("worst %lld\n", worst);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
