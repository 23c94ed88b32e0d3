# CSR to each format and back.
pair() {
  tulle compile --convert CSR "$1" --threads "$2" -o there.o --header there.h
  tulle compile --convert "$1" CSR --threads "$2" -o back.o --header back.h
  gcc -std=c99 -Wall -Wextra -Werror -pedantic -Wno-unused-function -I. there_and_back.c there.o back.o -fopenmp -o round
  echo "$1${3}: $(./round)"
}
for format in CSR CSC COO DCSR 'BCSR(2,3)' dense DIA ELL JDS 'SELL(8,16)' bitmap jagged 'HiCOO(2)'; do
  pair "$format" none
done
for format in CSC DOK; do
  pair "$format" openmp ' with threads'
done
