/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The ledger when its writers are killed, when there are many, and in the long run. */
#include <sys/ptrace.h>
#include <time.h>

#include "ledger.h"
#include "placement/expiry.h"

enum {
	PATIENCE = 60000, /* ms: this machine may be busy */
	PROCESSES = 200,
	STEPS = 2000,
	GUESTS = 24,
	CPUS = 20,
};

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* CPUs that somebody owns; false when two own one. */
static bool owned_once(const struct claims *claims, struct cpuset *ret_owned)
{
	*ret_owned = (struct cpuset)CPUSET_INIT;
	for (size_t i = 0; i < claims->count; i++) {
		const struct cpuset cpus = cpulist_set(&claims->items[i].cpus);

		if (cpuset_intersects(ret_owned, &cpus))
			return false;
		cpuset_or(ret_owned, &cpus);
	}
	return true;
}

static unsigned free_cpu(const struct cpuset *owned)
{
	unsigned cpu = 0;

	while (cpuset_has(owned, cpu))
		cpu++;
	return cpu;
}

/* What a start does: guest NUMBER takes the first free CPU, for OWNER. */
static bool take_cpu(unsigned number, struct process owner)
{
	cleanup_diag struct diag diag = DIAG_INIT;
	cleanup_ledger struct ledger ledger = LEDGER_INIT;
	struct cpuset owned, mine = CPUSET_INIT;

	if (!ledger_open(&ledger, &scene, PATIENCE, &diag))
		return false;
	owned_once(ledger.claims, &owned);
	cpuset_set(&mine, free_cpu(&owned));
	struct claim claim = claim_of(number, CLAIM_STARTING, &mine, owner);
	claims_put(ledger.claims, &claim);
	return ledger_write(&ledger, &diag);
}

/* A writer that is killed. */

/* A start of guest NUMBER runs to the STOP-th entry or end of a system call, and is
 * killed there; false when it came to its end before. */
static bool killed_at(unsigned stop, unsigned number, struct process owner)
{
	pid_t child = fork();
	int status;

	if (child == 0) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		raise(SIGSTOP);
		_exit(!take_cpu(number, owner));
	}
	waitpid(child, &status, 0);
	ptrace(PTRACE_SETOPTIONS, child, NULL, PTRACE_O_EXITKILL);
	for (unsigned i = 0; i < stop && WIFSTOPPED(status); i++) {
		ptrace(PTRACE_SYSCALL, child, NULL, NULL);
		waitpid(child, &status, 0);
	}
	if (!WIFSTOPPED(status))
		return false;
	slay(child);
	return true;
}

/* Back to SEATED guests; false if one of them, or the file, is not what it was. */
static bool whole(unsigned seated)
{
	cleanup_diag struct diag diag = DIAG_INIT;
	cleanup_claims struct claims *seen = ledger_look(&scene, &diag);
	cleanup_ledger struct ledger ledger = LEDGER_INIT;
	struct cpuset owned;
	char uuid[37];

	if (!seen || !owned_once(seen, &owned) ||
	    !ledger_open(&ledger, &scene, PATIENCE, &diag) || diag.count)
		return false;
	for (unsigned i = 0; i < seated; i++) {
		uuid_of(i, uuid);
		if (!claims_find(seen, uuid) || !claims_find(ledger.claims, uuid))
			return false;
	}
	if (seen->count > seated + 1 || seen->count != ledger.claims->count)
		return false;
	uuid_of(seated, uuid);
	claims_drop(ledger.claims, uuid);
	return ledger_write(&ledger, &diag);
}

static void killed_everywhere(void)
{
	enum { SEATED = 8 };
	struct process owner = process_of(getpid());
	unsigned stop = 1, broken = 0;
	double start = seconds();

	for (unsigned i = 0; i < SEATED; i++)
		broken += !take_cpu(i, owner);
	for (; killed_at(stop, SEATED, owner); stop++)
		broken += !whole(SEATED);
	ok(stop > 50 && !broken,
	   "a writer killed at %u places: the file is whole, the next one goes on",
	   stop - 1);
	note("%.1f s", seconds() - start);
	scene_clear();
}

/* Many at once. */

static void crowd(void)
{
	struct process owner = process_of(getpid());
	double start = seconds();
	unsigned failed = 0;
	struct cpuset owned;
	int status;

	for (unsigned i = 0; i < PROCESSES; i++)
		if (fork() == 0)
			_exit(!take_cpu(i, owner));
	while (wait(&status) > 0)
		failed += status != 0;
	cleanup_diag struct diag diag = DIAG_INIT;
	cleanup_claims struct claims *claims = ledger_look(&scene, &diag);
	ok(!failed && claims && claims->count == PROCESSES, "%d at once: no claim lost",
	   PROCESSES);
	ok(claims && owned_once(claims, &owned) && cpuset_count(&owned) == PROCESSES &&
		   cpuset_has(&owned, PROCESSES - 1),
	   "no CPU given twice, none left over");
	note("%.2f s", seconds() - start);
	scene_clear();
}

/* The long run: a model of a host's guests, against the ledger. */

struct guest {
	bool has; /* a claim, and so: */
	enum claim_state state;
	pid_t process; /* QEMU or worker */
	bool timed;    /* its end is a matter of time */
	struct cpuset cpus;
};

struct host {
	struct guest guests[GUESTS];
	pid_t daemon;
	uint64_t random;
	bool lose;     /* the ledger, once it is written */
	unsigned full; /* times that no CPU was free */
};

static unsigned dice(struct host *host, unsigned sides)
{
	host->random ^= host->random << 13;
	host->random ^= host->random >> 7;
	host->random ^= host->random << 17;
	return (unsigned)(host->random % sides);
}

/* One to three CPUs that nobody owns, or false. */
static bool pick(struct host *host, const struct claims *claims, struct cpuset *ret_cpus)
{
	unsigned wanted = 1 + dice(host, 3), from = dice(host, CPUS);
	struct cpuset owned;

	*ret_cpus = (struct cpuset)CPUSET_INIT;
	owned_once(claims, &owned);
	for (unsigned i = 0; i < CPUS && wanted; i++)
		if (!cpuset_has(&owned, (from + i) % CPUS)) {
			cpuset_set(ret_cpus, (from + i) % CPUS);
			wanted--;
		}
	host->full += wanted != 0;
	return wanted == 0;
}

/* The guest gets a claim, on CPUs that it has or, if it has none, on free ones. */
static void claim_for(struct host *host, unsigned number, struct claims *claims,
		      enum claim_state state, pid_t owner, uint64_t until)
{
	struct guest *guest = &host->guests[number];

	if (!guest->has && !pick(host, claims, &guest->cpus))
		return;
	struct claim claim = claim_of(number, state, &guest->cpus,
				      owner ? process_of(owner)
					    : (struct process){ 0, 0 });
	claim.until = until;
	claims_put(claims, &claim);
	guest->timed = until != 0;
	guest->has = !until || until > process_boot_seconds();
	guest->state = state;
}

static void end_process(struct guest *guest)
{
	if (guest->process)
		slay(guest->process);
	guest->process = 0;
	guest->has = false;
}

static bool runs(const struct guest *guest)
{
	return guest->has && guest->state == CLAIM_RUNNING;
}

static void run_qemu(struct guest *guest, unsigned number)
{
	guest->process = sleeper();
	guest->has = true;
	guest->state = CLAIM_RUNNING;
	put_status(number, guest->process, &guest->cpus, false);
}

static void prepare(struct host *host, unsigned number, struct claims *claims)
{
	struct guest *guest = &host->guests[number];
	bool had = guest->has;

	if (had && (guest->state == CLAIM_STARTING || guest->state == CLAIM_RUNNING))
		return;
	if (guest->process)
		slay(guest->process);
	guest->process = 0;
	claim_for(host, number, claims, CLAIM_STARTING, host->daemon, 0);
}

static void qemu_starts(struct host *host, unsigned number, struct claims *claims)
{
	struct guest *guest = &host->guests[number];

	(void)claims;
	if (guest->has && guest->state == CLAIM_STARTING)
		run_qemu(guest, number);
}

static void start_without_hook(struct host *host, unsigned number, struct claims *claims)
{
	struct guest *guest = &host->guests[number];

	if (!guest->has && pick(host, claims, &guest->cpus))
		run_qemu(guest, number);
}

/* With the hook, which gives the claim back; or a refused start, which leaves it. */
static void stop(struct host *host, unsigned number, struct claims *claims)
{
	struct guest *guest = &host->guests[number];
	const struct claim *claim;
	char uuid[37];

	uuid_of(number, uuid);
	if (runs(guest))
		end_process(guest);
	else if (guest->has && guest->state == CLAIM_STARTING)
		guest->has = false;
	drop_status(number);
	claim = claims_find(claims, uuid);
	if (claim && !expiry_outlives_stop(claim))
		claims_drop(claims, uuid);
}

static void qemu_dies(struct host *host, unsigned number, struct claims *claims)
{
	(void)claims;
	if (runs(&host->guests[number]))
		end_process(&host->guests[number]);
}

static void move_by_hand(struct host *host, unsigned number, struct claims *claims)
{
	struct guest *guest = &host->guests[number];
	struct cpuset cpus;

	if (!runs(guest) || !pick(host, claims, &cpus))
		return;
	guest->cpus = cpus;
	put_status(number, guest->process, &guest->cpus, false);
}

static void hold(struct host *host, unsigned number, struct claims *claims)
{
	struct guest *guest = &host->guests[number];
	uint64_t now = process_boot_seconds();
	const uint64_t until[] = { 0, now, now + 3600, now + 3600 };

	if (guest->has)
		return;
	guest->process = sleeper();
	claim_for(host, number, claims, CLAIM_HELD, guest->process,
		  until[dice(host, ARRAY_SIZE(until))]);
	if (!guest->has)
		end_process(guest);
}

static void worker_dies(struct host *host, unsigned number, struct claims *claims)
{
	struct guest *guest = &host->guests[number];
	bool stays = guest->timed;

	(void)claims;
	if (!guest->has || guest->state != CLAIM_HELD)
		return;
	end_process(guest);
	guest->has = stays;
}

static void restore(struct host *host, unsigned number, struct claims *claims)
{
	uint64_t now = process_boot_seconds();

	if (!host->guests[number].has)
		claim_for(host, number, claims, CLAIM_INCOMING, 0,
			  dice(host, 2) ? now + 3600 : now);
}

static void daemon_restarts(struct host *host, unsigned number, struct claims *claims)
{
	(void)number, (void)claims;
	slay(host->daemon);
	host->daemon = sleeper();
	for (unsigned i = 0; i < GUESTS; i++)
		if (host->guests[i].state == CLAIM_STARTING)
			host->guests[i].has = false;
}

/* Only those that run can be told from libvirt's files. */
static void ledger_lost(struct host *host, unsigned number, struct claims *claims)
{
	(void)number, (void)claims;
	host->lose = true;
	for (unsigned i = 0; i < GUESTS; i++)
		if (!runs(&host->guests[i]))
			end_process(&host->guests[i]);
}

static const struct event {
	const char *name;
	void (*happens)(struct host *host, unsigned number, struct claims *claims);
	unsigned weight;
} events[] = {
	{ "prepare", prepare, 20 },
	{ "QEMU starts", qemu_starts, 30 },
	{ "started without the hook", start_without_hook, 4 },
	{ "stopped and released", stop, 20 },
	{ "QEMU killed", qemu_dies, 10 },
	{ "moved by hand", move_by_hand, 15 },
	{ "held for a worker", hold, 8 },
	{ "worker killed", worker_dies, 3 },
	{ "restore", restore, 5 },
	{ "daemon killed", daemon_restarts, 2 },
	{ "ledger lost", ledger_lost, 1 },
};

static const struct event *random_event(struct host *host)
{
	unsigned total = 0;
	size_t i = 0;

	for (size_t j = 0; j < ARRAY_SIZE(events); j++)
		total += events[j].weight;
	unsigned at = dice(host, total);
	while (at >= events[i].weight)
		at -= events[i++].weight;
	return &events[i];
}

static bool as_modelled(const struct host *host, const struct claims *claims,
			const char *after)
{
	struct cpuset owned;
	size_t expected = 0;

	if (!owned_once(claims, &owned)) {
		note("after %s: a CPU in two hands", after);
		return false;
	}
	for (unsigned i = 0; i < GUESTS; i++) {
		const struct guest *guest = &host->guests[i];
		char uuid[37];

		uuid_of(i, uuid);
		const struct claim *claim = claims_find(claims, uuid);
		const struct cpuset cpus = claim ? cpulist_set(&claim->cpus)
						 : (struct cpuset)CPUSET_INIT;
		expected += guest->has;
		if (!guest->has == !claim &&
		    (!claim ||
		     (claim->state == guest->state && cpuset_equal(&cpus, &guest->cpus))))
			continue;
		note("after %s: guest-%u is %s, expected %s", after, i,
		     claim ? claim_state_words[claim->state] : "nowhere",
		     guest->has ? claim_state_words[guest->state] : "nowhere");
		return false;
	}
	return claims->count == expected;
}

static void lose_ledger(struct host *host)
{
	cleanup_free char *path = xasprintf("%s/claims", scene_run);

	if (host->lose && (dice(host, 2) || truncate(path, 40) != 0))
		unlink(path);
	host->lose = false;
}

static bool step(struct host *host, const char **after)
{
	cleanup_diag struct diag diag = DIAG_INIT;
	cleanup_ledger struct ledger ledger = LEDGER_INIT;
	const struct event *event = random_event(host);

	if (!ledger_open(&ledger, &scene, PATIENCE, &diag) ||
	    !as_modelled(host, ledger.claims, *after))
		return false;
	*after = event->name;
	event->happens(host, dice(host, GUESTS), ledger.claims);
	if (!ledger_write(&ledger, &diag))
		return false;
	lose_ledger(host);
	return true;
}

static void long_run(void)
{
	struct host host = { .daemon = sleeper(), .random = 88172645463325252u };
	const char *after = "the beginning";
	double start = seconds();
	unsigned steps = 0;

	while (steps < STEPS && step(&host, &after))
		steps++;
	ok(steps == STEPS, "%u steps: no CPU in two hands, no claim lost or left over",
	   steps);
	note("%.1f s, %u times there was no room", seconds() - start, host.full);
	for (unsigned i = 0; i < GUESTS; i++)
		end_process(&host.guests[i]);
	slay(host.daemon);
	scene_clear();
}

int main(void)
{
	scene_begin();
	killed_everywhere();
	crowd();
	long_run();
	scene_end();
	return tap_done();
}
