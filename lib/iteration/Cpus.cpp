// The processors, one row each. A figure that a measurement gave cites its page in docs/experiments by
// number.
#include "iteration/Cpu.h"

namespace tulle::iteration {

namespace {

constexpr std::string_view kDataSheet = "data sheet", kCommon = "not measured: what most processors have",
                           kAsV3 = "not measured: as x86-64-v3",
                           kNoOther = "not measured: no other value was recorded",
                           kAllLines = "not measured: more than any row has, without hardware prefetch",
                           kForZnver5 = "not measured: began with znver5, and others stayed as they were";

/// Vectors as most processors have them, and the figures of AMD Zen 4, on which the cost model began.
constexpr CpuFigure kGeneric[] = {
    {"vector_bits", 256, kCommon},
    {"registers", 16, kCommon},
    {"l1", 32 << 10, kCommon},
    {"l2", 1 << 20, "not measured: as znver4"},
    {"shared_cache", 32 << 20, "072"},
    {"resident_bytes", 8 << 20, "003"},
    {"line", 64, kCommon},
    {"gathers", true, "002"},
    {"local_elements", 1 << 14, "040"},
    {"masks", true, kNoOther},
    {"hardware_prefetch", true, "001"},
    {"masked_rows", false, "not measured: as before sapphirerapids"},
    {"sampled_rows", 1 << 13, "125"},
    {"intersects", false, "not measured: few processors have the instruction"},
    {"prefetch_entries", 256, "001"},
    {"prefetch_gathers", 64, kAsV3},
    {"prefetch_tiles", 0, kForZnver5},
    {"prefetch_blocks", 0, kForZnver5},
    {"prefetch_consecutive", 0, kForZnver5},
    {"prefetch_rows", 6, kNoOther},
    {"prefetch_wide_rows", 6, "not measured: as prefetch_rows"},
    {"prefetch_row_lines", 1, "077"},
    {"prefetch_elements", 0, "not measured: began with znver4"},
    {"prefetch_following", false, "not measured: began with sapphirerapids"},
    {"prefetch_into_l2", false, "not measured: began with znver4"},
    {"prefetch_trees", 6, "not measured: as prefetch_rows"},
    {"entries_per_prefetch", 2, "004"},
    {"vectors_per_prefetch", 1, kForZnver5},
    {"gather_steps", 3, kAsV3},
};

constexpr CpuFigure kX86_64[] = {
    {"vector_bits", 128, kDataSheet}, // it has no gathers and no masks
    {"gathers", false, kDataSheet},      {"masks", false, kDataSheet},
    {"hardware_prefetch", false, kAsV3}, {"prefetch_row_lines", kWholeRow, kAllLines},
};

/// Measured on AMD Zen 3.
constexpr CpuFigure kX86_64_v3[] = {
    {"vector_bits", 256, kDataSheet},
    {"registers", 16, kDataSheet},
    {"gathers", false, "005"},
    {"masks", false, "006"},
    {"hardware_prefetch", false, "005"},
    {"prefetch_gathers", 64, "007"},
    {"gather_steps", 3, "007"},
    {"sampled_rows", 1 << 13, "020"},
    {"prefetch_row_lines", kWholeRow, kAllLines},
};

constexpr CpuFigure kX86_64_v4[] = {{"vector_bits", 512, kDataSheet}, {"registers", 32, kDataSheet}};

constexpr CpuFigure kZnver3[] = {{"l1", 32 << 10, kDataSheet}, {"l2", 512 << 10, kDataSheet}};

constexpr CpuFigure kZnver4[] = {{"l1", 32 << 10, kDataSheet},      {"l2", 1 << 20, kDataSheet},
                                 {"prefetch_into_l2", true, "129"}, {"prefetch_rows", 61, "129"},
                                 {"prefetch_wide_rows", 23, "129"}, {"prefetch_row_lines", kWholeRow, "129"},
                                 {"prefetch_elements", 96, "131"}};

constexpr CpuFigure kZnver5[] = {
    {"l1", 48 << 10, kDataSheet},
    {"l2", 1 << 20, kDataSheet},
    {"gathers", false, "008"},
    {"masks", false, "008"},
    {"hardware_prefetch", false, "009"},
    {"sampled_rows", 1 << 13, "020"},
    {"intersects", true, "016"},
    {"prefetch_entries", 1536, "009"},
    {"prefetch_gathers", 256, "011"},
    {"prefetch_tiles", 192, "012"},
    {"prefetch_blocks", 768, "013"},
    {"prefetch_consecutive", 384, "014"},
    {"prefetch_rows", 29, "015"},
    {"prefetch_wide_rows", 15, "015"},
    {"prefetch_trees", 12, "015"},
    {"entries_per_prefetch", 4, "010"},
    {"vectors_per_prefetch", 2, "009"},
    {"gather_steps", 32, "011"},
    {"prefetch_row_lines", kWholeRow, kAllLines},
};

constexpr CpuFigure kSapphireRapids[] = {
    {"l1", 48 << 10, kDataSheet},     {"l2", 2 << 20, kDataSheet},         {"local_elements", 0, "107"},
    {"masked_rows", true, "102"},     {"sampled_rows", 1 << 9, "102"},     {"prefetch_rows", 12, "108"},
    {"prefetch_row_lines", 4, "108"}, {"prefetch_following", true, "108"}, {"prefetch_wide_rows", 6, "108"},
};

constexpr CpuFigure kArmv8[] = {
    {"vector_bits", 128, kDataSheet}, // it has no gathers and no masks
    {"registers", 32, kDataSheet},
    {"gathers", false, kDataSheet},
    {"masks", false, kDataSheet},
};

constexpr CpuRow kRows[] = {
    {"generic", "", kGeneric},
    {"x86-64", "generic", kX86_64},
    {"x86-64-v3", "generic", kX86_64_v3},
    {"x86-64-v4", "generic", kX86_64_v4},
    {"armv8-a", "generic", kArmv8},
    {"znver3", "x86-64-v3", kZnver3},
    {"znver4", "x86-64-v4", kZnver4},
    {"znver5", "x86-64-v4", kZnver5},
    {"sapphirerapids", "x86-64-v4", kSapphireRapids},
    {"emeraldrapids", "sapphirerapids", {}}, // the same cores
};

} // namespace

std::span<const CpuRow> cpuRows() { return kRows; }

} // namespace tulle::iteration
