#!/bin/sh
# usage: symbols_test.sh NAMESPACE OBJECT..
# Objects compiled for one instruction set may define shared (weak) symbols only in that set's
# namespace: the linker keeps one copy of such a symbol, and every machine would run it.
namespace=$1
shift
shared=$(nm -C --defined-only "$@" | grep -E '^[0-9a-f]+ [VWu] ' | grep -v "tilesight::exec::$namespace::")
if [ -n "$shared" ]; then
  echo "defined outside tilesight::exec::$namespace:"
  echo "$shared"
  exit 1
fi
count=$(nm -C --defined-only "$@" | grep -c "tilesight::exec::$namespace::")
[ "$count" -gt 100 ] || { echo "only $count symbols found: not the kernel objects?"; exit 1; }
echo "$count symbols, all of them in tilesight::exec::$namespace"
