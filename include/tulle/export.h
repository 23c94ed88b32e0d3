// Marks what libtulle shows; everything else in it is hidden.
#pragma once
#define TULLE_EXPORT __attribute__((visibility("default")))
