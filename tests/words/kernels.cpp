// Compiled by nvcc: no word that the executor has is one that CUDA refuses.
#include "tests/words/arithmetic.hpp"
#include "tests/words/groups.hpp"
#include "tests/words/threads.hpp"
