/*
 * delay INTERFACE MILLISECONDS: takes packets out of a tun interface and puts each back that much later, in order.
 * It stands in for the kernel's netem, which not every kernel has.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

enum { SLOTS = 8192, LARGEST = 2048 };

struct packet {
  long long due; /* nanoseconds */
  ssize_t size;
  char bytes[LARGEST];
};

static struct packet queue[SLOTS];

static long long now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static int attach(const char *name) {
  struct ifreq request;
  int tun = open("/dev/net/tun", O_RDWR | O_NONBLOCK);
  memset(&request, 0, sizeof request);
  request.ifr_flags = IFF_TUN | IFF_NO_PI;
  strncpy(request.ifr_name, name, IFNAMSIZ - 1);
  if (tun < 0 || ioctl(tun, TUNSETIFF, &request) < 0) {
    perror(name);
    exit(1);
  }
  return tun;
}

int main(int argc, char **argv) {
  if (argc != 3) return 2;
  const long long wait = atoll(argv[2]) * 1000000LL;
  struct pollfd tun = {.fd = attach(argv[1]), .events = POLLIN};
  unsigned first = 0, next = 0; /* packets waiting: first .. next - 1 */
  for (;;) {
    struct timespec until = {0, 0};
    if (next != first) {
      long long left = queue[first % SLOTS].due - now();
      if (left > 0) until = (struct timespec){left / 1000000000LL, left % 1000000000LL};
    }
    if (ppoll(&tun, 1, next == first ? NULL : &until, NULL) < 0 && errno != EINTR) return 1;
    while (next - first < SLOTS) { /* when full, the interface's own queue drops */
      struct packet *p = &queue[next % SLOTS];
      p->size = read(tun.fd, p->bytes, LARGEST);
      if (p->size <= 0) break;
      p->due = now() + wait;
      next++;
    }
    for (; next != first && queue[first % SLOTS].due <= now(); first++)
      if (write(tun.fd, queue[first % SLOTS].bytes, queue[first % SLOTS].size) < 0 && errno == EBADF) return 1;
  }
}
