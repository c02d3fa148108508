/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The CPUs that the cgroup of guests may use. */
#include "base/mem.h"
#include "machine/slice.h"
#include "machine/sysfs.h"

bool slice_cpus(struct cpuset *ret_cpus, const char *root)
{
	static const char *const files[] = {
		"sys/fs/cgroup/machine.slice/cpuset.cpus.effective",
		"sys/fs/cgroup/machine/cpuset.cpus.effective", /* without systemd */
		"sys/fs/cgroup/cpuset/machine.slice/cpuset.cpus",
		"sys/fs/cgroup/cpuset/machine/cpuset.cpus",
	};

	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		if (sysfs_cpus(ret_cpus, "%s/%s", root, files[i]) &&
		    !cpuset_empty(ret_cpus))
			return true;
	return false;
}
