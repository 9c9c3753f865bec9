// The routes: a function from a request to an answer.
//
//   /                                    the page (index.html, /app.js, /app.css)
//   /api/launches                        JSON: all launches and their states
//   /api/launch/N                        JSON: one launch, or {"state": "running"}: ask again
//   /api/launch/N/grid                   packed: accesses, faults, read, written, masked by program
//   /api/launch/N/program/P/records      packed: what program P (its number, x fastest) did, the first 5,000
//   /api/launch/N/tensor/A?layer=..      packed: a picture of argument A (slice.h)
#pragma once

#include "server/http.h"
#include "server/workspace.h"

namespace tilesight::server {

Answer answer(Workspace& workspace, const Request& request);

}  // namespace tilesight::server
