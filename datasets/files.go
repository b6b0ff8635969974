package datasets

import "io/fs"

// Files is the bundled data as a file system with the folders sessions and outputs.
func Files() fs.FS { return bundled }
