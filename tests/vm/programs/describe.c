// SPDX-License-Identifier: GPL-2.0-only
// describe MODULE.ko FUNCTION=ARGUMENTS...: writes a description of these functions (BTF), all of
// whose arguments and results are unsigned longs, into the section .BTF of a kernel module, for the
// kernel that runs here.
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel_types.h"

#define FUNCTIONS_MOST 16

// What a module's description continues: numbers of its first type, and place of its first name.
struct base {
  unsigned types, names;
};

static struct base kernel_base(void) {
  char* const data = read_kernel_types();
  const struct btf_header* const head = (const void*)data;
  const struct btf_type* type = (const void*)(data + head->hdr_len + head->type_off);
  const void* const end = (const char*)type + head->type_len;
  struct base base = {1, head->str_len};
  for (; (const void*)type < end; base.types++) type = next_type(type);
  free(data);
  return base;
}

// A description that grows.
struct out {
  char types[4096], names[4096];
  unsigned type_bytes, name_bytes;
  struct base base;
};

static void put(struct out* out, const void* data, size_t bytes) {
  if (out->type_bytes + bytes > sizeof(out->types)) errx(1, "too much");
  memcpy(out->types + out->type_bytes, data, bytes);
  out->type_bytes += bytes;
}

static unsigned name(struct out* out, const char* text, size_t bytes) {
  const unsigned at = out->name_bytes;
  if (at + bytes + 1 > sizeof(out->names)) errx(1, "too much");
  memcpy(out->names + at, text, bytes);
  out->name_bytes += bytes + 1;
  return out->base.names + at;
}

// The numbers of its types follow each other: unsigned long, then a prototype and a function for
// each.
static void put_function(struct out* out, const char* text, unsigned number) {
  const char* const is = strchr(text, '=');
  const unsigned arguments = is ? (unsigned)atoi(is + 1) : 0, argument = out->base.names + 1;
  const struct btf_param param = {argument, out->base.types};
  const struct btf_type prototype = {0, BTF_KIND_FUNC_PROTO << 24 | arguments, {out->base.types}};
  struct btf_type function = {0, BTF_KIND_FUNC << 24, {out->base.types + 1 + 2 * number}};
  if (!is) errx(2, "usage: describe FUNCTION=ARGUMENTS...");
  function.name_off = name(out, text, (size_t)(is - text));
  put(out, &prototype, sizeof prototype);
  for (unsigned i = 0; i < arguments; i++) put(out, &param, sizeof param);
  put(out, &function, sizeof function);
}

int main(int argc, char** argv) {
  static struct out out;
  if (argc < 2 || argc > FUNCTIONS_MOST) errx(2, "usage: describe FUNCTION=ARGUMENTS...");
  out.base = kernel_base();
  name(&out, "", 0);
  name(&out, "argument", 8);
  const struct btf_type number = {name(&out, "unsigned long", 13), BTF_KIND_INT << 24, {8}};
  const __u32 bits = 64;
  put(&out, &number, sizeof number);
  put(&out, &bits, sizeof bits);
  for (int i = 1; i < argc; i++) put_function(&out, argv[i], (unsigned)i - 1);

  const struct btf_header head = {.magic = BTF_MAGIC,
                                  .version = BTF_VERSION,
                                  .hdr_len = sizeof head,
                                  .type_len = out.type_bytes,
                                  .str_off = out.type_bytes,
                                  .str_len = out.name_bytes};
  fwrite(&head, 1, sizeof head, stdout);
  fwrite(out.types, 1, out.type_bytes, stdout);
  fwrite(out.names, 1, out.name_bytes, stdout);
  return fflush(stdout) ? 1 : 0;
}
