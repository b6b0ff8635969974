package doctor

import "syscall"

// networks are the numbers of network file systems in the kernel's headers.
var networks = map[int64]string{
	0x6969: "nfs", 0x517b: "smb", 0xff534d42: "cifs", 0xfe534d42: "smb2", 0x564c: "ncp", 0x5346414f: "afs", 0x6b414653: "afs",
	0x01021997: "9p", 0x00c36400: "ceph", 0x73757245: "coda", 0x0bd00bd0: "lustre", 0x47504653: "gpfs", 0x7461636f: "ocfs2",
}

func diskOf(path string) (Disk, error) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(path, &s); err != nil {
		return Disk{}, err
	}
	size := uint64(s.Bsize)
	return Disk{Free: s.Bavail * size, Total: s.Blocks * size, Network: networks[int64(uint32(s.Type))], Known: true}, nil
}
