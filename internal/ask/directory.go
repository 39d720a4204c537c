package ask

import (
	"slices"
	"sync"
)

// A Directory names actors that come and go, so that others than their owner
// can ask them. It keeps the order in which they came. The zero value is empty
// and ready; it is safe for concurrent use.
type Directory struct {
	// Changed is notified of every change, in order; it must not use the directory. Nil: nobody is.
	Changed func(name string, there bool)

	mu    sync.RWMutex
	names []string
	refs  map[string]*Ref
}

// Add enters an actor. It reports false, and does nothing, when the name is
// taken.
func (d *Directory) Add(name string, ref *Ref) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, taken := d.refs[name]; taken {
		return false
	}
	if d.refs == nil {
		d.refs = make(map[string]*Ref)
	}
	d.refs[name] = ref
	d.names = append(d.names, name)
	if d.Changed != nil {
		d.Changed(name, true)
	}
	return true
}

// Remove takes an actor out.
func (d *Directory) Remove(name string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, there := d.refs[name]; there && d.Changed != nil {
		d.Changed(name, false)
	}
	delete(d.refs, name)
	d.names = slices.DeleteFunc(d.names, func(n string) bool { return n == name })
}

// Lookup returns the actor of that name, nil when there is none.
func (d *Directory) Lookup(name string) *Ref {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return d.refs[name]
}

// Names returns the names in the order in which they came.
func (d *Directory) Names() []string {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return slices.Clone(d.names)
}
