package corefiles

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/seed61375155/trawl/store/blockfile"
)

// A Survey is what there is to read of a Core on this machine.
type Survey struct{ Blocks, Undo, Filters Files }

// Files are those of one kind.
type Files struct {
	Count int
	Bytes int64
	Err   error // why one of them, or their directory, cannot be read
}

// Look counts the files of a Core, and opens each, until one cannot be.
func Look(blocksDir, netDir string) Survey {
	return Survey{
		Blocks:  count(blocksDir, ".", string(blockfile.Blocks)),
		Undo:    count(blocksDir, ".", string(blockfile.Undo)),
		Filters: count(netDir, filterDir, "fltr"),
	}
}

// count counts the files of a kind in a folder of a directory. That there is none is no
// error.
func count(dir, folder, kind string) (f Files) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		f.Err = err
		return f
	}
	d := Dir{root: root}
	defer d.Close()
	in, err := root.Open(filepath.FromSlash(folder))
	if err != nil {
		f.Err = notMissing(err)
		return f
	}
	defer in.Close()
	names, err := in.Readdirnames(-1)
	if err != nil {
		f.Err = err
		return f
	}
	for _, name := range names {
		if ok, _ := path.Match(kind+"[0-9]*.dat", name); !ok {
			continue
		}
		name = path.Join(folder, name)
		info, err := root.Lstat(name)
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		f.Count++
		f.Bytes += info.Size()
		if f.Err == nil {
			file, _, err := d.open(name)
			if f.Err = err; err == nil {
				f.Err = file.Close()
			}
		}
	}
	return f
}

func notMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
