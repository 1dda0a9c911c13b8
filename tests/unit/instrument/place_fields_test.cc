// SPDX-License-Identifier: GPL-2.0-only
#include <catch2/catch.hpp>

#include "lib/instrument/place_fields.h"
#include "lib/instrument/system_call.h"

using namespace fkt;

TEST_CASE("the fields of a tracepoint are told with sign, bits and lengths") {
  const auto layout = EventLayout::parse(
      "name: mixed\nID: 1\nformat:\n"
      "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n"
      "\tfield:int sig;\toffset:8;\tsize:4;\tsigned:1;\n"
      "\tfield:unsigned long sector;\toffset:16;\tsize:8;\tsigned:0;\n"
      "\tfield:char comm[16];\toffset:24;\tsize:16;\tsigned:0;\n"
      "\tfield:u32 values[4];\toffset:40;\tsize:16;\tsigned:0;\n"
      "\tfield:__data_loc char[] name;\toffset:56;\tsize:4;\tsigned:0;\n\n"
      "print fmt: \"%d %lu\", REC->sig, REC->sector\n");
  REQUIRE(layout);
  CHECK(fields_text(*layout) == "(s32 sig, u64 sector, char[16] comm, u32[4] values, text name)");
}

TEST_CASE("the fields of a module's probe are those of its description") {
  const ModuleProbe good =
      parse_probe("my_driver", "fkt1 block request_done sector=u64 error=s32 queue=str16");
  CHECK(fields_text(good) == "(u64 sector, s32 error, str16 queue)");
  CHECK(fields_text(parse_probe("my_driver", "fkt1 block reset")) == "()");
  CHECK(fields_text(parse_probe("my_driver", "fkt1 nolayer reset a=u8")).empty());
}

TEST_CASE("arguments are told as in C, and those without a name by their numbers") {
  const ModuleProbe probe = parse_probe("m", "fkt1 block x sector=u64 where=ptr");
  REQUIRE(probe.fields.size() == 2);
  Prototype prototype{
      .function = "f", .arguments = probe.fields, .is_variadic = false, .result = 0};
  CHECK(arguments_text(prototype, probe_types()) == "(u64 sector, void *where)");
  prototype.arguments[0].name.clear();
  prototype.is_variadic = true;
  prototype.result = probe.fields[0].type;
  CHECK(arguments_text(prototype, probe_types()) == "(u64 arg1, void *where, ...) u64");
}

TEST_CASE("arguments of a system call are told as the kernel declares them") {
  Prototype prototype{.function = "f", .arguments = {}, .is_variadic = false, .result = 0};
  add_call_arguments(prototype, "\tfield:int dfd;\n\tfield:const char * filename;\n",
                     probe_types());
  CHECK(arguments_text(prototype, probe_types()) == "(int dfd, const char *filename)");
  add_call_arguments(prototype, "", probe_types());
  CHECK(arguments_text(prototype, probe_types()) == "(arg1, arg2, arg3, arg4, arg5, arg6)");
}
