/* SPDX-License-Identifier: MIT */
/* What the injector carries into the target: see injector/session/blobs.h. */
	.section .rodata
	.globl blob_payload, blob_payload_end, blob_loader, blob_loader_end
	.balign 16
blob_payload:
	.incbin "payload.so"
blob_payload_end:
	.balign 16
blob_loader:
	.incbin "loader.bin"
blob_loader_end:
	.section .note.GNU-stack, "", %progbits
