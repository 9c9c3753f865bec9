#pragma once
// How a function of the host table begins: with the session, and with the thing that a handle stands for.
#include "plugins/session.h"

/// The session of `context`, as `session`, or leave with `nothing`.
#define TS_SESSION(nothing)                           \
  Session* session = Session::of(context);            \
  if (!session) return nothing
/// The session and the thing of a handle, or leave with `nothing`.
#define TS_THING(kind, name, handle, nothing)        \
  TS_SESSION(nothing);                               \
  auto name = session->kind(handle, __func__);       \
  if (!name) return nothing
