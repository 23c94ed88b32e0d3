// What every test includes.
#pragma once
#include "support/PlainPch.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>
