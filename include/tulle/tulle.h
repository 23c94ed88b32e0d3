// All of Tulle's public interface.
#pragma once
#include "tulle/error.h"
#include "tulle/format.h"
#include "tulle/io.h"
#include "tulle/kernel.h"
#include "tulle/picture.h"
#include "tulle/query.h"
#include "tulle/tensor.h"
