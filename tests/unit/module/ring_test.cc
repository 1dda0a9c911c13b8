// SPDX-License-Identifier: GPL-2.0-only
// Tests the ring's protocol: all interleavings of small scenarios, then long random ones, then two
// threads.
#include <catch2/catch.hpp>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <random>
#include <thread>

#include "tests/unit/module/ring_harness.h"

using fkt::test::RingHarness;
using fkt::test::Wrong;
using Action = std::function<void(RingHarness&)>;
using Options = RingHarness::Options;

namespace {

// Enumerates all sequences of choices. Each run repeats the choices of the previous one with the
// last one changed, and then makes the first choice each time.
class Choices {
 public:
  unsigned choose(unsigned n) {
    if (at_ == path_.size()) path_.push_back({0, n});
    return path_[at_++].taken;
  }
  bool next() {
    path_.resize(at_);
    at_ = 0;
    while (!path_.empty() && path_.back().taken + 1 == path_.back().of) path_.pop_back();
    if (path_.empty()) return false;
    ++path_.back().taken;
    return true;
  }

 private:
  struct Choice {
    unsigned taken, of;
  };
  std::vector<Choice> path_;
  std::size_t at_ = 0;
};

struct Named {
  const char* name;
  Action run;
};

const std::vector<Named> kNested = {
    {"event", [](RingHarness& r) { r.write(0); }},
    {"call",
     [](RingHarness& r) {
       r.begin(39);
       r.end(-2);
     }},
    {"long event", [](RingHarness& r) { r.write(3); }},
    {"tried event", [](RingHarness& r) { r.try_write(); }},
    {"close", [](RingHarness& r) { r.close(); }},
    {"take", [](RingHarness& r) { r.take(); }},
    {"drain", [](RingHarness& r) { r.drain(); }},
    // Pages change while a writer is interrupted, up to a whole round of the ring.
    {"burst",
     [](RingHarness& r) {
       r.drain();
       for (int i = 0; i < 4; ++i) {
         r.write_string(64);
         r.drain();
       }
     }},
    {"flood",
     [](RingHarness& r) {
       for (int i = 0; i < 5; ++i) r.write_string(64);
     }},
    // After the pause the next event needs a TIME word.
    {"pause", [](RingHarness& r) { r.advance(1ULL << FKT_TIME_BITS); }},
};

// Runs `scenario` with up to `nested` actions at its steps, in all combinations. Returns the number
// of runs.
unsigned long explore(const Options& options, unsigned nested, const std::vector<Named>& actions,
                      const Action& scenario) {
  struct Nested {
    const char* action;
    const char* step;
    unsigned depth;
  };
  Choices choices;
  std::vector<Nested> story;  // put into words only if it fails
  unsigned long runs = 0;
  do {
    RingHarness ring(options);
    story.clear();
    ring.on_step([&](RingHarness& r) {
      if (story.size() == nested) return;
      const unsigned choice = choices.choose(1 + static_cast<unsigned>(actions.size()));
      if (!choice) return;
      story.push_back({actions[choice - 1].name, r.step_name(), r.depth()});
      actions[choice - 1].run(r);
    });
    try {
      scenario(ring);
      ring.finish();
    } catch (const Wrong& wrong) {
      std::string told;
      for (const Nested& one : story)
        told += std::string(" ") + one.action + " at " + one.step + "/" +
                std::to_string(one.depth) + ";";
      FAIL(wrong.what() << "; run " << runs << ":" << told);
    }
    ++runs;
  } while (choices.next());
  return runs;
}

const std::vector<Named> kScenarios = {
    {"two events",
     [](RingHarness& r) {
       r.write(0);
       r.write(2);
     }},
    {"a call",
     [](RingHarness& r) {
       r.write(0);
       r.begin(102);
       r.end(4095);
       r.write(0);
     }},
    {"events that are tried",
     [](RingHarness& r) {
       r.try_write();
       r.try_write();
       r.switch_to(7);
       r.try_write();
       r.try_write();
       r.write_string(40);
       r.try_write();
     }},
    {"a thread that is never written quickly",
     [](RingHarness& r) {
       r.try_write();
       r.switch_to(fkt::test::kApartPid);
       r.try_write();
       r.try_write();
       r.begin(7);
       r.end(0);
       r.switch_to(100);
       r.try_write();
       r.try_write();
     }},
    {"calls with another thread's between",
     [](RingHarness& r) {
       r.write(0);
       r.begin(7);
       r.switch_to(7);
       r.begin(7);
       r.end(0);
       r.switch_to(100);
       r.end(1);
     }},
    {"calls at a page's end",
     [](RingHarness& r) {
       r.write_string(56);
       r.begin(1);
       r.end(-1);
       r.begin(2);
       r.end(1 << 20);
       r.begin(511);
       r.advance(1 << 17);
       r.end(2);
     }},
    {"page after page",
     [](RingHarness& r) {
       r.write_string(40);
       r.write(3);
       r.write(1);
     }},
    {"no free page",
     [](RingHarness& r) {
       r.write_string(64);
       r.write_string(64);
       r.write(3);
       r.drain();
       r.write(0);
     }},
    {"a gap that stays open",
     [](RingHarness& r) {
       r.write_string(64);
       r.write_string(40);
       r.write(3);
       r.write(0);
     }},
    {"switches of threads",
     [](RingHarness& r) {
       r.write(0);
       r.switch_to(7);
       r.write(0);
       r.switch_to(100);
       r.write(1);
     }},
    {"a switch opens a page",
     [](RingHarness& r) {
       r.write_string(56);
       r.switch_to(7);
       r.write(0);
     }},
    {"a switch is lost",
     [](RingHarness& r) {
       r.write_string(64);
       r.write_string(64);
       r.switch_to(7);
       r.drain();
       r.write(0);
     }},
    {"closed pages",
     [](RingHarness& r) {
       r.write(0);
       r.close();
       r.close();
       r.write(1);
     }},
    {"long pauses",
     [](RingHarness& r) {
       r.write(0);
       r.advance((1ULL << FKT_TIME_BITS) - 2);
       r.write(0);
       r.advance(1ULL << 45);
       r.write(1);
     }},
};

// Large enough for a LOST word and the longest fixed event, with 64 bytes of string after it.
constexpr std::uint32_t kTinyPage = 184;

}  // namespace

TEST_CASE("every nested action at every step, two deep or one after the other") {
  for (const std::uint32_t pages : {2u, 3u}) {
    for (const Named& scenario : kScenarios) {
      INFO(scenario.name << ", " << pages << " pages");
      const unsigned long runs =
          explore({.page_bytes = kTinyPage, .pages = pages}, 2, kNested, scenario.run);
      CHECK(runs > 1000);
    }
  }
}

// FKT_RING_ACTIONS: how many of these actions, 4 at most; each one more takes three times as long.
TEST_CASE("three writers in each other") {
  const char* const asked = std::getenv("FKT_RING_ACTIONS");
  const auto actions = static_cast<std::size_t>(asked ? std::atoi(asked) : 2);
  std::vector<Named> few = {kNested[0], kNested[6], kNested[8], kNested[1]};
  few.resize(std::min(actions, few.size()));
  for (const Named& scenario : kScenarios) {
    INFO(scenario.name);
    CHECK(explore({.page_bytes = kTinyPage}, 3, few, scenario.run) > 1000);
  }
}

TEST_CASE("running numbers wrap at 2^32") {
  for (const std::uint32_t start : {~0U, ~0U - 1, ~0U - 2}) {
    for (const Named& scenario : kScenarios) {
      INFO(scenario.name << ", from " << start);
      explore({.page_bytes = kTinyPage, .start = start}, 1, kNested, scenario.run);
    }
  }
}

TEST_CASE("rings of two pages of 4 KiB, at a page's end") {
  for (const Named& scenario : kScenarios) {
    for (std::uint32_t left = 0; left <= 5; ++left) {
      INFO(scenario.name << ", " << left << " words left");
      explore({}, 1, kNested, [&](RingHarness& r) {
        // Leaves `left` words free in the first page. The event word and the serial number take
        // two.
        r.write_string(4096 - FKT_PAGE_HEADER_BYTES - 8 * (2 + left));
        scenario.run(r);
      });
    }
  }
}

TEST_CASE("the largest string fills a page, behind a LOST word too") {
  RingHarness ring({});
  for (int i = 0; i < 4; ++i) ring.write_string(~0U);
  ring.drain();
  ring.write_string(~0U);
  CHECK_NOTHROW(ring.finish());
  CHECK(ring.attempted() == 5);
  CHECK(ring.lost() == 2);
  CHECK(ring.gaps() == 1);
}

TEST_CASE("a gap that is kept goes on when pages are free again") {
  RingHarness ring({.keeps_gap = true});
  for (int i = 0; i < 3; ++i) ring.write_string(~0U);
  CHECK(ring.lost() == 1);
  ring.drain();
  for (int i = 0; i < 600; ++i) ring.write(i % 4);
  ring.switch_to(7);
  ring.begin(39);
  ring.end(0);
  CHECK_NOTHROW(ring.finish());
  CHECK(ring.lost() == 604);
  CHECK(ring.gaps() == 0);
  CHECK(ring.pages() == 2);
}

TEST_CASE("a pause is a gap in which nothing is lost, and ends with the next event") {
  for (const bool keeps_gap : {false, true}) {
    RingHarness ring({.pages = 4, .keeps_gap = keeps_gap});
    ring.pause();  // before the first event
    ring.advance(1000);
    ring.write(1);
    ring.resume();
    ring.write(2);
    ring.pause();
    ring.advance(1ULL << 40);
    ring.switch_to(7);
    ring.resume();
    ring.begin(39);
    ring.end(0);
    CHECK_NOTHROW(ring.finish());
    CHECK(ring.lost() == 0);
    CHECK(ring.gaps() == 2);
    CHECK(ring.written() == ring.attempted());
  }
}

TEST_CASE("a pause that no event ended is none, where a loss ends the recording") {
  RingHarness ring({.pages = 3, .keeps_gap = true});
  ring.write(0);
  ring.pause();
  ring.resume();
  for (int i = 0; i < 3; ++i) ring.write_string(~0U);
  CHECK_NOTHROW(ring.finish());
  CHECK(ring.lost() == 1);
  CHECK(ring.gaps() == 0);
}

TEST_CASE("what the long way adds is added only where it must be") {
  RingHarness ring({});
  for (int i = 0; i < 100; ++i) ring.write(0);
  CHECK(ring.attempted() == 100);
  ring.advance(1ULL << FKT_TIME_BITS);
  ring.write(0);
  ring.switch_to(7);
  ring.write(0);
  CHECK_NOTHROW(ring.finish());
  CHECK(ring.lost() == 0);
  CHECK(ring.pages() == 1);
  CHECK(ring.time_words() == 1);
  CHECK(ring.pid_words() == 0);
}

TEST_CASE("a clock that steps back makes no event later, and is counted") {
  const auto run = [](const Action& steps) {
    RingHarness ring({});
    ring.advance(1ULL << 40);
    for (int i = 0; i < 10; ++i) ring.write(i % 4);
    steps(ring);
    CHECK_NOTHROW(ring.finish());
    CHECK(ring.lost() == 0);
    CHECK(ring.written() == ring.attempted());
    return ring.clock_back();
  };
  for (const std::uint64_t ticks :
       {5ULL, 100ULL, FKT_TIME_MASK, FKT_TIME_MASK + 1, 1ULL << 32, 1ULL << 39}) {
    INFO(ticks << " ticks back");
    // Writes by the fast path, by the slow path, in a newly opened page, and after the page was
    // closed.
    CHECK(run([&](RingHarness& r) { r.step_back(ticks), r.write(0); }) == 1);
    CHECK(run([&](RingHarness& r) { r.step_back(ticks), r.switch_to(7); }) == 1);
    CHECK(run([&](RingHarness& r) { r.step_back(ticks), r.write_string(4096); }) == 1);
    CHECK(run([&](RingHarness& r) { r.step_back(ticks), r.close(), r.write(0); }) == 1);
    CHECK(run([&](RingHarness& r) { r.close(), r.step_back(ticks), r.write(0); }) == 1);
    // Once the clock has passed its previous value, no further event is counted.
    CHECK(run([&](RingHarness& r) {
            r.step_back(ticks), r.write(0), r.advance(ticks), r.write(0), r.write(1);
          }) == 1);
    // The end of a call is earlier than its begin.
    CHECK(run([&](RingHarness& r) { r.begin(39), r.step_back(ticks), r.end(0); }) == 1);
  }
}

TEST_CASE("a gap does not end before it began when the clock steps back in it") {
  RingHarness ring({.pages = 2});
  ring.advance(1ULL << 40);
  for (int i = 0; i < 4; ++i) ring.write_string(~0U);
  ring.step_back(1ULL << 39);
  ring.write(0);
  ring.drain();
  ring.write(0);
  CHECK_NOTHROW(ring.finish());
  CHECK(ring.lost() == 3);
  CHECK(ring.gaps() == 1);
  CHECK(ring.clock_back() == 1);
}

TEST_CASE("an event is written quickly if nothing but the event is to be written") {
  RingHarness ring({.page_bytes = kTinyPage, .pages = 2});
  ring.try_write();  // opens the page
  CHECK(ring.tried() == 0);
  ring.try_write();
  ring.try_write(FKT_TIME_MASK);
  CHECK(ring.tried() == 2);
  ring.try_write(FKT_TIME_MASK + 1);
  ring.switch_to(7);
  CHECK(ring.tried() == 2);
  ring.try_write();
  CHECK(ring.tried() == 3);
  ring.advance(FKT_TIME_MASK + 1);
  ring.try_write();
  CHECK(ring.tried() == 3);
  ring.finish();
  CHECK(ring.written() == 7);
}

TEST_CASE("a thread that is kept apart is never written quickly, and each of its events names it") {
  RingHarness ring({.page_bytes = kTinyPage, .pages = 2});
  ring.write(0);
  ring.switch_to(fkt::test::kApartPid);
  for (int i = 0; i < 3; ++i) ring.try_write();
  CHECK(ring.tried() == 0);
  ring.switch_to(100);
  ring.try_write();
  CHECK(ring.tried() == 1);
  ring.finish();
  CHECK(ring.pid_words() >= 3);
  CHECK(ring.written() == 7);
}

namespace {

// One random operation of the task or of an interrupt; few of them are long.
void random_write(RingHarness& r, std::mt19937& random) {
  const unsigned what = random() % 64;
  if (what < 20) {
    r.begin(random() % 520);
    r.end(static_cast<std::int32_t>(random()) >> random() % 32 >> 8);
  } else if (what < 22) {
    r.end(0);
  } else if (what < 24) {
    r.try_write(random() % 16 ? 0 : ~0ULL);
  } else if (what < 40) {
    r.write(what % 4);
  } else if (what < 56) {
    r.write(0);
  } else if (what < 62) {
    r.write_string(random() % 200);
  } else if (what == 62) {
    r.close();
  } else {
    r.write_string(random() % 4096);
  }
}

void random_task(RingHarness& r, std::mt19937& random) {
  const unsigned what = random() % 32;
  if (what < 26) {
    random_write(r, random);
  } else if (what < 31) {
    r.switch_to(random() % 4 ? random() % 8 : random() % FKT_PID_MASK);
  } else {
    r.advance(1ULL << random() % 46);
  }
}

void random_drain(RingHarness& r, std::mt19937& random) {
  const unsigned what = random() % 8;
  if (what < 3) {
    r.take();
  } else if (what < 6) {
    r.put();
  } else if (what == 6) {
    r.drain();
  }
}

}  // namespace

TEST_CASE("a million random operations, nested three deep") {
  std::mt19937 random(20050501);
  for (const std::uint32_t pages : {2u, 3u, 8u}) {
    std::uint64_t attempted = 0, lost = 0, gaps = 0;
    for (unsigned round = 0; round < 34; ++round) {
      RingHarness ring({.pages = pages, .start = ~0U - round});
      bool fast = true;  // the drain alternately keeps up and falls behind
      ring.on_step([&](RingHarness& r) {
        const unsigned what = random() % 64;
        if (what == 0) random_write(r, random);
        if (what == 1 && fast) random_drain(r, random);
      });
      try {
        for (unsigned i = 0; i < 10'000; ++i) {
          fast = i / 500 % 2 == 0;
          random_task(ring, random);
          if (fast || random() % 64 == 0) random_drain(ring, random);
        }
        ring.finish();
      } catch (const Wrong& wrong) {
        FAIL(wrong.what() << "; round " << round << ", " << pages << " pages");
      }
      attempted += ring.attempted();
      lost += ring.lost();
      gaps += ring.gaps();
    }
    CHECK(attempted > 300'000);
    CHECK(lost > 1000);
    CHECK(lost < attempted / 2);
    CHECK(gaps > 100);
  }
}

TEST_CASE("random operations nested in each other with a clock that steps back by much") {
  std::mt19937 random(20050503);
  std::uint64_t back = 0;
  for (unsigned round = 0; round < 20; ++round) {
    RingHarness ring({.pages = 8});
    ring.advance(1ULL << 50);
    bool nests = true;
    ring.on_step([&](RingHarness& r) {
      if (nests && random() % 64 == 0) random_write(r, random);
    });
    for (unsigned i = 0; i < 5000; ++i) {
      if (random() % 256 == 0) {
        // Written without nesting: otherwise last_clock may be that of the event before it.
        nests = false;
        ring.write(0);
        nests = true;
        ring.step_back(1ULL << (20 + random() % 20));
      }
      random_task(ring, random);
      random_drain(ring, random);
    }
    CHECK_NOTHROW(ring.finish());
    back += ring.clock_back();
  }
  CHECK(back > 1000);
}

TEST_CASE("a writer with its interrupts against a drain on another CPU") {
  RingHarness ring({.pages = 4, .start = ~0U - 10});
  std::mt19937 random(20050502);
  std::atomic<bool> stop = false;
  std::string drain_wrong;
  std::thread drain([&] {
    try {
      for (unsigned long i = 0; !stop; ++i) {
        if (!ring.drain()) std::this_thread::yield();
        // Sometimes the drain is late.
        if (i % 64 == 0) std::this_thread::sleep_for(std::chrono::microseconds(50));
      }
    } catch (const Wrong& wrong) {
      drain_wrong = wrong.what();
    }
  });
  ring.on_step([&](RingHarness& r) {
    if (random() % 64 == 0) random_write(r, random);
  });
  for (unsigned i = 0; i < 200'000; ++i) {
    // The writer alternately outruns the drain and waits for it.
    while (i / 1000 % 2 && ring.free_pages() == 0) std::this_thread::yield();
    random_task(ring, random);
  }
  stop = true;
  drain.join();
  REQUIRE(drain_wrong.empty());
  CHECK_NOTHROW(ring.finish());
  CHECK(ring.written() > 10'000);
  CHECK(ring.pages() > 100);
}
