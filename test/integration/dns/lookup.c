// Looks a host up with the C library it is linked with, and prints each address once.
#include <arpa/inet.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

int main(int argc, char **argv) {
  struct addrinfo hints, *list;
  char text[INET6_ADDRSTRLEN];
  if (argc != 2) return 2;
  memset(&hints, 0, sizeof hints);
  hints.ai_socktype = SOCK_STREAM;
  if (getaddrinfo(argv[1], NULL, &hints, &list) != 0) return 0;
  for (struct addrinfo *at = list; at; at = at->ai_next) {
    const void *address = at->ai_family == AF_INET ? (void *)&((struct sockaddr_in *)at->ai_addr)->sin_addr
                                                   : (void *)&((struct sockaddr_in6 *)at->ai_addr)->sin6_addr;
    puts(inet_ntop(at->ai_family, address, text, sizeof text));
  }
  return 0;
}
