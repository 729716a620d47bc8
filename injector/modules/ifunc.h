/* SPDX-License-Identifier: MIT */
/*
 * ifunc: which of several functions has the loader chosen for this name?
 *
 * The symbol of an indirect function (memcpy, say) is at a resolver, which the
 * loader calls once; what it returns is what the process calls. The loader has
 * put that into words which relocations tell of, in the module itself and in
 * those that use it.
 */
#ifndef INJECTOR_IFUNC_H
#define INJECTOR_IFUNC_H

#include "injector/modules/modules.h"

/*
 * The function of `m` that stands behind a resolver of `m` in this process, or
 * NULL: it was not called yet, or cannot be, it is in another module (the vdso), or
 * this is a file. May read the symbols of every module.
 */
const struct func *ifunc_chosen(struct modules *, const struct module *m,
				const struct func *resolver);

#endif
