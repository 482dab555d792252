/* calibrate/files/data_version.h - which measured costs are compiled in. */
#ifndef FR_CALIBRATE_FILES_DATA_VERSION_H
#define FR_CALIBRATE_FILES_DATA_VERSION_H

/* Checksum and size (POSIX cksum) of the shipped device and system files, one after the other. */
extern const char fr__data_version[];
#endif
