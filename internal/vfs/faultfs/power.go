package faultfs

import (
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// ErrPowerLost is what calls fail with after [FS.PowerLoss].
var ErrPowerLost = errors.New("power is lost")

// page is what a disk writes as a whole or not at all.
const page = 512

// A node is a file or folder, whatever its name.
type node struct {
	isDir   bool
	durable []byte // of a file: as of its last sync
	last    []byte // of a file that has no name any more: its contents
	noName  bool
}

// A dir is a folder. Its durable names are the names on the disk with the pending
// changes taken back.
type dir struct {
	names   map[string]*node // of nodes that are known
	pending []change         // since the last SyncDir, in order
}

// A change is of names: each had the first node, nil for none, and has the second.
// A file that is moved within a folder changes two names at once.
type change struct {
	names     []string
	old, made []*node
}

func (d *dir) set(name string, n *node) {
	d.change(change{[]string{name}, []*node{d.names[name]}, []*node{n}})
}

func (d *dir) move(name string, n *node, from *dir, before string) {
	if d != from {
		from.set(before, nil)
		d.set(name, n)
		return
	}
	d.change(change{[]string{name, before}, []*node{d.names[name], n}, []*node{n, nil}})
}

func (d *dir) change(c change) {
	for i, name := range c.names {
		d.names[name] = c.made[i]
	}
	d.pending = append(d.pending, c)
}

func (fs *FS) dir(name string) *dir { return fs.dirAt(filepath.Dir(filepath.Clean(name))) }

func (fs *FS) dirAt(path string) *dir {
	d := fs.dirs[path]
	if d == nil {
		d = &dir{names: map[string]*node{}}
		fs.dirs[path] = d
	}
	return d
}

// lookup returns the node of a name, nil if there is none. A file or folder that
// was not known yet counts as durable in its present state.
func (fs *FS) lookup(name string) (*node, error) {
	d, base := fs.dir(name), filepath.Base(name)
	if n, known := d.names[base]; known {
		return n, nil
	}
	info, err := os.Stat(name)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil, nil //nolint:nilnil // no node is no error
	case err != nil:
		return nil, err
	}
	n := &node{isDir: info.IsDir()}
	if !n.isDir {
		if n.durable, err = os.ReadFile(name); err != nil { //nolint:gosec // a file of the test
			return nil, err
		}
	}
	d.names[base] = n
	return n, nil
}

// keep remembers the contents of a file that is about to lose its name.
func (fs *FS) keep(name string) error {
	n, err := fs.lookup(name)
	if err != nil || n == nil || n.isDir {
		return err
	}
	n.last, err = os.ReadFile(name) //nolint:gosec // a file of the test
	n.noName = true
	return err
}

// moveDirs follows a folder that was renamed.
func (fs *FS) moveDirs(from, to string) {
	from, to = filepath.Clean(from), filepath.Clean(to)
	for path, d := range fs.dirs {
		if path == from || strings.HasPrefix(path, from+string(filepath.Separator)) {
			delete(fs.dirs, path)
			fs.dirs[to+path[len(from):]] = d
		}
	}
}

// PowerLoss puts the files that were used into a state in which a loss of power
// may leave them. Synced bytes are there. Any pages of later writes are there,
// too, and any first changes of names since the last sync of their folder. Every
// call fails from then on. Open the files again with another FS.
func (fs *FS) PowerLoss(random *rand.Rand) error {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	fs.lost = true
	contents := map[*node][]byte{} // as they come out
	for _, path := range sorted(fs.dirs) {
		if err := fs.dirs[path].settle(path, random, contents); err != nil {
			return err
		}
	}
	for _, path := range sorted(fs.dirs) {
		if err := fs.dirs[path].restore(path, contents); err != nil {
			return err
		}
	}
	return nil
}

// settle decides what becomes of the files that had a name in the folder.
func (d *dir) settle(path string, random *rand.Rand, contents map[*node][]byte) error {
	for _, name := range sorted(d.names) {
		n := d.names[name]
		if n == nil || n.isDir {
			continue
		}
		now, err := os.ReadFile(filepath.Join(path, name)) //nolint:gosec // a file of the test
		if err != nil {
			return err
		}
		contents[n] = mix(random, n.durable, now)
	}
	kept := random.IntN(len(d.pending) + 1)
	for _, c := range slices.Backward(d.pending[kept:]) {
		for i, name := range c.names {
			d.names[name] = c.old[i]
		}
	}
	for _, name := range sorted(d.names) {
		if n := d.names[name]; n != nil && n.noName && contents[n] == nil {
			contents[n] = mix(random, n.durable, n.last)
		}
	}
	return nil
}

// restore gives the names of a folder what they lead to.
func (d *dir) restore(path string, contents map[*node][]byte) error {
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		return nil // it was lost itself
	}
	for _, name := range sorted(d.names) {
		n, at := d.names[name], filepath.Join(path, name)
		if n != nil && n.isDir {
			if err := os.MkdirAll(at, 0o700); err != nil {
				return err
			}
			continue
		}
		if err := os.RemoveAll(at); err != nil {
			return err
		}
		if n == nil {
			continue
		}
		content, ok := contents[n]
		if !ok {
			content = n.durable
		}
		if err := os.WriteFile(at, content, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// mix returns what is left of a file: its size and each page are the old ones or
// the new ones.
func mix(random *rand.Rand, durable, now []byte) []byte {
	switch random.IntN(4) {
	case 0:
		return durable
	case 1:
		return now
	}
	size := len(now)
	if random.IntN(2) == 0 {
		size = len(durable)
	}
	out := make([]byte, size)
	for at := 0; at < size; at += page {
		from := durable
		if random.IntN(2) == 0 {
			from = now
		}
		if at < len(from) {
			copy(out[at:], from[at:min(at+page, len(from))])
		}
	}
	return out
}

func sorted[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

// readAll reads a file from its beginning, wherever it was read or written last.
func readAll(f *os.File) ([]byte, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	return io.ReadAll(io.NewSectionReader(f, 0, info.Size()))
}
