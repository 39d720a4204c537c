package part

import (
	"sync/atomic"

	"github.com/seed61375155/trawl/internal/ask"
)

// refs are the actors by name. All names are there from the beginning, absent.
type refs map[string]*atomic.Pointer[ask.Ref]

func newRefs(table []Part) refs {
	r := make(refs, len(table))
	for i := range table {
		r[table[i].Name] = new(atomic.Pointer[ask.Ref])
		r[table[i].Name].Store(ask.Absent(table[i].Name))
	}
	return r
}

func (r refs) set(name string, ref *ask.Ref) { r[name].Store(ref) }
func (r refs) get(name string) *ask.Ref      { return r[name].Load() }
