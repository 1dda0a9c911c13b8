// SPDX-License-Identifier: GPL-2.0-only
// fkt_kd on the small recordings and KFT logs of tests/golden, against the text beside them (the
// file `kd-cases` there). tests/golden/kd_independent.py computes the same figures anew.
#include "cli/fkt_kd/kd.h"
#include "tests/unit/golden.h"

using namespace fkt;
using namespace fkt::test;

TEST_CASE("fkt_kd says of recordings and KFT logs what it is to say", "[golden]") {
  CHECK(run_cases("kd-cases", cli::kd, "fkt_kd") > 15);
}

TEST_CASE("fkt_kd(1) has every option that the help has") {
  CHECK(check_manual(cli::kd, "fkt_kd") > 10);
}
