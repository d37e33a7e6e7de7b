#pragma once
// Processes that left the workload's cgroup: the machine's root can move them where a freeze of it does not
// reach.
#include <stdbool.h>

/// Moves every process of user space outside the cgroup `workload`, but for init and the agent, into the
/// cgroup of the descriptor `into`; true if there were any. `root` is a descriptor of the root cgroup;
/// `grader` says whether what is in the grader's is to come too.
bool strays_gather(int root, int into, bool grader);

/// Looks at the processes of the root cgroup that are not remembered as threads of the kernel.
void strays_learn(int root);
