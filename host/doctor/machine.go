package doctor

// filled puts the real machine where nothing else was given.
func (m Machine) filled() Machine {
	if m.Disk == nil {
		m.Disk = diskOf
	}
	if m.Alive == nil {
		m.Alive = alive
	}
	if m.Locked == nil {
		m.Locked = locked
	}
	if m.May == nil {
		m.May = may
	}
	return m
}

// Held says whether a process holds the lock at path, as the check of the daemon does.
func Held(path string) (bool, error) { return locked(path) }
