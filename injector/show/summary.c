/* SPDX-License-Identifier: MIT */
/* summary: what is said when all is over? */
#include "injector/show/summary.h"

#include <stdio.h>

#include "injector/log/say.h"

static const char *outcome(const struct summary *s)
{
	if (s->removed && s->verified)
		return "all probes removed, text verified";
	if (s->remains)
		return s->remains;
	if (s->gone)
		return s->gone;
	if (s->removed)
		return "all probes removed, text not verified";
	return "probes remain; inject stop goes on from there";
}

static const char *plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

void summary_say(const struct summary *s)
{
	char traps[48] = "", disarmed[48] = "", whose[64] = "";

	if (s->program)
		snprintf(whose, sizeof(whose), "%.40s (%d): ", s->program, s->pid);
	if (s->traps)
		snprintf(traps, sizeof(traps), " (%llu by traps)", (unsigned long long)s->traps);
	if (s->disarmed)
		snprintf(disarmed, sizeof(disarmed), ", %llu disarmed",
			 (unsigned long long)s->disarmed);
	say("%s%llu function%s probed%s, %llu refused%s; %llu call%s; %llu event%s "
	    "recorded, %llu lost; longest pause %.1f ms; %s", whose,
	    (unsigned long long)s->functions, plural(s->functions), traps,
	    (unsigned long long)s->refused, disarmed, (unsigned long long)s->calls,
	    plural(s->calls), (unsigned long long)s->events, plural(s->events),
	    (unsigned long long)s->lost, (double)s->pause_ns / 1e6, outcome(s));
}

void summary_json_start(struct output *out, const struct summary *s, int32_t pid, uint64_t at)
{
	output_printf(out, "{\"type\":\"start\",\"version\":1,\"ts_ns\":%llu"
			      ",\"pid\":%d,\"functions\":%llu,\"refused\":%llu"
			      ",\"pause_ns\":%llu}\n",
		      (unsigned long long)at,
		      pid, (unsigned long long)s->functions,
		      (unsigned long long)s->refused,
		      (unsigned long long)s->pause_ns);
}

static const char *truth(bool b)
{
	return b ? "true" : "false";
}

void summary_json(struct output *out, const struct summary *s, int32_t pid, uint64_t at)
{
	output_printf(out, "{\"type\":\"summary\",\"ts_ns\":%llu,\"pid\":%d"
			      ",\"functions\":%llu,\"refused\":%llu,\"calls\":%llu"
			      ",\"events\":%llu,\"lost\":%llu,\"disarmed\":%llu"
			      ",\"pause_ns\":%llu"
			      ",\"target_ended\":%s,\"removed\":%s,\"verified\":%s}\n",
		      (unsigned long long)at,
		      pid, (unsigned long long)s->functions,
		      (unsigned long long)s->refused, (unsigned long long)s->calls,
		      (unsigned long long)s->events, (unsigned long long)s->lost,
		      (unsigned long long)s->disarmed,
		      (unsigned long long)s->pause_ns, truth(s->gone),
		      truth(s->removed), truth(s->verified));
}
