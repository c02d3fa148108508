/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* libvirt's status files. */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "machine/status.h"
#include "tap.h"

#define UUID "11111111-2222-3333-4444-555555555555"
#define TOP                                                         \
	"<!-- <domain><name>no</name> -->\n"                        \
	"<domstatus state='running' reason='a &gt; b' pid='146'>\n" \
	"  <monitor path='/a>b' type='unix'/>\n"                    \
	"  <vcpus>\n    <vcpu id='0' pid='150'/>\n  </vcpus>\n"     \
	"  <qemuCaps>\n    <flag name='<domain'/>\n  </qemuCaps>\n" \
	"  <devices>\n    <device alias='net1'/>\n  </devices>\n"   \
	"  <numad nodeset='1' cpuset='8-15'/>\n"
#define DOMAIN "<domain type='kvm' id='1'>\n<name>a b</name>\n<uuid>" UUID "</uuid>\n"
#define DEVICES                                                                        \
	"<devices><disk><privateData><domain><devices/></domain></privateData></disk>" \
	"</devices>\n"
#define END "</domain>\n</domstatus>\n"

static char *parse(const char *text, struct diag *diag)
{
	cleanup_claims struct claims *claims = xcalloc(1, sizeof(*claims));
	struct claim claim;

	if (!status_parse("a.xml", text, strlen(text), &claim, diag))
		return NULL;
	claims_put(claims, &claim);
	cleanup_free char *out = claims_format(claims);
	return xstrdup(strstr(out, "running"));
}

/* WANT of the claim of a guest with MIDDLE, between its state and its owner. */
static void gives(const char *middle, const char *want, const char *why)
{
	cleanup_diag struct diag diag = DIAG_INIT;
	cleanup_free char *text = xasprintf(TOP DOMAIN "%s" DEVICES END, middle);
	cleanup_free char *got = parse(text, &diag);
	cleanup_free char *line = xasprintf("running%s owner=146:0 name=a b\n", want);

	is(got, line, "%s", why);
}

static void refused(const char *text, const char *why)
{
	cleanup_diag struct diag diag = DIAG_INIT;
	cleanup_free char *got = parse(text, &diag);

	if (ok(!got && diag.errors, "%s is refused", why))
		note("%s", diag.findings[0].text);
}

static void cpus(void)
{
	gives("", "", "a guest that floats everywhere");
	gives("<vcpu>3</vcpu><cputune><vcpupin vcpu='0' cpuset='4'/>"
	      "<vcpupin vcpu='1' cpuset='6-7'/></cputune>",
	      " cpus=4 vcpus=4,6-7", "its own is what one vCPU alone is pinned to");
	gives("<vcpu cpuset='1-2'>3</vcpu><cputune><vcpupin vcpu='0' "
	      "cpuset='4'/></cputune>",
	      " cpus=4 vcpus=1-2,4", "the others float where <vcpu> says");
	gives("<vcpu cpuset='5'>1</vcpu>", " cpus=5 vcpus=5",
	      "a <vcpu> with a CPU is a pin");
	gives("<vcpu placement='auto'>2</vcpu>", " vcpus=8-15", "or where numad put it");
	gives("<vcpu>1</vcpu><cputune><vcpupin vcpu='0' cpuset='4'/>"
	      "<emulatorpin cpuset='9'/></cputune>",
	      " cpus=4 vcpus=4,9", "an emulator with a CPU is seen");
	gives("<vcpu>1</vcpu><cputune><vcpupin vcpu='0' cpuset='4'/>"
	      "<emulatorpin cpuset='0-9'/></cputune>",
	      " cpus=4 vcpus=4", "one with many is not in the way");
	gives("<vcpu current='1'>2</vcpu><cputune><vcpupin vcpu='0' cpuset='4'/>"
	      "<vcpupin vcpu='1' cpuset='5'/></cputune>",
	      " cpus=4-5 vcpus=4-5", "what can be plugged in has its CPU");
}

static void memory(void)
{
	gives("<memory unit='KiB'>4096</memory><numatune><memory mode='strict' "
	      "nodeset='1'/></numatune>",
	      " nodes=1 memory=1:4096", "memory on a node");
	gives("<memory unit='KiB'>4096</memory><numatune><memory mode='strict' "
	      "nodeset='0,2-3'/></numatune>",
	      " nodes=0,2-3 memory=0:1366,2:1366,3:1364", "on three, in parts");
	gives("<memory unit='KiB'>4096</memory><numatune><memory mode='strict' "
	      "placement='auto'/></numatune>",
	      " nodes=1 memory=1:4096", "on the node that numad found");
	gives("<memory unit='KiB'>4096</memory>", "", "on no node in particular");
	gives("<memory unit='KiB'>4096</memory><memoryBacking><hugepages><page "
	      "size='2048' unit='KiB'/></hugepages></memoryBacking>"
	      "<numatune><memory mode='strict' nodeset='1'/></numatune>",
	      " nodes=1 pages=1:2048:2", "in hugepages");
	gives("<memory "
	      "unit='KiB'>4096</memory><memoryBacking><hugepages/></memoryBacking>"
	      "<numatune><memory mode='strict' nodeset='1'/></numatune>",
	      " nodes=1", "in hugepages of a size that the XML does not tell");
	gives("<vcpu>2</vcpu><memory unit='KiB'>8192</memory>"
	      "<memoryBacking><hugepages><page size='4096' unit='KiB' nodeset='1'/>"
	      "<page size='2048' unit='KiB'/></hugepages></memoryBacking>"
	      "<numatune><memory mode='strict' nodeset='0-3'/>"
	      "<memnode cellid='1' mode='strict' nodeset='3'/></numatune>"
	      "<cpu><numa><cell id='0' cpus='0' memory='4096'/>"
	      "<cell id='1' cpus='1' memory='4096'/></numa></cpu>",
	      " nodes=0-3 pages=0:2048:1,1:2048:1,3:4096:1", "by cell");
}

static void others(void)
{
	refused("", "an empty file");
	refused("<domain/>", "a domain");
	refused("<domstatus/>", "a status without a domain");
	refused(TOP "<domain type='kvm'><name>a</name></domain></domstatus>",
		"a domain without UUID");
	refused(TOP DOMAIN DEVICES, "a file that is cut off");
	refused(TOP DOMAIN "<vcpu>x</vcpu>" END, "a number of vCPUs that is none");
	refused(TOP DOMAIN "<cpu></b>" END, "what is not well formed");
	refused("<!DOCTYPE x><domstatus><domain/></domstatus>", "a DOCTYPE");
	refused("</domstatus>", "an end before a start");
	refused("<domstatus a='", "an open quote");
	refused("<domstatus><!-- ", "an open comment");
	gives("<metadata><x:a xmlns:x='u'><![CDATA[</domain></domstatus>]]><!-- "
	      "</domain> "
	      "--><?p </domain>?></x:a></metadata><vcpu>1</vcpu>",
	      "", "what only looks like a tag");
}

/* No status file crashes, wherever it is cut and whatever byte is wrong. */
static void damaged(void)
{
	static const char text[] = TOP DOMAIN
		"<vcpu>1</vcpu><cputune><vcpupin vcpu='0' cpuset='4'/></cputune>" DEVICES
			END;
	unsigned taken = 0;

	for (size_t i = 0; i < sizeof(text) - 1; i++)
		for (size_t j = 0; j < 5; j++) {
			cleanup_diag struct diag diag = DIAG_INIT;
			char copy[sizeof(text)];

			memcpy(copy, text, sizeof(text));
			copy[i] = "<>'\0 "[j];
			cleanup_free char *got = parse(copy, &diag);
			taken += got != NULL;
		}
	ok(taken && taken < sizeof(text) * 5, "damaged files are read or refused");
}

static void listed(void)
{
	char directory[] = "/tmp/vmgen-status.XXXXXX";
	static const char *const names[] = { "a.xml", "b.xml.new", "c.pid", ".xml",
					     "d.xml" };

	if (!mkdtemp(directory))
		return;
	int at = open(directory, O_RDONLY | O_DIRECTORY);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		close(openat(at, names[i], O_WRONLY | O_CREAT, 0600));
	ok(symlinkat("a.xml", at, "e.xml") == 0 && mkdirat(at, "f.xml", 0700) == 0,
	   "a symbolic link and a directory");
	cleanup_status_files struct status_files files = status_list(at);
	struct stat status;
	fstatat(at, "d.xml", &status, 0);
	struct stamp stamp = { status.st_ino,
			       (uint64_t)status.st_mtim.tv_sec * 1000000000 +
				       (uint64_t)status.st_mtim.tv_nsec };
	const struct status_file *found = status_find(&files, &stamp);
	ok(files.count == 2 && found, "two of seven are status files");
	is(found ? found->name : NULL, "d.xml", "found by its stamp");
	stamp.mtime++;
	ok(!status_find(&files, &stamp), "not if it changed");
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		unlinkat(at, names[i], 0);
	unlinkat(at, "e.xml", 0);
	unlinkat(at, "f.xml", AT_REMOVEDIR);
	close(at);
	rmdir(directory);
}

int main(void)
{
	cpus();
	memory();
	others();
	damaged();
	listed();
	return tap_done();
}
