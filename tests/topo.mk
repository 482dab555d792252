# tests of topo/
