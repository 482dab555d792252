# tests of results/
