#include "tools/tools.h"

int main(int argc, char** argv) { return tilesight::tools::main(argc, argv); }
