# find_package(tulle) gives the target tulle::tulle.
include("${CMAKE_CURRENT_LIST_DIR}/tulleTargets.cmake")
