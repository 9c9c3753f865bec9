// Text goldens: `NAME.golden` next to the tests holds what a renderer must print. Run a test program
// with --rebase to write them anew, then look at the difference in git.
#pragma once

#include <string>

namespace tilesight::test {

extern bool rebase;

/// Fails the test if `actual` is not the text of goldens/NAME; with --rebase writes it instead.
void expectGolden(const std::string& name, const std::string& actual);

}  // namespace tilesight::test
