#if defined(_WIN32)
#include <fcntl.h>
#include <io.h>
#include <stdio.h>
#endif

#include "tilesight/tilesight.h"

int main(int argc, char** argv) {
#if defined(_WIN32)
  // The same bytes as elsewhere: no carriage returns before new lines.
  _setmode(_fileno(stdout), _O_BINARY);
  _setmode(_fileno(stderr), _O_BINARY);
#endif
  return tilesight_main(argc, argv);
}
