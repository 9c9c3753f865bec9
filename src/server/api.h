// The routes: a function from a request to an answer.
//
//   /                                    the page (index.html, /app.js, /app.css)
//   /api/launches                        JSON: all launches and their states
//   /api/launch/N                        JSON: one launch: its arguments, source, IR
//   /api/launch/N/survey                 JSON: its findings, and what each operation did, when it has run;
//     ?brush=0-3,2-5: of the programs of this part of the grid
//   /api/launch/N/grid                   packed: accesses, faults, read, written, masked by program
//   /api/launch/N/program/P/records      packed: what program P (its number, x fastest) did, the first 5,000
//   /api/launch/N/sites                  JSON: where values appear (replay.h)
//   /api/launch/N/program/P/steps?first=&limit=      packed: what program P executed, step by step
//   /api/launch/N/program/P/step/S                   packed: the values of a step, and of all variables after it
//   /api/launch/N/program/P/step/S/value?operand=&number=   packed: one of them, whole; value.npy: as a file
//   /api/launch/N/program/P/watch?names=a,b          packed: how variables change
//   /api/launch/N/program/P/everything               packed: the values of all steps, for a page of its own
//   /api/launch/N/program/P/find?condition=&from=&everywhere=   JSON: where a condition holds (condition.h)
//   /api/launch/N/tensor/A/data.npy?when=before      a tensor as a file
//   /api/launch/N/element?argument=&index=   JSON: one element's story: who wrote it, where (footprint.h)
//   /api/launch/N/inputs?argument=&index=    JSON: what its value came from, back to the inputs (inputs.h)
//   /api/launch/N/tensor/A/expected      JSON: actual against expected (comparison.h); PUT ?file=: a .npy file to compare with
//   /api/launch/N/tensor/A?layer=..      packed: a picture of argument A (slice.h)
//
// Status 202 is "ask again": {"state": "running", "done": programs that have run, "of": all}, as long as a launch has not been
// read, or has not run and the answer depends on it (what programs do, one by one, does not).
// Who sends the header X-Tilesight-Version, the version that /api/launches had, is answered 202 and {"state": "changed"}
// when the files have changed since: what the page asks of one launch is never answered with another.
#pragma once

#include "server/http.h"
#include "server/workspace.h"

namespace tilesight::server {

Answer answer(Workspace& workspace, const Request& request);

}  // namespace tilesight::server
