/* The public headers in a C program: a text that is good, and one that is not. */
#include <stdio.h>
#include <string.h>

#include "tilesight/client.h"
#include "tilesight/tilesight.h"

static int failures = 0;

static void expect(int good, const char* what) {
  if (good) return;
  ++failures;
  printf("failed: %s\n", what);
}

int main(void) {
  const char* good = "module {\n}\n";
  const char* bad = "module {\n  tt.func\n}\n";
  tilesight_text* text = NULL;
  expect(strcmp(tilesight_version(), "") != 0, "the version is not empty");
  expect(tilesight_print(good, strlen(good), "good.ttir", TILESIGHT_NO_LOCATIONS, &text) == 0, "a module is printed");
  expect(text && strcmp(tilesight_text_bytes(text), good) == 0, "as it was");
  expect(text && tilesight_text_size(text) == strlen(good), "with its size");
  tilesight_text_free(text);
  expect(tilesight_print(bad, strlen(bad), "bad.ttir", 0, &text) == 2, "what does not parse is wrong input");
  expect(text && strncmp(tilesight_text_bytes(text), "bad.ttir:", 9) == 0, "and the error names its place");
  expect(text && strchr(tilesight_text_bytes(text), '\n') == NULL, "in one line");
  tilesight_text_free(text);
  tilesight_text_free(NULL);
  return failures != 0;
}
