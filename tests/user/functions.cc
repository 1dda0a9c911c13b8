// SPDX-License-Identifier: GPL-2.0-only
// functions HOW...: calls functions under what is rough for a tracer of calls, and counts them
// itself. Compiled with -finstrument-functions, but for what counts. Prints a line for each
// function: its name and how often it was called by all processes that this one has waited for.
#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string_view>

#define UNSEEN __attribute__((no_instrument_function))

namespace {

enum Function {
  kFib,
  kLeaf,
  kThrows,
  kCatches,
  kJumps,
  kSets,
  kWork,
  kHandler,
  kSlow,
  kFast,
  kLeaves,
  kGives,
  kMixes,
  kEnds,
  kWaits,
  kYields,
  kFunctions
};
constexpr const char* kNames[] = {"trees::Tree::fib",
                                  "leaf",
                                  "throws<int>",
                                  "catches",
                                  "jumps",
                                  "sets",
                                  "work",
                                  "handler",
                                  "slow",
                                  "fast",
                                  "leaves",
                                  "gives",
                                  "mixes",
                                  "ends",
                                  "waits",
                                  "yields"};
long* counts;

UNSEEN inline __attribute__((always_inline)) void count(Function function) {
  __atomic_fetch_add(&counts[function], 1, __ATOMIC_RELAXED);
}

UNSEEN void print_counts() {
  for (int i = 0; i < kFunctions; i++) {
    if (counts[i] != 0) std::printf("%s %ld\n", kNames[i], counts[i]);
  }
  std::fflush(stdout);
}

UNSEEN double now() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

UNSEEN inline __attribute__((always_inline)) void spin(double seconds) {
  for (const double end = now() + seconds; now() < end;) {
  }
}

jmp_buf out;
volatile int sink;
int destroyed;

}  // namespace

namespace trees {
struct Tree {
  __attribute__((noinline)) int fib(int n) const {
    count(kFib);
    return n < 2 ? n : fib(n - 1) + fib(n - 2);
  }
};
}  // namespace trees

__attribute__((noinline)) void leaf(int n) {
  count(kLeaf);
  sink = n;
}

template <class T>
__attribute__((noinline)) void throws(T n) {
  count(kThrows);
  leaf(n);
  if (n == 0) throw std::runtime_error("far down");
  throws<T>(n - 1);
}

__attribute__((noinline)) void catches(int n) {
  count(kCatches);
  try {
    throws<int>(n);
  } catch (const std::runtime_error&) {
    leaf(n);
  }
}

__attribute__((noinline)) void jumps(int n) {
  count(kJumps);
  leaf(n);
  if (n == 0) longjmp(out, 1);
  jumps(n - 1);
  sink = n;
}

__attribute__((noinline)) void sets(int n) {
  count(kSets);
  if (setjmp(out) == 0) jumps(n);
  leaf(n);
}

__attribute__((noinline)) void fast() {
  count(kFast);
  sink = 1;
}

__attribute__((noinline)) void slow() {
  count(kSlow);
  fast();
  spin(0.002);
}

__attribute__((noinline)) void work(int rounds) {
  count(kWork);
  for (int i = 0; i < rounds; i++) leaf(i);
}

__attribute__((noinline)) void handler(int) {
  count(kHandler);
  leaf(0);
}

__attribute__((noinline)) void leaves(int n) {
  count(kLeaves);
  if (n > 0) leaves(n - 1);
  print_counts();
  exit(0);
}

struct Pair {
  long whole;
  double part;
};

// Arguments and results in all kinds of registers.
__attribute__((noinline)) Pair gives(long a, double b, float c, long d, double e, double f, long g,
                                     double h) {
  count(kGives);
  return {a + d + g, b + c + e + f + h};
}

__attribute__((noinline)) long double mixes(int n, ...) {
  count(kMixes);
  va_list rest;
  long double sum = 0;
  va_start(rest, n);
  for (int i = 0; i < n; i++) sum += va_arg(rest, double) * static_cast<double>(va_arg(rest, long));
  va_end(rest);
  return sum;
}

struct Counted {
  UNSEEN ~Counted() { __atomic_fetch_add(&destroyed, 1, __ATOMIC_RELAXED); }
};

__attribute__((noinline)) void ends(int n) {
  count(kEnds);
  const Counted counted;
  leaf(n);
  if (n == 0) pthread_exit(nullptr);
  ends(n - 1);
}

__attribute__((noinline)) void waits() {
  count(kWaits);
  for (;;) pause();
}

ucontext_t mine, other;

__attribute__((noinline)) void yields(int n) {
  count(kYields);
  leaf(n);
  swapcontext(&other, &mine);
  if (n > 0) yields(n - 1);
  swapcontext(&other, &mine);
}

namespace {

UNSEEN bool values_are_right() {
  for (int i = 0; i < 100; i++) {
    const Pair pair = gives(i, 0.5, 0.25F, 2, 1.5, i, 3, 8.0);
    if (pair.whole != i + 5 || pair.part != 10.25 + i) return false;
    if (mixes(3, 0.5, 2L, 1.5, 4L, static_cast<double>(i), 10L) != 7.0L + 10 * i) return false;
  }
  return true;
}

// Returns whether the destructors of the threads' functions have run.
UNSEEN bool threads_end() {
  for (int i = 0; i < 10; i++) {
    pthread_t one;
    pthread_create(
        &one, nullptr,
        [] UNSEEN(void*) -> void* {
          ends(4);
          return nullptr;
        },
        nullptr);
    pthread_join(one, nullptr);
  }
  return destroyed == 10 * 5;
}

UNSEEN bool threads_are_cancelled() {
  for (int i = 0; i < 10; i++) {
    pthread_t one;
    void* result = nullptr;
    pthread_create(
        &one, nullptr,
        [] UNSEEN(void*) -> void* {
          waits();
          return nullptr;
        },
        nullptr);
    while (__atomic_load_n(&counts[kWaits], __ATOMIC_RELAXED) <= i) usleep(100);
    pthread_cancel(one);
    pthread_join(one, &result);
    if (result != PTHREAD_CANCELED) return false;
  }
  return true;
}

UNSEEN void yield_first() {
  yields(5);
}

// Two stacks that take turns.
UNSEEN void contexts() {
  static char stack[1 << 16];
  getcontext(&other);
  other.uc_stack.ss_sp = stack;
  other.uc_stack.ss_size = sizeof stack;
  other.uc_link = &mine;
  makecontext(&other, yield_first, 0);
  for (int i = 0; i < 12; i++) {
    swapcontext(&mine, &other);
    work(3);
  }
}

UNSEEN void* work_in_thread(void* rounds) {
  work(static_cast<int>(reinterpret_cast<long>(rounds)));
  return nullptr;
}

UNSEEN void threads() {
  pthread_t all[8];
  for (int round = 0; round < 5; round++) {
    for (pthread_t& one : all)
      pthread_create(&one, nullptr, work_in_thread, reinterpret_cast<void*>(500L));
    for (const pthread_t one : all) pthread_join(one, nullptr);
  }
}

UNSEEN void forks() {
  for (int i = 0; i < 20; i++) {
    work(10);
    if (fork() == 0) {
      work(3);
      _exit(0);
    }
  }
  while (wait(nullptr) > 0) {
  }
}

// every: a signal comes after so many microseconds; seconds: how long it takes.
UNSEEN void signals(long every, double seconds) {
  const itimerval often = {{0, every}, {0, every}}, never = {{0, 0}, {0, 0}};
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  sigaction(SIGALRM, &action, nullptr);
  setitimer(ITIMER_REAL, &often, nullptr);
  for (const double end = now() + seconds; now() < end;) {
    work(100);
    usleep(200);
  }
  setitimer(ITIMER_REAL, &never, nullptr);
}

// A handler interrupts calls at each of their instructions once, and is itself interrupted: the
// trap flag has each instruction raise SIGTRAP.
constexpr int kLevels = 2;
volatile int level;
volatile long step[kLevels], wanted[kLevels];
sigjmp_buf before_calls;
bool jumps_out;

UNSEEN inline __attribute__((always_inline)) void trap(bool on) {
  constexpr unsigned long kTrapFlag = 0x100;
  const unsigned long flags = __builtin_ia32_readeflags_u64();
  __builtin_ia32_writeeflags_u64(on ? flags | kTrapFlag : flags & ~kTrapFlag);
}

UNSEEN void on_step(int) {
  const int here = level;
  if (here == kLevels) return;
  step[here] = step[here] + 1;
  if (step[here] != wanted[here]) return;
  level = here + 1;
  trap(level < kLevels && wanted[level] != 0);
  handler(0);
  leaf(0);
  trap(false);
  level = here;
  if (jumps_out) siglongjmp(before_calls, 1);
}

// Returns whether both interruptions came before the calls had ended.
UNSEEN bool interrupted_at(long first, long second) {
  wanted[0] = first;
  wanted[1] = second;
  step[0] = 0;
  step[1] = 0;
  level = 0;
  if (sigsetjmp(before_calls, 1) == 0) {
    trap(true);
    work(1);
    trap(false);
  }
  return step[0] >= first && step[1] >= second;
}

// stride: of the instructions of the handler that is interrupted; 0: none is. every: how many
// instructions of the call from one interrupted place to the next.
UNSEEN void steps(long stride, long every, bool jumps) {
  struct sigaction action {};
  action.sa_handler = on_step;
  action.sa_flags = SA_NODEFER;
  sigaction(SIGTRAP, &action, nullptr);
  jumps_out = jumps;
  work(1);
  handler(0);
  long first = 1;
  for (; interrupted_at(first, 0); first += every) {
    for (long second = first; stride != 0 && interrupted_at(first, second); second += stride) {
    }
  }
  std::fprintf(stderr, "%ld instructions\n", first - 1);
}

// Loads each library, calls its function `plugin` and unloads it, so that the next library gets the
// same addresses.
UNSEEN void plugins(char** paths) {
  for (; *paths != nullptr; paths++) {
    void* const library = dlopen(*paths, RTLD_NOW);
    if (library == nullptr) std::exit(1);
    reinterpret_cast<void (*)()>(dlsym(library, "plugin"))();
    dlclose(library);
  }
}

}  // namespace

UNSEEN int main(int argc, char** argv) {
  const std::string_view how = argc > 1 ? argv[1] : "";
  counts = static_cast<long*>(
      mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  if (how == "nest") sink = trees::Tree().fib(16);
  if (how == "threads") threads();
  if (how == "forks") forks();
  if (how == "signals") signals(100, 0.3);
  if (how == "begins") signals(20, 0.005);
  if (how == "steps")
    steps(argc > 2 ? std::atol(argv[2]) : 0, argc > 3 ? std::atol(argv[3]) : 1, false);
  if (how == "leaps") steps(0, 1, true);
  if (how == "exceptions") {
    for (int i = 0; i < 200; i++) catches(i % 7);
  }
  if (how == "jumps") {
    for (int i = 0; i < 200; i++) sets(i % 7);
  }
  if (how == "least") {
    for (int i = 0; i < 10; i++) {
      slow();
      for (int k = 0; k < 100; k++) fast();
    }
  }
  if (how == "exit") leaves(5);
  if (how == "values" && !values_are_right()) std::puts("wrong values");
  if (how == "ends" && !threads_end()) std::puts("wrong ends");
  if (how == "cancels" && !threads_are_cancelled()) std::puts("not cancelled");
  if (how == "contexts") contexts();
  if (how == "plugins") plugins(argv + 2);
  if (how == "killed") {
    work(1000);
    raise(SIGKILL);
  }
  if (how == "exec") {
    work(10);
    print_counts();
    execl(argv[0], argv[0], "nest", nullptr);
  }
  print_counts();
  return 0;
}
