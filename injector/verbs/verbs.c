/* SPDX-License-Identifier: MIT */
#include "injector/verbs/verbs.h"

#include <errno.h>

#include "injector/log/say.h"

int verb_failed(int err)
{
	say_lines(fail_text()[0] ? fail_text() : "failed");
	fail_clear();
	return err == -ESRCH ? STATUS_GONE : STATUS_FAILED;
}
