// SPDX-License-Identifier: GPL-2.0-only
// Runs fkt_print on the small recordings of tests/golden and compares the output (see the file
// `cases` there). FKT_GOLDEN_WRITE=1 writes recordings and output.
#include "tests/unit/golden.h"
#include "cli/fkt_extract/extract.h"
#include "cli/fkt_print/print.h"
#include "tests/golden/recordings.h"

using namespace fkt;
using namespace fkt::test;

namespace {

std::string file_text(const Bytes& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

TEST_CASE("the golden recordings are those that recordings.h makes", "[golden]") {
  compare(golden() / "find.fkt", file_text(find_recording()));
  compare(golden() / "broken.fkt", file_text(broken_recording()));
  compare(golden() / "functions.fkt", file_text(functions_recording()));
  compare(golden() / "packed.fkt", file_text(find_recording(2)));
  compare(golden() / "packed-broken.fkt", file_text(broken_group_recording()));
}

TEST_CASE("fkt_print says of the golden recordings what it is to say", "[golden]") {
  CHECK(run_cases("cases", cli::print_recording, "fkt_print") > 10);
}

TEST_CASE("the manual pages have every option that the tools' help has") {
  CHECK(check_manual(cli::print_recording, "fkt_print") > 10);
  CHECK(check_manual(cli::extract_slice, "fkt_extract") > 8);
}
