# Fuzz targets, built with configure --enable-fuzz and run by fuzz.sh; a target's seeds are in
# tests/fuzz/corpus/TARGET/.
if ENABLE_FUZZ
fuzz_targets = tests/fuzz/fuzz_asked \
	tests/fuzz/fuzz_collectives \
	tests/fuzz/fuzz_csv \
	tests/fuzz/fuzz_device_file \
	tests/fuzz/fuzz_devices \
	tests/fuzz/fuzz_graph_txt \
	tests/fuzz/fuzz_hf_config \
	tests/fuzz/fuzz_import_astra \
	tests/fuzz/fuzz_import_hwloc \
	tests/fuzz/fuzz_import_nccl \
	tests/fuzz/fuzz_import_nvidia_smi \
	tests/fuzz/fuzz_import_simgrid \
	tests/fuzz/fuzz_import_taccl \
	tests/fuzz/fuzz_job \
	tests/fuzz/fuzz_manifest \
	tests/fuzz/fuzz_measured \
	tests/fuzz/fuzz_native \
	tests/fuzz/fuzz_nccl_log \
	tests/fuzz/fuzz_paper \
	tests/fuzz/fuzz_recipe \
	tests/fuzz/fuzz_request \
	tests/fuzz/fuzz_search_axis \
	tests/fuzz/fuzz_shard \
	tests/fuzz/fuzz_placement \
	tests/fuzz/fuzz_schedule \
	tests/fuzz/fuzz_nccl_xml \
	tests/fuzz/fuzz_own_collective \
	tests/fuzz/fuzz_stg \
	tests/fuzz/fuzz_dax \
	tests/fuzz/fuzz_wfcommons \
	tests/fuzz/fuzz_tasks \
	tests/fuzz/fuzz_topo \
	tests/fuzz/fuzz_samples \
	tests/fuzz/fuzz_store \
	tests/fuzz/fuzz_validate \
	tests/fuzz/fuzz_words \
	tests/fuzz/fuzz_yaml
check_PROGRAMS += $(fuzz_targets)
fuzz-targets: $(fuzz_targets)
tests_fuzz_fuzz_asked_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LDFLAGS)
tests_fuzz_fuzz_collectives_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LDFLAGS)
tests_fuzz_fuzz_csv_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LDFLAGS)
tests_fuzz_fuzz_device_file_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LDFLAGS)
tests_fuzz_fuzz_devices_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LDFLAGS)
tests_fuzz_fuzz_graph_txt_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LDFLAGS)
tests_fuzz_fuzz_hf_config_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LDFLAGS)
tests_fuzz_fuzz_import_astra_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LDFLAGS)
tests_fuzz_fuzz_import_hwloc_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LDFLAGS)
tests_fuzz_fuzz_import_nccl_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LDFLAGS)
tests_fuzz_fuzz_import_nvidia_smi_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LDFLAGS)
tests_fuzz_fuzz_import_simgrid_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LDFLAGS)
tests_fuzz_fuzz_import_taccl_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LDFLAGS)
tests_fuzz_fuzz_job_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LDFLAGS)
tests_fuzz_fuzz_manifest_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LDFLAGS)
tests_fuzz_fuzz_measured_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LDFLAGS)
tests_fuzz_fuzz_native_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LDFLAGS)
tests_fuzz_fuzz_nccl_log_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LDFLAGS)
tests_fuzz_fuzz_paper_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LDFLAGS)
tests_fuzz_fuzz_request_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LDFLAGS)
tests_fuzz_fuzz_recipe_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LDFLAGS)
tests_fuzz_fuzz_search_axis_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LDFLAGS)
tests_fuzz_fuzz_shard_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LDFLAGS)
tests_fuzz_fuzz_placement_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LDFLAGS)
tests_fuzz_fuzz_schedule_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LDFLAGS)
tests_fuzz_fuzz_nccl_xml_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LDFLAGS)
tests_fuzz_fuzz_own_collective_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LDFLAGS)
tests_fuzz_fuzz_stg_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LDFLAGS)
tests_fuzz_fuzz_dax_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LDFLAGS)
tests_fuzz_fuzz_wfcommons_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LDFLAGS)
tests_fuzz_fuzz_tasks_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LDFLAGS)
tests_fuzz_fuzz_topo_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LDFLAGS)
tests_fuzz_fuzz_samples_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LDFLAGS)
tests_fuzz_fuzz_store_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LDFLAGS)
tests_fuzz_fuzz_validate_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LDFLAGS)
tests_fuzz_fuzz_words_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LDFLAGS)
tests_fuzz_fuzz_yaml_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LDFLAGS)
endif
EXTRA_DIST += tests/fuzz/import_target.h tests/fuzz/task_graph_target.h tests/fuzz/fuzz.sh \
	tests/fuzz/corpus
