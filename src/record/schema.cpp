#include "record/schema.h"

namespace tilesight::record {

using arrow::Schema;
using arrow::Type;

const Schema& schemaOf(Table table) {
  static const Schema launches{"launches", {
      {"launch", Type::UInt32, "number of the launch in this trace"},
      {"kernel", Type::Text, "the function's name"},
      {"file", Type::Text, "where it is defined"},
      {"bundle", Type::Text, "the bundle it came from, or nothing"},
      {"captured", Type::UInt32, "its number in the session that captured it"},
      {"grid_x", Type::Int64, "programs along x"},
      {"grid_y", Type::Int64, "along y"},
      {"grid_z", Type::Int64, "along z"},
      {"programs", Type::Int64, "rows of this launch in programs"},
      {"accesses", Type::Int64, "rows of this launch in accesses"},
      {"verdict", Type::Name, "ok, finding or unknown"},
      {"unknowns", Type::TextList, "what was not executed or not checked, and why"},
      {"arguments", Type::Text, "scalar and specialised arguments, as a JSON object"},
      {"config", Type::Text, "constexprs, options and autotune configuration, as a JSON object"},
      {"triton", Type::Text, "the version of Triton"},
      {"target", Type::Text, "what it was compiled for"},
      {"test", Type::Text, "the pytest node that launched it, or nothing"},
  }};
  static const Schema tensors{"tensors", {
      {"launch", Type::UInt32, "the launch"},
      {"tensor", Type::Text, "name of the parameter"},
      {"argument", Type::UInt32, "its position"},
      {"dtype", Type::Text, "float16, int32, ..."},
      {"element_bytes", Type::Int64, "size of an element"},
      {"shape", Type::Int64List, "of the view that was passed"},
      {"strides", Type::Int64List, "in elements"},
      {"address", Type::Int64, "virtual address of element [0, ..., 0]: an access's base counts from here"},
      {"storage", Type::UInt32, "number of the allocation: tensors that share one have the same"},
      {"storage_address", Type::Int64, "virtual address of the allocation's first byte"},
      {"storage_bytes", Type::Int64, "its size"},
  }};
  static const Schema programs{"programs", {
      {"launch", Type::UInt32, "the launch"},
      {"program", Type::UInt32, "x + grid_x * (y + grid_y * z)"},
      {"x", Type::UInt32, "program id along x"},
      {"y", Type::UInt32, "along y"},
      {"z", Type::UInt32, "along z"},
      {"accesses", Type::Int64, "rows of this program in accesses"},
      {"loads", Type::Int64, "how many of them load"},
      {"stores", Type::Int64, "store"},
      {"atomics", Type::Int64, "are atomic"},
      {"elements", Type::Int64, "elements of the tiles of all accesses"},
      {"active", Type::Int64, "how many of them the masks let through"},
      {"bytes_read", Type::Int64, "by loads and atomics"},
      {"bytes_written", Type::Int64, "by stores and atomics"},
      {"faulty", Type::Int64, "accesses with faults"},
      {"dots", Type::Int64, "matrix products"},
      {"multiply_adds", Type::Int64, "of all of them: m * n * k each"},
      {"reductions", Type::Int64, "reductions and scans"},
  }};
  static const Schema accesses{"accesses", {
      {"launch", Type::UInt32, "the launch"},
      {"program", Type::UInt32, "the program, as in programs"},
      {"number", Type::UInt32, "which access of its program, from 0"},
      {"op", Type::UInt32, "the operation: its pre-order number in the launch's IR"},
      {"kind", Type::Name, "load, store, atomic_rmw, atomic_cas or copy"},
      {"operation", Type::Name, "name of the operation, as tt.load"},
      {"tensor", Type::Name, "the parameter that the pointers come from; nothing: not known, or several"},
      {"file", Type::Name, "source file"},
      {"line", Type::UInt32, "source line; 0: not known"},
      {"col", Type::UInt32, "source column"},
      {"variable", Type::Name, "the variable that gets, or holds, the value; nothing: it has no name"},
      {"trip", Type::Int32, "how often the innermost loop had gone around before; -1: in no loop"},
      {"outer_trip", Type::Int32, "the same of the loop around it; -1: there is none"},
      {"element", Type::Name, "type of an element in the IR, as f16"},
      {"element_bytes", Type::UInt32, "size of an element"},
      {"elements", Type::Int64, "elements of the tile"},
      {"active", Type::Int64, "elements that the mask lets through"},
      {"bytes", Type::Int64, "active * element_bytes"},
      {"base", Type::Int64, "where the tile's element [0, ..., 0] is, in bytes behind the tensor's address (without a tensor: a virtual address; dense addresses: the lowest active element)"},
      {"low", Type::Int64, "the first byte that active elements touch, counted from base"},
      {"high", Type::Int64, "past the last byte that they touch, counted from base; equal to low if none is active"},
      {"form", Type::Name, "of the addresses: one, affine, separable, dense, or folded (affine with more than 4 axes)"},
      {"mask", Type::Name, "all, none, box, separable or dense"},
      {"rank", Type::UInt32, "axes of the tile"},
      {"size_0", Type::Int32, "of the tile along its first axis; 1 where there is no such axis, here and below"},
      {"stride_0", Type::Int64, "bytes from one index of it to the next, where form is one or affine; else 0"},
      {"from_0", Type::Int32, "the first index of it that the mask lets through; 0 where mask is dense"},
      {"to_0", Type::Int32, "past the last one; the size where mask is dense"},
      {"size_1", Type::Int32, "of axis 1"},
      {"stride_1", Type::Int64, "likewise"},
      {"from_1", Type::Int32, "likewise"},
      {"to_1", Type::Int32, "likewise"},
      {"size_2", Type::Int32, "of axis 2"},
      {"stride_2", Type::Int64, "likewise"},
      {"from_2", Type::Int32, "likewise"},
      {"to_2", Type::Int32, "likewise"},
      {"size_3", Type::Int32, "of axis 3"},
      {"stride_3", Type::Int64, "likewise"},
      {"from_3", Type::Int32, "likewise"},
      {"to_3", Type::Int32, "likewise"},
      {"faults", Type::Name, "what was wrong, as out-of-bounds or out-of-view+misaligned; nothing: a clean access"},
      {"cells", Type::Int64List, "with --elements, where the cells do not follow from the other columns: each active element, in bytes behind base; else empty"},
  }};
  static const Schema findings{"findings", {
      {"launch", Type::UInt32, "the launch"},
      {"kind", Type::Name, "out-of-bounds, ..."},
      {"severity", Type::Name, "error, warning or note"},
      {"message", Type::Text, "one sentence"},
      {"client", Type::Name, "who found it"},
      {"kernel", Type::Name, "the function's name"},
      {"file", Type::Text, "source file"},
      {"line", Type::UInt32, "source line; 0: not known"},
      {"col", Type::UInt32, "source column"},
      {"function", Type::Text, "the function that the line is in"},
      {"source", Type::Text, "text of the line"},
      {"operation", Type::Text, "load, store, ..."},
      {"tensor", Type::Text, "the parameter, or nothing"},
      {"index", Type::Int64List, "of the element in the tensor"},
      {"byte_offset", Type::Int64, "of the element, from the tensor's first byte"},
      {"bytes_past", Type::Int64, "how far past the end; negative: before the start"},
      {"x", Type::Int64, "program id of the witness along x"},
      {"y", Type::Int64, "along y"},
      {"z", Type::Int64, "along z"},
      {"tile_element", Type::Int64List, "of the witness in its tile"},
      {"trips", Type::Int64List, "of the loops around it, outermost first"},
      {"because", Type::TextList, "the chain that computed the address: name = expression = value"},
      {"notes", Type::TextList, "what else is to be said"},
      {"consequences", Type::TextList, "what came of it"},
      {"remedy", Type::Text, "what to do next"},
      {"elements", Type::Int64, "how many elements had it"},
      {"programs", Type::Int64, "how many programs had it"},
      {"fingerprint", Type::Text, "stays when lines move"},
  }};
  switch (table) {
    case Table::Launches: return launches;
    case Table::Tensors: return tensors;
    case Table::Programs: return programs;
    case Table::Accesses: return accesses;
    case Table::Findings: return findings;
  }
  return launches;
}

}  // namespace tilesight::record
