/* SPDX-License-Identifier: MIT */
/* summary: what is said when all is over? */
#include "injector/summary.h"

#include "injector/say.h"

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

void summary_say(const struct summary *s)
{
	say("%llu function%s probed, %llu refused; %llu calls; %llu events "
	    "recorded, %llu lost; longest pause %.1f ms; %s",
	    (unsigned long long)s->functions, s->functions == 1 ? "" : "s",
	    (unsigned long long)s->refused, (unsigned long long)s->calls,
	    (unsigned long long)s->events, (unsigned long long)s->lost,
	    (double)s->pause_ns / 1e6, outcome(s));
}
