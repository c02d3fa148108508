/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* guest/guest: what a domain XML says is read as libvirt reads it. */
#include <libxml/parser.h>
#include <libxml/tree.h>
#include <libxml/xpath.h>

#include "base/size.h"
#include "base/text.h"
#include "corpus.h"
#include "guest/guest.h"
#include "tap.h"

/* The guest and the document it borrows from. */
struct both {
	struct doc *doc;
	struct guest *guest;
	struct diag diag;
};

static struct both both_from(const char *name, const char *xml)
{
	struct both both = { .diag = DIAG_INIT };

	both.doc = doc_parse(name, xml, strlen(xml), &both.diag);
	both.guest = both.doc ? guest_read(both.doc, &both.diag) : NULL;
	return both;
}

static void both_done(struct both *both)
{
	guest_free(both->guest);
	doc_free(both->doc);
	diag_done(&both->diag);
}

/* Of what stands between <domain> and </domain>. */
static struct both both_inside(const char *inside)
{
	cleanup_free char *xml = xasprintf("<domain type='kvm'>%s</domain>", inside);
	struct both both = both_from("x.xml", xml);

	diag_print(&both.diag, stdout, false);
	return both;
}

/* ---- the corpus, against XPath ---- */

static const xmlChar *chars(const char *string)
{
	return (const xmlChar *)string;
}

struct tally {
	size_t files, values, wrong;
};

static void agree(struct tally *tally, const struct corpus_file *file,
		  xmlXPathContext *context, const char *path, double got)
{
	xmlXPathObject *found = xmlXPathEvalExpression(chars(path), context);
	double want = found ? xmlXPathCastToNumber(found) : -1.0;

	xmlXPathFreeObject(found);
	tally->values++;
	if (want > got - 0.5 && want < got + 0.5)
		return;
	tally->wrong++;
	note("%s: %s is %.0f, read as %.0f", file->name, path, want, got);
}

static void agree_text(struct tally *tally, const struct corpus_file *file,
		       xmlXPathContext *context, const char *path, const char *got)
{
	xmlXPathObject *found = xmlXPathEvalExpression(chars(path), context);
	xmlChar *want = found ? xmlXPathCastToString(found) : NULL;

	tally->values++;
	if (!want || strcmp((const char *)want, got ? got : "") != 0) {
		tally->wrong++;
		note("%s: %s is %s, read as %s", file->name, path, (const char *)want,
		     got ? got : "(null)");
	}
	xmlFree(want);
	xmlXPathFreeObject(found);
}

static size_t pinned(const struct guest *guest)
{
	size_t count = guest->emulatorpin.element != NULL;

	for (unsigned i = 0; i < guest->vcpus; i++)
		count += guest->vcpupin[i].element != NULL;
	for (size_t i = 0; i < guest->n_iothreads; i++)
		count += guest->iothreads[i].pin.element != NULL;
	return count;
}

/* Of the first of each; whichever is missing is "". */
static void agree_devices(struct tally *tally, const struct corpus_file *file,
			  xmlXPathContext *context, const struct guest *guest)
{
	agree(tally, file, context, "count(/domain/devices/disk)",
	      (double)guest->n_disks);
	agree(tally, file, context, "count(/domain/devices/interface)",
	      (double)guest->n_interfaces);
	if (guest->n_disks) {
		const struct guest_disk *disk = &guest->disks[guest->n_disks - 1];

		agree_text(tally, file, context,
			   "string(/domain/devices/disk[last()]/target/@dev)",
			   disk->target);
		agree_text(tally, file, context,
			   "concat(/domain/devices/disk[last()]/@device, "
			   "substring('disk', 1, "
			   "4 * not(/domain/devices/disk[last()]/@device)))",
			   disk->device);
	}
	if (guest->n_interfaces) {
		const struct guest_interface *last =
			&guest->interfaces[guest->n_interfaces - 1];

		agree_text(tally, file, context,
			   "string(/domain/devices/interface[last()]/mac/@address)",
			   last->mac);
		agree_text(tally, file, context,
			   "string(/domain/devices/interface[last()]/@type)", last->type);
	}
}

static void agree_guest(struct tally *tally, const struct corpus_file *file,
			xmlXPathContext *context, const struct guest *guest)
{
	agree(tally, file, context, "sum(/domain/vcpu) + not(/domain/vcpu)",
	      guest->vcpus);
	agree(tally, file, context,
	      "(sum(/domain/vcpu/@current) + sum(/domain/vcpu[not(@current)]) + "
	      "not(/domain/vcpu)) * not(/domain/vcpus) + "
	      "count(/domain/vcpus/vcpu[@enabled = 'yes'])",
	      guest->online);
	agree(tally, file, context, "count(/domain/cpu/numa/cell)",
	      (double)guest->n_cells);
	agree(tally, file, context, "boolean(/domain/cpu/topology) * 1",
	      guest->sockets && guest->cores && guest->threads);
	agree(tally, file, context,
	      "count(/domain/cputune/vcpupin | /domain/cputune/emulatorpin |"
	      " /domain/cputune/iothreadpin)",
	      (double)pinned(guest));
	agree_text(tally, file, context, "string(/domain/name)", guest->name);
	agree_text(tally, file, context, "string(/domain/uuid)", guest->uuid);
	agree_text(tally, file, context, "string(/domain/@type)", guest->type);
	agree_text(tally, file, context, "string(/domain/os/type/@machine)",
		   guest->machine);
	agree_devices(tally, file, context, guest);
}

static void read_corpus(const struct corpus_file *file, void *data)
{
	struct tally *tally = data;
	struct both both = both_from(file->name, file->text);
	xmlDoc *tree = xmlReadMemory(file->text, (int)file->length, NULL, NULL,
				     XML_PARSE_NONET);
	xmlXPathContext *context = xmlXPathNewContext(tree);

	tally->files++;
	diag_print(&both.diag, stdout, false);
	if (both.guest)
		agree_guest(tally, file, context, both.guest);
	tally->wrong += !both.guest || both.diag.count || !both.guest->memory;
	xmlXPathFreeContext(context);
	xmlFreeDoc(tree);
	both_done(&both);
}

static void test_corpus(void)
{
	struct tally tally = { 0, 0, 0 };

	if (!corpus_each(read_corpus, &tally)) {
		tap_skip("no corpus");
		return;
	}
	ok(tally.wrong == 0, "all of the corpus is read, as XPath reads it");
	note("%zu files, %zu values, %zu wrong", tally.files, tally.values, tally.wrong);
}

/* ---- numbers ---- */

/* As libvirt 9.0 did with each (virsh define, dumpxml). */
static void test_memory(void)
{
	static const struct {
		const char *inside;
		uint64_t bytes;
	} cases[] = {
		{ "<memory>1024</memory>", MIB },
		{ "<memory unit=''> 1024</memory>", MIB },
		{ "<memory unit='b'>1048577</memory>", 1025 * KIB },
		{ "<memory unit='byte'>1048577</memory>", 1025 * KIB },
		{ "<memory unit='KB'>1000</memory>", 977 * KIB },
		{ "<memory unit='gib'>+2</memory>", 2 * GIB },
		{ "<memory unit='T'>1</memory>", 1024 * GIB },
		{ "<cpu><numa><cell cpus='0' memory='1' unit='MB'/>"
		  "<cell cpus='1' memory='512000'/></numa></cpu>",
		  512977 * KIB },
		{ "<memory>4096</memory><cpu><numa><cell id='0' memory='8' unit='MiB'/>"
		  "</numa></cpu>",
		  8 * MIB },
		{ "<memory unit='MiB'>3</memory><devices><memory model='dimm'><target>"
		  "<size unit='MiB'>2</size></target></memory></devices>",
		  MIB },
		{ "<name>x</name>", 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct both both = both_inside(cases[i].inside);

		ok(both.guest && both.guest->memory == cases[i].bytes, "memory of %s",
		   cases[i].inside);
		both_done(&both);
	}
}

static void test_lists(void)
{
	static const struct {
		const char *list, *want;
	} cases[] = {
		{ "1-3,7", "1-3,7" },	{ " 1 - 3 ,\n7 ", "1-3,7" },
		{ "0-3,^2,", "0-1,3" }, { "1 2", NULL },
		{ "", NULL },		{ "3-1", NULL },
		{ "0-16384", NULL },	{ "1-3x", NULL },
		{ ",", NULL },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		cleanup_free char *xml = xasprintf(
			"<domain><cputune><emulatorpin cpuset='%s'/></cputune></domain>",
			cases[i].list);
		struct both both = both_from("x.xml", xml);
		cleanup_free char *got = both.guest
						 ? cpuset_format(
							   &both.guest->emulatorpin.cpus)
						 : NULL;

		is(got, cases[i].want, "CPU list case %zu", i);
		both_done(&both);
	}
}

/* Refused, with one error at LINE and COLUMN that holds WANT. */
static void test_refused(void)
{
	static const struct {
		const char *xml;
		unsigned line, column;
		const char *want;
	} cases[] = {
		{ "<domain>\n <vcpu>0</vcpu></domain>", 2, 2, "1 to 8192" },
		{ "<domain><vcpu>2</vcpu><cputune><vcpupin vcpu='0' "
		  "cpuset='0'/></cputune>\n"
		  "<cputune><vcpupin vcpu='1' cpuset='1'/></cputune></domain>",
		  2, 1, "a second <cputune>" },
		{ "<domain><memoryBacking/><memoryBacking/></domain>", 1, 25,
		  "a second <memoryBacking>" },
		{ "<domain><vcpu a='1'>8193</vcpu></domain>", 1, 9, "1 to 8192" },
		{ "<domain><vcpu>4294967297</vcpu></domain>", 1, 9, "1 to 8192" },
		{ "<domain><vcpu>-1</vcpu></domain>", 1, 9, "<vcpu> is \"-1\"" },
		{ "<domain><vcpu/></domain>", 1, 9, "<vcpu> is \"\"" },
		{ "<domain><vcpu>1 2</vcpu></domain>", 1, 9, "\"1 2\"" },
		{ "<domain><vcpu\ncurrent='5'>4</vcpu></domain>", 2, 10, "1 to 4" },
		{ "<domain><memory>lots</memory></domain>", 1, 9, "whole number" },
		{ "<domain><memory unit='pages'>1</memory></domain>", 1, 9, "pages" },
		{ "<domain><memory unit='EiB'>99</memory></domain>", 1, 9, "EiB" },
		{ "<domain><memory>18446744073709551615</memory></domain>", 1, 9, "KiB" },
		{ "<domain><memory unit='b'>18446744073709551615</memory></domain>", 1, 9,
		  "no size in memory" },
		{ "<domain><cpu><topology sockets='0'/></cpu></domain>", 1, 33,
		  "sockets" },
		{ "<domain><cpu><numa><cell cpus='0'/></numa></cpu></domain>", 1, 20,
		  "memory of <cell> is missing" },
		{ "<domain><cpu><numa><cell id='1' memory='1'/></numa></cpu></domain>", 1,
		  30, "0 to 0" },
		{ "<domain><cpu><numa><cell id='0' memory='1'/><cell id='0' memory='1'/>"
		  "</numa></cpu></domain>",
		  1, 55, "another cell" },
		{ "<domain><cpu><numa><cell memory='9007199254740991'/>"
		  "<cell memory='9007199254740991'/><cell memory='9007199254740991'/>"
		  "</numa></cpu></domain>",
		  1, 86, "64 bits" },
		{ "<domain><memory>1</memory><devices><memory><target><size>2</size>"
		  "</target></memory></devices></domain>",
		  1, 1, "memory devices" },
		{ "<domain><cputune><vcpupin cpuset='1'/></cputune></domain>", 1, 18,
		  "vcpu of <vcpupin> is missing" },
		{ "<domain><cputune><vcpupin vcpu='0'/></cputune></domain>", 1, 18,
		  "cpuset of <vcpupin> is missing" },
		{ "<domain><iothreads>100000</iothreads></domain>", 1, 9, "0 to 8192" },
		{ "<domain><iothreadids><iothread id='0'/></iothreadids></domain>", 1, 36,
		  "id of <iothread>" },
		{ "<domain><uuid>1234</uuid></domain>", 1, 9, "32 hexadecimal" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct both both = both_from("x.xml", cases[i].xml);
		const struct finding *finding = both.diag.findings;
		bool good = !both.guest && both.diag.count == 1 &&
			    finding->line == cases[i].line &&
			    finding->column == cases[i].column &&
			    strstr(finding->text, cases[i].want);

		if (!ok(good, "refused: %s", cases[i].want))
			diag_print(&both.diag, stdout, false);
		both_done(&both);
	}
}

/* ---- what the corpus has little of ---- */

static const char threads[] =

	"<vcpu current='2'>4</vcpu><vcpus><vcpu id='0' enabled='yes'/>"
	"<vcpu id='1' enabled='yes'/><vcpu id='2' enabled='yes'/>"
	"<vcpu id='3' enabled='no'/></vcpus>"
	"<iothreads>4</iothreads><iothreadids><iothread id='7'/>"
	"<iothread id='2'/></iothreadids>"
	"<cputune><vcpupin vcpu='3' cpuset='5'/><vcpupin vcpu='9' cpuset='6'/>"
	"<iothreadpin iothread='7' cpuset='1-2'/>"
	"<iothreadpin iothread='5' cpuset='1'/></cputune>"
	"<cpu><topology sockets='1' cores='2' threads='2'/></cpu>";

static void test_threads(void)
{
	struct both both = both_inside(threads);
	struct guest *guest = both.guest;

	if (!guest)
		abort();
	ok(guest->vcpus == 4 && guest->online == 3, "vCPUs that can be plugged");
	ok(guest->vcpupin[3].element && cpuset_has(&guest->vcpupin[3].cpus, 5) &&
		   !guest->vcpupin[2].element,
	   "a vCPU's pin; one of a vCPU that does not exist is nobody's");
	ok(guest->n_iothreads == 4 && guest->iothreads[0].id == 1 &&
		   guest->iothreads[1].id == 2 && guest->iothreads[2].id == 3 &&
		   guest->iothreads[3].id == 7,
	   "I/O threads without numbers get the lowest");
	ok(guest->iothreads[3].pin.element && !guest->iothreads[0].pin.element,
	   "an I/O thread's pin");
	ok(guest->dies == 1 && guest->clusters == 1 && guest->threads == 2,
	   "a topology's missing levels are 1");
	both_done(&both);
}

/* A multiplier of L'Ecuyer; the same numbers everywhere. */
static size_t random_below(uint64_t *seed, size_t limit)
{
	*seed = *seed * UINT64_C(6364136223846793005) + 1;
	return (size_t)(*seed >> 33) % limit;
}

static void test_garbled(void)
{
	static const char letters[] = "0123456789,-^ xX'<";
	size_t wrong = 0, taken = 0;
	uint64_t seed = 4;
	enum { RUNS = 10000 };

	for (unsigned run = 0; run < RUNS; run++) {
		cleanup_free char *xml = xasprintf("<domain>%s</domain>", threads);
		size_t at = strlen("<domain>") + random_below(&seed, strlen(threads));

		xml[at] = letters[random_below(&seed, strlen(letters))];
		struct both both = both_from("garbled.xml", xml);
		taken += both.guest != NULL;
		wrong += (both.guest != NULL) == (both.diag.errors != 0);
		both_done(&both);
	}
	ok(wrong == 0, "garbled: read, or refused with a reason");
	note("%d documents, %zu read", RUNS, taken);
}

static void test_names(void)
{
	struct both both = both_inside(
		"<name>n</name><uuid> C7A5FDBD-edaf-9455-926ad65c16db1809 </uuid>"
		"<metadata><policy name='no'/><v:policy xmlns:v='urn:vmgen:domain:1' "
		"name='storage-iops'/></metadata>"
		"<os><type arch='x86_64' machine='q35'>hvm</type></os>"
		"<cpu><numa><cell id='1' cpus='1' memory='1' memAccess='shared'/>"
		"<cell id='0' cpus='0,2-3' memory='2'/></numa></cpu>");
	struct guest *guest = both.guest;

	if (!guest)
		abort();
	is(guest->uuid, "c7a5fdbd-edaf-9455-926a-d65c16db1809",
	   "UUID as libvirt writes it");
	is(guest->policy, "storage-iops", "the policy that the metadata name");
	is(guest->machine, "q35", "machine");
	ok(guest->cells[1].memory == KIB && guest->cells[0].memory == 2 * KIB &&
		   cpuset_count(&guest->cells[0].vcpus) == 3,
	   "cells by number");
	is(guest->cells[1].access, "shared", "memAccess");
	both_done(&both);
}

static void test_devices(void)
{
	struct both both = both_inside(
		"<devices><disk><source file='/a'/><target dev='vda' bus='virtio'/>"
		"<alias name='ua-vmgen-data0'/></disk>"
		"<disk type='block' device='lun'><source dev='/dev/b'/></disk>"
		"<disk type='vhostuser'><source type='unix' path='/c'/></disk>"
		"<disk type='network'><source protocol='rbd' name='p/i'/></disk>"
		"<interface type='vhostuser'><mac address='52:54:00:00:00:01'/>"
		"<source type='unix' path='/s' mode='client'/><model type='virtio'/>"
		"</interface><interface type='bridge'><source bridge='br0'/></interface>"
		"</devices>");
	const struct guest *guest = both.guest;
	cleanup_free char *alias = guest_alias("data0");

	if (!guest)
		abort();
	is(guest->disks[0].alias, alias, "alias of vmgen's own");
	is(guest->disks[0].type, "file", "a disk is a file unless it says so");
	is(guest->disks[1].source, "/dev/b", "source of a block device");
	is(guest->disks[1].device, "lun", "device");
	is(guest->disks[2].source, "/c", "source of vhost-user");
	is(guest->disks[3].source, NULL, "a network disk has none");
	is(guest->interfaces[0].path, "/s", "socket");
	is(guest->interfaces[0].mode, "client", "mode");
	is(guest->interfaces[1].source, "br0", "bridge");
	both_done(&both);
}

int main(void)
{
	test_corpus();
	test_memory();
	test_lists();
	test_refused();
	test_threads();
	test_garbled();
	test_names();
	test_devices();
	xmlCleanupParser();
	return tap_done();
}
