# tests of sim/
