# tests of workloads/
