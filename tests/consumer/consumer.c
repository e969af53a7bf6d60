/* A sum of whoever calls tenfold from C. */
#include <stdio.h>
#include <tenfold.h>

int main(void) {
  static float in[100001];
  float total = 0;
  for (int i = 0; i < 100001; ++i) in[i] = 2;
  if (tenfold_version() < TENFOLD_C_VERSION ||
      tenfold_reduce("simt", "f32", "sum", in, 100001, &total) != TENFOLD_OK) {
    puts(tenfold_last_error());
    return 1;
  }
  printf("%.0f\n", total);
  return 0;
}
