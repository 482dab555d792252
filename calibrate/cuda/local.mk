# The CUDA micro-benchmarks: `make cuda` where configure found nvcc; with --with-cuda part of `all`.
cuda_sources = calibrate/cuda/bench.cuh calibrate/cuda/bench.cu calibrate/cuda/matmul.cuh \
	calibrate/cuda/gemm.cu calibrate/cuda/conv.cu calibrate/cuda/memory_bound.cu \
	calibrate/cuda/launch.cu calibrate/cuda/copy.cu calibrate/cuda/interference.cu \
	calibrate/cuda/device_memory.cu calibrate/cuda/collectives.cu
cuda_shapes = calibrate/cuda/gemm_shapes.csv calibrate/cuda/conv_shapes.csv
calibrate_scripts = calibrate/run calibrate/torch_models.py calibrate/torch_step.py \
	calibrate/torch_profile.py calibrate/torch_attention.py calibrate/cuda/shapes.py
EXTRA_DIST += $(cuda_sources) $(cuda_shapes) $(calibrate_scripts)

NVCC_COMPILE = $(NVCC) $(NVCCFLAGS) $(CUDA_DEFINES) -I$(srcdir)/calibrate/cuda
cuda_header = $(srcdir)/calibrate/cuda/bench.cuh $(srcdir)/calibrate/cuda/matmul.cuh

cuda_programs = $(CUDA_PROGRAMS)
calibrate/cuda/bench.o: calibrate/cuda/bench.cu $(cuda_header)
	@$(MKDIR_P) calibrate/cuda
	$(AM_V_GEN)$(NVCC_COMPILE) -c $(srcdir)/calibrate/cuda/bench.cu -o $@

# One file, one program; libraries by name below.
$(cuda_programs): calibrate/cuda/bench.o $(cuda_header)
	$(AM_V_GEN)$(NVCC_COMPILE) $(srcdir)/$@.cu calibrate/cuda/bench.o -o $@ \
	  $(NVCC_LDFLAGS) $(CUDA_LIBS_$(@F))
calibrate/cuda/gemm: calibrate/cuda/gemm.cu
calibrate/cuda/conv: calibrate/cuda/conv.cu
calibrate/cuda/memory_bound: calibrate/cuda/memory_bound.cu
calibrate/cuda/launch: calibrate/cuda/launch.cu
calibrate/cuda/copy: calibrate/cuda/copy.cu
calibrate/cuda/interference: calibrate/cuda/interference.cu
calibrate/cuda/device_memory: calibrate/cuda/device_memory.cu
calibrate/cuda/collectives: calibrate/cuda/collectives.cu

CUDA_LIBS_gemm = -lcublasLt
CUDA_LIBS_interference = -lcublasLt
CUDA_LIBS_conv = -lcudnn
CUDA_LIBS_device_memory = $(CUDA_HANDLE_LIBS)
CUDA_LIBS_collectives = -lnccl

cuda: $(cuda_programs)
	@$(CUDA_SAY)
.PHONY: cuda
CLEANFILES += $(cuda_programs) calibrate/cuda/bench.o

if WITH_CUDA
noinst_DATA = $(cuda_programs)
endif
