package searches

import "github.com/seed61375155/trawl/store/searchdb"

const (
	leastRoom  = 2 << 30 // bytes
	leastShare = 20      // 5 %
)

// leastRoom returns how much has to be free of a disk.
func (s planner) leastRoom(total uint64) uint64 {
	if s.cfg.LeastRoom > 0 {
		return s.cfg.LeastRoom
	}
	return max(leastRoom, total/leastShare)
}

// pausesAll reports whether there is too little room on the disk.
func (s planner) pausesAll() bool {
	if s.cfg.Room == nil {
		return false
	}
	free, total, err := s.cfg.Room()
	full := ""
	if err == nil && free < s.leastRoom(total) {
		full = "Disk space is too low"
		s.lookLater()
	}
	if full != s.full {
		s.full = full
		s.cfg.Log.Warn("room for searches", "paused", full != "", "free", free)
		for _, j := range s.jobs {
			if j.Status.Mode == searchdb.Running {
				s.dirty(j)
			}
		}
		s.writer.urgent = true
		s.flush()
	}
	return full != ""
}
