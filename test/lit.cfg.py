# Runs every RUN line with the tools of one build first in PATH: lit --param build=BUILD_DIR test/
import os
import platform
import shutil

import lit.formats

build = lit_config.params.get("build", os.path.join(os.path.dirname(__file__), "..", "build", "release"))
build = os.path.abspath(build)
root = os.path.abspath(os.path.join(os.path.dirname(__file__), ".."))
llvm = "/usr/lib/llvm-22/bin"

config.name = "tulle"
if lit_config.params.get("sanitize"):
    config.available_features.add("sanitized")
# What `tulle` and `tulle-opt` alone do not bring.
for feature, program in [("bench", "tulle-bench"), ("differential", "differential_test")]:
    if os.path.exists(os.path.join(build, "bin", program)):
        config.available_features.add(feature)
# What the machine may have.
for feature, program in [("valgrind", "valgrind"), ("qemu-x86", "qemu-x86_64"), ("qemu-aarch64", "qemu-aarch64")]:
    if shutil.which(program):
        config.available_features.add(feature)
if os.path.exists("/usr/aarch64-linux-gnu/include/stdio.h"):
    config.available_features.add("aarch64-libc")
if platform.machine() == "x86_64":
    config.available_features.add("x86")
config.test_format = lit.formats.ShTest(execute_external=True)
config.suffixes = [".mlir", ".test", ".tulle"]
config.excludes = ["inputs", "Inputs", "CMakeLists.txt", "README.md", "end_to_end"]
config.test_source_root = os.path.dirname(os.path.abspath(__file__))
config.test_exec_root = os.path.join(build, "test")
config.environment["PATH"] = os.pathsep.join([os.path.join(build, "bin"), llvm, os.environ["PATH"]])
# Each test run starts with an empty kernel cache, and never touches the user's.
cache = os.path.join(build, "test", "kernel-cache")
shutil.rmtree(cache, ignore_errors=True)
config.environment["TULLE_CACHE_DIR"] = cache
for name in ("HOME", "ASAN_OPTIONS", "UBSAN_OPTIONS", "LD_LIBRARY_PATH", "OMP_NUM_THREADS"):
    if name in os.environ:
        config.environment[name] = os.environ[name]
# Debian's LLVM shares arenas with our code but does not mark them for AddressSanitizer; marks by one side alone are false alarms.
config.environment.setdefault("ASAN_OPTIONS", "allow_user_poisoning=0")
config.substitutions.append(("%root", root))
config.substitutions.append(("%build", build))
config.substitutions.append(("%inputs", os.path.join(root, "test", "inputs")))
# A command that must fail with exit code 1, the user's mistake (2 and signals are ours).
config.substitutions.append(("%expect-error", os.path.join(root, "scripts", "expect-error")))
