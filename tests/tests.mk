# SPDX-License-Identifier: MIT
# Unit tests: tests/unit/NAME.c and tests/patch/NAME.c each become
# $(BUILD)/tests/unit/NAME, linked with everything but main; exit 0 passed,
# 77 skipped (with a line that says why), else failed.
UNIT := $(wildcard tests/unit/*.c tests/patch/*.c)
UNIT_BIN := $(UNIT:%.c=$(BUILD)/%)

$(BUILD)/tests/unit/%: tests/unit/%.c $(LIB)
	@mkdir -p $(@D); echo "  CC      $<"
	$(Q)$(CC) $(CPPFLAGS) $(ALL_CFLAGS) $(ALL_LDFLAGS) -o $@ $< $(LIB) $(LDLIBS)

$(BUILD)/tests/patch/%: tests/patch/%.c $(LIB)
	@mkdir -p $(@D); echo "  CC      $<"
	$(Q)$(CC) $(CPPFLAGS) $(ALL_CFLAGS) $(ALL_LDFLAGS) -o $@ $< $(LIB) $(LDLIBS)

unit: $(UNIT_BIN)
.PHONY: unit
