#pragma once
// The cgroups that commands run in: one leaf without controllers for each stream slot, made at its first use
// and kept, below `workload` (port 0) or `grader` (port 1).
#include <stdbool.h>
#include <stdint.h>

/// Makes the folders and enables controllers on `workload`. Without cgroup2 all else degrades to process
/// groups.
void cgroup_setup(void);
bool cgroup_controllers(void);
/// Nothing has run on the grader's port of this machine: called when a fork becomes a machine of its own.
void cgroup_new_machine(void);
/// Descriptor of the leaf's folder, owned here; -1 without cgroups.
int cgroup_leaf(int port, int slot);
/// Makes the cgroup of the image's hooks, which a frozen workload does not stop; its folder, -1 without
/// cgroups.
int cgroup_hooks(void);
/// Kills everything in the leaf at once.
void cgroup_kill(int leaf);
/// Moves what is left in the leaf into `background`, so that the leaf can be used again.
void cgroup_leave_behind(int port, int leaf);
/// Processes that the out-of-memory killer has ended in the workload so far.
int64_t cgroup_oom_kills(void);
/// Looks at the kernel's threads that are new, so that a gathering need not.
void cgroup_learn(void);
/// Moves the processes that left the workload back into it; true if there were any.
bool cgroup_gather(void);
/// Asks for the workload's freeze or thaw; 0 or an errno.
int cgroup_freeze(bool frozen);
/// 1 if all of the workload is frozen, 0 if not, negative errno.
int cgroup_is_frozen(void);
/// A descriptor that reports EPOLLPRI when the frozen state may have changed; -1 without cgroups.
int cgroup_events_fd(void);
