// Random storage formats.
#pragma once
#include "Random.h"
#include "format/Encoding.h"
#include "tulle/error.h"

namespace tulle::differential {

bool executable(const std::string &text, unsigned order);
/// Any executable format.
std::string randomFormat(Random &random, unsigned order);
/// A format some level of which has several dimensions, of sizes below 4096 but for the first.
std::string linearFormat(Random &random, unsigned order);
/// Dense levels only, in some order and blocking: what a result may have without a pattern.
std::string randomDenseFormat(Random &random, unsigned order);

} // namespace tulle::differential
