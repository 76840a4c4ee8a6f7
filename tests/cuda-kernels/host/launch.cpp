// Runs kernels on a CPU: one thread of a block after the other, or, if threads wait for each other, by switching from
// one to the next wherever they wait.
#include "device.h"

#include <ucontext.h>
#include <vector>

thread_local Index blockIdx, threadIdx, gridDim;

namespace {

typedef unsigned long long u64;
constexpr unsigned THREADS = 256;
constexpr size_t STACK = 64 << 10;

/// All kernels take integers and pointers only: as arguments of 64 bits, of which they use the first ones.
typedef void (*Kernel)(u64, u64, u64, u64, u64, u64, u64, u64, u64, u64, u64, u64);

void call(Kernel kernel, const u64 *a) {
    kernel(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11]);
}

struct Block {
    std::vector<char> stacks = std::vector<char>(STACK * THREADS);
    ucontext_t threads[THREADS], scheduler;
    bool is_done[THREADS];
    Kernel kernel;
    const u64 *arguments;
};
thread_local Block *running = nullptr;

void run_thread() {
    call(running->kernel, running->arguments);
    running->is_done[threadIdx.x] = true;
}

void run_block(Block &block) {
    for (unsigned thread = 0; thread < THREADS; ++thread) {
        ucontext_t &context = block.threads[thread];
        getcontext(&context);
        context.uc_stack.ss_sp = block.stacks.data() + thread * STACK;
        context.uc_stack.ss_size = STACK;
        context.uc_link = &block.scheduler;
        makecontext(&context, run_thread, 0);
        block.is_done[thread] = false;
    }
    for (bool is_done = false; !is_done;) {
        is_done = true;
        for (unsigned thread = 0; thread < THREADS; ++thread) {
            if (!block.is_done[thread]) {
                threadIdx.x = thread;
                swapcontext(&block.scheduler, &block.threads[thread]);
                is_done &= block.is_done[thread];
            }
        }
    }
}

} // namespace

extern "C" void next_thread() { swapcontext(&running->threads[threadIdx.x], &running->scheduler); }

/// Runs a kernel. `switches`: whether its threads wait for each other.
extern "C" void launch(void *kernel, unsigned blocks, bool switches, const u64 *arguments) {
    gridDim.x = blocks;
    static thread_local Block block;
    block.kernel = reinterpret_cast<Kernel>(kernel);
    block.arguments = arguments;
    running = &block;
    for (unsigned index = 0; index < blocks; ++index) {
        blockIdx.x = index;
        if (switches) {
            run_block(block);
            continue;
        }
        for (unsigned thread = 0; thread < THREADS; ++thread) {
            threadIdx.x = thread;
            call(block.kernel, arguments);
        }
    }
}

/// Converts each value alone, and sets `refused` to 1 where it is refused.
extern "C" void each(void *kernel, const char *in, size_t in_size, char *out, size_t out_size, size_t count, int policy,
                     unsigned char *refused) {
    gridDim.x = 1;
    blockIdx.x = threadIdx.x = 0;
    for (size_t i = 0; i < count; ++i) {
        u64 first = ULLONG_MAX;
        const u64 arguments[12] = {u64(in + i * in_size), u64(out + i * out_size), 1, u64(policy), u64(&first)};
        call(reinterpret_cast<Kernel>(kernel), arguments);
        refused[i] = first == 0;
    }
}
