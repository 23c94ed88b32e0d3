# find_package(tulle) gives the target tulle::tulle, and tulle_add_kernel.
include("${CMAKE_CURRENT_LIST_DIR}/tulleTargets.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/TulleAddKernel.cmake")
