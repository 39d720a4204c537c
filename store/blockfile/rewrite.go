package blockfile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed61375155/trawl/internal/vfs"
)

// Files beside a blk file while another file takes its place have qbit's names: blk00000.dat.wpruned is
// the new file, blk00000.dat.wfull the old file.
const (
	comingSuffix   = ".wpruned"
	replacedSuffix = ".wfull"
)

// ErrReplaced reports that a file which was replaced before is still there.
var ErrReplaced = errors.New("the file that was replaced before is still there")

// A Rewrite is a file that is written to take the place of another of the same number. The other file stays
// until the new file is complete and durable. From [Rewrite.Install] to [Rewrite.Settle] it is kept under
// another name: between these calls references to positions in the file are changed.
type Rewrite struct {
	files  *Files
	number int
	path   string // of the file that is replaced
	file   vfs.File
	buf    []byte // of records that are not in the file yet
	end    int64  // of the records
}

// rewriteBuffer is how many bytes are written at a time.
const rewriteBuffer = 1 << 20

// Rewrite begins to write a file that is to replace the one with a number. The rest of an earlier attempt is
// removed. The error is [ErrReplaced] if the file was replaced and the replacement is not settled.
func (f *Files) Rewrite(number int) (*Rewrite, error) {
	path := f.kind.Path(f.dir, number)
	if _, err := f.disk.Stat(path + replacedSuffix); err == nil {
		return nil, fmt.Errorf("%w: %s", ErrReplaced, path+replacedSuffix)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	file, err := f.disk.OpenFile(path+comingSuffix, os.O_CREATE|os.O_TRUNC|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	return &Rewrite{files: f, number: number, path: path, file: file}, nil
}

// Add appends a record and returns its offset.
func (r *Rewrite) Add(payload []byte) (offset int64, err error) {
	offset = r.end
	start := len(r.buf)
	r.buf = append(r.buf, r.files.magic[:]...)
	r.buf = binary.LittleEndian.AppendUint32(r.buf, uint32(len(payload)))
	r.buf = append(r.buf, payload...)
	r.end += int64(len(r.buf) - start)
	if len(r.buf) < rewriteBuffer {
		return offset, nil
	}
	return offset, r.write()
}

// write puts the records of the buffer into the file.
func (r *Rewrite) write() error {
	at := r.end - int64(len(r.buf))
	r.files.key.XOR(r.buf, at)
	_, err := r.file.WriteAt(r.buf, at)
	r.buf = r.buf[:0]
	return err
}

// Finish makes the file durable, and returns its size. Nothing is added after it.
func (r *Rewrite) Finish() (size int64, err error) {
	if err = r.write(); err == nil {
		err = r.file.Sync()
	}
	err = errors.Join(err, r.file.Close())
	r.file = nil
	return r.end, err
}

// Drop removes what was written. Nothing is done after Install.
func (r *Rewrite) Drop() {
	if r.file != nil {
		_ = r.file.Close()
		r.file = nil
	}
	_ = r.files.disk.Remove(r.path + comingSuffix)
}

// Install puts the new file in the place of the old, durably. Nobody may read or write the old one meanwhile.
// After an error the old file has its place again, if the disk lets it; [Recover] sees to it otherwise.
func (r *Rewrite) Install() error {
	r.files.release(r.number)
	if err := r.rename(r.path, r.path+replacedSuffix); err != nil {
		return errors.Join(err, r.rollback())
	}
	if err := r.rename(r.path+comingSuffix, r.path); err != nil {
		return errors.Join(err, r.rollback())
	}
	return nil
}

// rename gives a file another name, durably.
func (r *Rewrite) rename(from, to string) error {
	if err := r.files.disk.Rename(from, to); err != nil {
		return err
	}
	return r.files.disk.SyncDir(r.files.dir)
}

// rollback gives the old file its name again.
func (r *Rewrite) rollback() error {
	_, err := r.files.disk.Stat(r.path + replacedSuffix)
	if err == nil {
		err = r.rename(r.path+replacedSuffix, r.path)
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	r.Drop()
	return err
}

// Settle removes the old file.
func (r *Rewrite) Settle() error {
	if err := r.files.disk.Remove(r.path + replacedSuffix); err != nil {
		return err
	}
	return r.files.disk.SyncDir(r.files.dir)
}

// release closes a file that is open for reading or writing.
func (f *Files) release(number int) {
	f.read.drop(func(n int) bool { return n == number })
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.out != nil && f.outNo == number {
		f.out.Close()
		f.out = nil
	}
}

// A Leftover is what an interrupted [Rewrite] has left of a file.
type Leftover struct {
	Number           int
	Coming, Replaced bool // which files are there beside the file, or in its place
	path             string
}

// Leftovers lists what interrupted rewrites of files of this kind have left in dir, in no order.
func (k Kind) Leftovers(disk vfs.FS, dir string) ([]*Leftover, error) {
	entries, err := disk.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list %s files: %w", k, err)
	}
	found := map[string]*Leftover{}
	var list []*Leftover
	for _, entry := range entries {
		name, coming := strings.CutSuffix(entry.Name(), comingSuffix)
		replaced := false
		if !coming {
			name, replaced = strings.CutSuffix(entry.Name(), replacedSuffix)
		}
		var n int
		path := filepath.Join(dir, name)
		if _, err := fmt.Sscanf(name, string(k)+"%d.dat", &n); err != nil || !coming && !replaced ||
			k.Path(dir, n) != path {
			continue
		}
		l := found[name]
		if l == nil {
			l = &Leftover{Number: n, path: path}
			found[name], list = l, append(list, l)
		}
		l.Coming, l.Replaced = l.Coming || coming, l.Replaced || replaced
	}
	return list, nil
}

// Names returns the names of the file, of the replaced file and of the file that was to come.
func (l *Leftover) Names() (file, replaced, coming string) {
	return l.path, l.path + replacedSuffix, l.path + comingSuffix
}

// Back gives the file its place again that was replaced, or drops what was to take its place.
func (l *Leftover) Back(disk vfs.FS) error {
	file, replaced, coming := l.Names()
	if l.Coming {
		if err := disk.Remove(coming); err != nil {
			return err
		}
	}
	if l.Replaced {
		if err := disk.Rename(replaced, file); err != nil {
			return err
		}
	}
	return disk.SyncDir(filepath.Dir(file))
}

// Settle ends a replacement that was complete: the old file goes, or the new one takes the place that it
// lacks yet.
func (l *Leftover) Settle(disk vfs.FS) error {
	file, replaced, coming := l.Names()
	var err error
	if l.Replaced {
		err = disk.Remove(replaced)
	} else {
		err = disk.Rename(coming, file)
	}
	if err != nil {
		return err
	}
	return disk.SyncDir(filepath.Dir(file))
}
