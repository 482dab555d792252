# tests of strategies/
