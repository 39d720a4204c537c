//go:build !linux

package cores

// A Crew has nobody where threads cannot be bound to cores.
type Crew struct{}

// NewCrew returns an empty crew.
func NewCrew() *Crew { return new(Crew) }

// Close has nothing to end.
func (*Crew) Close() {}

func (*Crew) take(func()) bool { return false }
