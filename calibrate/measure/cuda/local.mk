# The CUDA micro-benchmarks: `make cuda` where configure found nvcc; with --with-cuda part of `all`.
cuda_sources = calibrate/measure/cuda/bench.cuh calibrate/measure/cuda/bench.cu calibrate/measure/cuda/matmul.cuh \
	calibrate/measure/cuda/gemm.cu calibrate/measure/cuda/conv.cu calibrate/measure/cuda/memory_bound.cu \
	calibrate/measure/cuda/launch.cu calibrate/measure/cuda/copy.cu calibrate/measure/cuda/interference.cu \
	calibrate/measure/cuda/device_memory.cu calibrate/measure/cuda/collectives.cu
cuda_shapes = calibrate/measure/cuda/gemm_shapes.csv calibrate/measure/cuda/conv_shapes.csv
calibrate_scripts = calibrate/measure/run calibrate/measure/torch_models.py calibrate/measure/torch_step.py \
	calibrate/measure/torch_profile.py calibrate/measure/torch_attention.py calibrate/measure/cuda/shapes.py
EXTRA_DIST += $(cuda_sources) $(cuda_shapes) $(calibrate_scripts)

NVCC_COMPILE = $(NVCC) $(NVCCFLAGS) $(CUDA_DEFINES) -I$(srcdir)/calibrate/measure/cuda
cuda_header = $(srcdir)/calibrate/measure/cuda/bench.cuh $(srcdir)/calibrate/measure/cuda/matmul.cuh

cuda_programs = $(CUDA_PROGRAMS)
calibrate/measure/cuda/bench.o: calibrate/measure/cuda/bench.cu $(cuda_header)
	@$(MKDIR_P) calibrate/measure/cuda
	$(AM_V_GEN)$(NVCC_COMPILE) -c $(srcdir)/calibrate/measure/cuda/bench.cu -o $@

# One file, one program; libraries by name below.
$(cuda_programs): calibrate/measure/cuda/bench.o $(cuda_header)
	$(AM_V_GEN)$(NVCC_COMPILE) $(srcdir)/$@.cu calibrate/measure/cuda/bench.o -o $@ \
	  $(NVCC_LDFLAGS) $(CUDA_LIBS_$(@F))
calibrate/measure/cuda/gemm: calibrate/measure/cuda/gemm.cu
calibrate/measure/cuda/conv: calibrate/measure/cuda/conv.cu
calibrate/measure/cuda/memory_bound: calibrate/measure/cuda/memory_bound.cu
calibrate/measure/cuda/launch: calibrate/measure/cuda/launch.cu
calibrate/measure/cuda/copy: calibrate/measure/cuda/copy.cu
calibrate/measure/cuda/interference: calibrate/measure/cuda/interference.cu
calibrate/measure/cuda/device_memory: calibrate/measure/cuda/device_memory.cu
calibrate/measure/cuda/collectives: calibrate/measure/cuda/collectives.cu

CUDA_LIBS_gemm = -lcublasLt
CUDA_LIBS_interference = -lcublasLt
CUDA_LIBS_conv = -lcudnn
CUDA_LIBS_device_memory = $(CUDA_HANDLE_LIBS)
CUDA_LIBS_collectives = -lnccl

cuda: $(cuda_programs)
	@$(CUDA_SAY)
.PHONY: cuda
CLEANFILES += $(cuda_programs) calibrate/measure/cuda/bench.o

if WITH_CUDA
noinst_DATA = $(cuda_programs)
endif
