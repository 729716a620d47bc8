/* SPDX-License-Identifier: MIT */
/* die: what does an entry of the debug information say, also by what it refers to? */
#include <dwarf.h>

#include "symbols/types/build.h"

bool die_number(Dwarf_Die *die, unsigned int attribute, uint64_t *ret)
{
	Dwarf_Attribute a;
	Dwarf_Word value;

	if (!dwarf_attr_integrate(die, attribute, &a) || dwarf_formudata(&a, &value))
		return false;
	*ret = value;
	return true;
}

/* data1 to data8 say no sign; compilers write a number below 0 in a form that does. */
bool die_signed(Dwarf_Die *die, unsigned int attribute, int64_t *ret)
{
	Dwarf_Attribute a;
	Dwarf_Sword value;
	Dwarf_Word number;

	if (!dwarf_attr(die, attribute, &a))
		return false;
	if (dwarf_whatform(&a) == DW_FORM_sdata || dwarf_whatform(&a) == DW_FORM_implicit_const) {
		if (dwarf_formsdata(&a, &value))
			return false;
		*ret = value;
		return true;
	}
	*ret = 0;
	if (dwarf_formudata(&a, &number))
		return false;
	*ret = (int64_t)number;
	return true;
}

bool die_type(Dwarf_Die *die, Dwarf_Die *ret)
{
	Dwarf_Attribute a;

	return dwarf_attr_integrate(die, DW_AT_type, &a) && dwarf_formref_die(&a, ret);
}

bool die_flag(Dwarf_Die *die, unsigned int attribute)
{
	Dwarf_Attribute a;
	bool value;

	return dwarf_attr_integrate(die, attribute, &a) && dwarf_formflag(&a, &value) == 0 && value;
}

uint32_t build_die_type(struct building *b, Dwarf_Die *die, unsigned int pointers,
			unsigned int nested)
{
	Dwarf_Die of;

	return die_type(die, &of) ? b->build(b, &of, pointers, nested) : 0;
}
