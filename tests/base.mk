# tests of base/
