/* SPDX-License-Identifier: MIT */
#include "values/shapes.h"

void shape_find(struct signature *s, uint32_t type)
{
	(void)s;
	(void)type;
}
