#include "agent/users.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CACHE 8
#define DATABASE_MAX 65536

struct stamp {
  ino_t inode;
  off_t size;
  struct timespec modified, changed;
};

static struct user cache[CACHE];
static int cached, next_victim;
static struct stamp stamps[2];
static const struct user root = {.name = "root", .home = "/root", .shell = "/bin/sh"};
static bool entered;

static struct stamp stamp_of(const char* path) {
  struct stat st;
  struct stamp stamp;
  memset(&stamp, 0, sizeof stamp);
  if (stat(path, &st) == 0) {
    stamp.inode = st.st_ino;
    stamp.size = st.st_size;
    stamp.modified = st.st_mtim;
    stamp.changed = st.st_ctim;
  }
  return stamp;
}

/// The whole file in a static buffer, ending in NUL; null if it is not there or is no regular file.
static char* database(const char* path) {
  static char text[DATABASE_MAX + 1];
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (fd < 0) return NULL;
  struct stat st;
  ssize_t used = 0, got = 0;
  if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
    while (used < DATABASE_MAX && (got = read(fd, text + used, (size_t)(DATABASE_MAX - used))) > 0)
      used += got;
  close(fd);
  text[used] = 0;
  return used > 0 ? text : NULL;
}

/// Splits `line` at colons into at most `count` fields; true if there were that many.
static bool fields(char* line, char** field, int count) {
  for (int i = 0; i < count; i++) {
    field[i] = line;
    char* colon = strchr(line, ':');
    if (i + 1 == count) return true;
    if (colon == NULL) return false;
    *colon = 0;
    line = colon + 1;
  }
  return true;
}

static bool number(const char* text, uint32_t* value) {
  char* end;
  errno = 0;
  unsigned long long parsed = strtoull(text, &end, 10);
  *value = (uint32_t)parsed;
  return errno == 0 && end != text && *end == 0 && parsed < UINT32_MAX;
}

static bool copy(char* to, const char* from, size_t capacity) {
  size_t length = strlen(from);
  if (length >= capacity) return false;
  memcpy(to, from, length + 1);
  return true;
}

static bool read_passwd(struct user* user, const char* name) {
  char* text = database("/etc/passwd");
  char* save = NULL;
  for (char* line = text == NULL ? NULL : strtok_r(text, "\n", &save); line != NULL;
       line = strtok_r(NULL, "\n", &save)) {
    char* field[7];
    if (!fields(line, field, 7) || strcmp(field[0], name) != 0) continue;
    return number(field[2], &user->uid) && number(field[3], &user->gid) &&
           copy(user->name, name, sizeof user->name) && copy(user->home, field[5], sizeof user->home) &&
           copy(user->shell, field[6], sizeof user->shell);
  }
  return false;
}

static bool is_member(char* members, const char* name) {
  char* save = NULL;
  for (char* member = strtok_r(members, ",", &save); member != NULL; member = strtok_r(NULL, ",", &save))
    if (strcmp(member, name) == 0) return true;
  return false;
}

static void read_groups(struct user* user) {
  user->group_count = 1;
  user->groups[0] = user->gid;
  char* text = database("/etc/group");
  char* save = NULL;
  for (char* line = text == NULL ? NULL : strtok_r(text, "\n", &save); line != NULL;
       line = strtok_r(NULL, "\n", &save)) {
    char* field[4];
    uint32_t gid;
    if (!fields(line, field, 4) || !number(field[2], &gid) || gid == user->gid) continue;
    if (is_member(field[3], user->name) && user->group_count < GROUPS_MAX)
      user->groups[user->group_count++] = gid;
  }
}

const struct user* user_find(const char* name) {
  if (name[0] == 0 || strcmp(name, "root") == 0) return &root;
  struct stamp present[2] = {stamp_of("/etc/passwd"), stamp_of("/etc/group")};
  if (memcmp(present, stamps, sizeof present) != 0) {
    cached = next_victim = 0;
    memcpy(stamps, present, sizeof present);
  }
  for (int i = 0; i < cached; i++)
    if (strcmp(cache[i].name, name) == 0) return &cache[i];
  struct user* user = &cache[next_victim];
  user->name[0] = 0;
  if (!read_passwd(user, name)) {
    errno = ENOENT;
    return NULL;
  }
  read_groups(user);
  next_victim = (next_victim + 1) % CACHE;
  if (cached < CACHE) cached++;
  return user;
}

// Raw system calls: the C library's wrappers of the other identity calls broadcast to threads, and file
// rights are meant for this thread alone.
int rights_enter(const struct user* user) {
  if (user->uid == geteuid()) return 0;
  if (syscall(SYS_setgroups, user->group_count, user->groups) != 0) return errno;
  entered = true;
  syscall(SYS_setfsgid, user->gid);
  syscall(SYS_setfsuid, user->uid);
  // setfsuid reports no error; asking again for an impossible id returns the present one.
  if ((uint32_t)syscall(SYS_setfsuid, -1) != user->uid || (uint32_t)syscall(SYS_setfsgid, -1) != user->gid) {
    rights_leave();
    return EPERM;
  }
  return 0;
}

void rights_leave(void) {
  if (!entered) return;
  entered = false;
  syscall(SYS_setfsuid, geteuid());
  syscall(SYS_setfsgid, getegid());
  syscall(SYS_setgroups, 0, NULL);
}
