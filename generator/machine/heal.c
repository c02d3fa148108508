/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Claims brought up to what the machine shows. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "machine/file.h"
#include "machine/heal.h"
#include "machine/process.h"
#include "machine/status.h"
#include "placement/expiry.h"

struct scene {
	const char *status_path;
	int proc, status; /* directories; status -1: libvirt has none */
	struct status_files files;
	struct process
		asked;	     /* for last, and what proc said: those that start have one */
	bool lives;	     /* owner, the daemon */
	bool *known;	     /* files[i] is as a claim remembers it */
	struct claims *live; /* read from those that are not */
};

static void scene_done(struct scene *scene)
{
	if (scene->proc >= 0)
		close(scene->proc);
	if (scene->status >= 0)
		close(scene->status);
	status_files_done(&scene->files);
	free(scene->known);
	claims_free(scene->live);
}

static bool open_proc(struct scene *scene, const char *path, struct diag *diag)
{
	scene->proc = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (scene->proc >= 0 && faccessat(scene->proc, "self/stat", R_OK, 0) == 0)
		return true;
	diag_error(diag, (struct place){ .file = path }, NULL,
		   "cannot be read, so nobody knows which guests live: %s",
		   strerror(errno));
	return false;
}

static void open_status(struct scene *scene, struct diag *diag)
{
	struct place place = { .file = scene->status_path };

	scene->status = open(scene->status_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (scene->status >= 0)
		scene->files = status_list(scene->status);
	else if (errno != ENOENT)
		diag_warning(diag, place, NULL,
			     "cannot be read, so guests without a claim go unseen: %s",
			     strerror(errno));
	scene->known = xcalloc(scene->files.count, sizeof(*scene->known));
}

/* The file that CLAIM was read from, if it still stands as it was; else NULL. */
static struct status_file *same_file(const struct scene *scene, const struct claim *claim)
{
	return claim->state == CLAIM_RUNNING && claim->status.inode
		       ? status_find(&scene->files, &claim->status)
		       : NULL;
}

/* A QEMU whose status file stands as it was read lives if anybody has its number: libvirt
 * removes the file with the guest, and to read the starts of 200 processes takes longer
 * than all the rest. The error, while libvirt's daemon is away, keeps a claim until it is
 * back. */
static bool owner_lives(struct scene *scene, const struct claim *claim)
{
	const struct process *owner = &claim->owner;

	if (claims_find(scene->live, claim->uuid))
		return true;
	if (same_file(scene, claim))
		return process_number_taken(owner->pid);
	if (owner->pid != scene->asked.pid || owner->start != scene->asked.start) {
		scene->asked = *owner;
		scene->lives = process_lives(scene->proc, owner);
	}
	return scene->lives;
}

/* QEMU by its number alone where it is the one that the guest had: its start is what
 * takes time to read. */
static bool find_qemu(const struct scene *scene, const struct claim *was,
		      struct process *qemu)
{
	if (!was || was->state != CLAIM_RUNNING || was->owner.pid != qemu->pid)
		return process_find(scene->proc, qemu->pid, qemu);
	*qemu = was->owner;
	return process_number_taken(qemu->pid);
}

/* The guest of FILE goes to the live ones, if its QEMU is there. */
static bool see(struct scene *scene, const struct claims *claims,
		const struct status_file *file, struct diag *diag)
{
	struct claim claim;
	size_t length;
	cleanup_free char *text = file_read_at(scene->status, file->name, file->name,
					       STATUS_BYTES, &length, diag);

	if (!text || !status_parse(file->name, text, length, &claim, diag))
		return false;
	claim.status = file->stamp;
	if (find_qemu(scene, claims_find(claims, claim.uuid), &claim.owner))
		claims_put(scene->live, &claim);
	claim_done(&claim);
	return true;
}

/* Reads the files that no claim remembers as they are. */
static void see_files(struct scene *scene, const struct claims *claims, struct diag *diag)
{
	for (size_t i = 0; i < claims->count; i++) {
		const struct status_file *file = same_file(scene, &claims->items[i]);

		if (file)
			scene->known[file - scene->files.items] = true;
	}
	for (size_t i = 0; i < scene->files.count; i++) {
		cleanup_diag struct diag why = DIAG_INIT;
		const struct status_file *file = &scene->files.items[i];

		/* One that is gone by now was that of a guest that has ended. */
		if (scene->known[i] || see(scene, claims, file, &why) ||
		    faccessat(scene->status, file->name, F_OK, 0) != 0)
			continue;
		cleanup_free char *path = xasprintf("%s/%s", scene->status_path,
						    file->name);
		diag_warning(diag, (struct place){ .file = path }, NULL,
			     "what this guest has goes unseen: %s", why.findings[0].text);
	}
}

bool heal(struct claims *claims, const struct ledger_places *places, struct diag *diag)
{
	cleanup(scene_done) struct scene scene = {
		.status_path = places->status,
		.proc = -1,
		.status = -1,
		.live = xcalloc(1, sizeof(*scene.live)),
	};

	if (!open_proc(&scene, places->proc, diag))
		return false;
	open_status(&scene, diag);
	see_files(&scene, claims, diag);
	cleanup_free bool *lives = xcalloc(claims->count, sizeof(*lives));
	for (size_t i = 0; i < claims->count; i++)
		lives[i] = owner_lives(&scene, &claims->items[i]);
	expiry_apply(claims, lives, scene.live, process_boot_seconds());
	return true;
}
