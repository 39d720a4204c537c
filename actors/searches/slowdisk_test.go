package searches_test

import (
	"os"
	"strings"
	"sync"

	"github.com/seed61375155/trawl/internal/vfs"
)

// slowDisk is a disk that makes files durable only when the test allows it. Files of modes have a gate of their own.
type slowDisk struct {
	vfs.FS
	gate // of all others

	modes gate
}

// A gate is where files wait.
type gate struct {
	mu   sync.Mutex
	hold chan struct{} // nil: nothing waits
	held chan struct{} // has one when something waits
	fail error         // of the operation that has waited
}

type slowFile struct {
	vfs.File

	gate *gate
}

func newSlowDisk() *slowDisk {
	d := &slowDisk{FS: vfs.OS}
	d.held, d.modes.held = make(chan struct{}, 1), make(chan struct{}, 1)
	return d
}

func (d *slowDisk) OpenFile(name string, flag int, mode os.FileMode) (vfs.File, error) {
	f, err := d.FS.OpenFile(name, flag, mode)
	switch {
	case err != nil:
		return nil, err
	case strings.Contains(name, "/modes/"):
		return &slowFile{f, &d.modes}, nil
	}
	return &slowFile{f, &d.gate}, nil
}

func (f *slowFile) Sync() error {
	if err := f.gate.wait(); err != nil {
		return err
	}
	return f.File.Sync()
}

func (d *gate) wait() error {
	d.mu.Lock()
	hold := d.hold
	d.mu.Unlock()
	if hold == nil {
		return nil
	}
	select {
	case d.held <- struct{}{}:
	default:
	}
	<-hold
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.fail
}

// waits returns true once an operation waits at the gate, false if other reports true before.
func (d *gate) waits(other func() bool) bool {
	for {
		select {
		case <-d.held:
			return true
		default:
		}
		if other() {
			return false
		}
	}
}

// stop has what is written from now on wait.
func (d *gate) stop() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.hold = make(chan struct{})
}

// goOn ends that, with an error for what waits.
func (d *gate) goOn(err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	close(d.hold)
	d.hold, d.fail = nil, err
}
