// SPDX-License-Identifier: GPL-2.0-only
#include "cli/fkt_selection/png.h"

#ifdef FKT_HAVE_RSVG
#include <librsvg/rsvg.h>

#include <memory>
#endif

namespace fkt::cli {

#ifdef FKT_HAVE_RSVG
namespace {

template <auto Free>
struct Freed {
  template <class T>
  void operator()(T* object) const {
    Free(object);
  }
};

Error error_of(std::unique_ptr<GError, Freed<g_error_free>> error) {
  return {ErrorCode::io, error ? error->message : "the picture cannot be drawn"};
}

cairo_status_t append(void* png, const unsigned char* bytes, unsigned int count) {
  static_cast<std::string*>(png)->append(reinterpret_cast<const char*>(bytes), count);
  return CAIRO_STATUS_SUCCESS;
}

}  // namespace

bool png_available() {
  return true;
}

Result<std::string> png_of(const std::string& svg) {
  GError* error = nullptr;
  const auto* bytes = reinterpret_cast<const guint8*>(svg.data());
  const std::unique_ptr<RsvgHandle, Freed<g_object_unref>> handle(
      rsvg_handle_new_from_data(bytes, svg.size(), &error));
  using ErrorOwner = std::unique_ptr<GError, Freed<g_error_free>>;
  if (!handle) return error_of(ErrorOwner(error));
  double width = 0, height = 0;
  if (rsvg_handle_get_intrinsic_size_in_pixels(handle.get(), &width, &height) == 0) {
    return Error{ErrorCode::format, "the picture has no size"};
  }
  const std::unique_ptr<cairo_surface_t, Freed<cairo_surface_destroy>> surface(
      cairo_image_surface_create(CAIRO_FORMAT_ARGB32, static_cast<int>(width),
                                 static_cast<int>(height)));
  const std::unique_ptr<cairo_t, Freed<cairo_destroy>> cairo(cairo_create(surface.get()));
  const RsvgRectangle all{0, 0, width, height};
  if (rsvg_handle_render_document(handle.get(), cairo.get(), &all, &error) == 0) {
    return error_of(ErrorOwner(error));
  }
  std::string png;
  const cairo_status_t status = cairo_surface_write_to_png_stream(surface.get(), append, &png);
  if (status != CAIRO_STATUS_SUCCESS) return Error{ErrorCode::io, cairo_status_to_string(status)};
  return png;
}
#else
bool png_available() {
  return false;
}

Result<std::string> png_of(const std::string&) {
  return Error{ErrorCode::io, "built without librsvg"};
}
#endif

}  // namespace fkt::cli
