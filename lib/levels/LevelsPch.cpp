// Carries the precompiled header (LevelsPch.h).
