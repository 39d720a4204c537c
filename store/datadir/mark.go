package datadir

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/seed61375155/trawl/internal/vfs"
)

// Format is the number of the layout of directories that this revision writes, and
// the latest layout that it knows. Directories without a mark have layout 1.
const Format = 2

// MarkName is the name of the mark.
const MarkName = "trawl-format"

// maxMark bounds the size of a mark.
const maxMark = 4096

// A mark says whose a directory is.
type mark struct {
	format  int
	network Network
}

// marshal returns the lines of a mark.
func (m *mark) marshal() []byte {
	return fmt.Appendf(nil,
		"# This is Trawl's, as is the directory. Without this file Trawl leaves the directory alone.\n"+
			"format=%d\nnetwork=%s\nmagic=%x\n", m.format, m.network.Name, m.network.Magic)
}

// parseMark reads a mark. From a mark of a later format it reads the format alone.
// Lines that it does not know are left to later revisions of the same format.
func parseMark(text []byte) (m mark, err error) {
	values := map[string]string{}
	for line := range bytes.Lines(text) {
		if name, value, ok := strings.Cut(strings.TrimSpace(string(line)), "="); ok && !strings.HasPrefix(name, "#") {
			values[name] = value
		}
	}
	if m.format, err = strconv.Atoi(values["format"]); err != nil || m.format < 2 {
		return m, fmt.Errorf("%w: format %q", ErrMark, values["format"])
	}
	if m.format > Format {
		return m, nil
	}
	magic, err := hex.DecodeString(values["magic"])
	if err != nil || len(magic) != len(m.network.Magic) {
		return m, fmt.Errorf("%w: magic %q", ErrMark, values["magic"])
	}
	m.network = Network{values["network"], [4]byte(magic)}
	return m, nil
}

// checkMark reports whether a directory has a mark, and refuses a mark that is not
// for this revision and network.
func checkMark(dir string, n Network) (marked bool, err error) {
	path := filepath.Join(dir, MarkName)
	text, err := vfs.ReadFile(vfs.OS, path, maxMark)
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	var m mark
	if err == nil {
		m, err = parseMark(text)
	}
	switch {
	case errors.Is(err, ErrMark):
		return false, fmt.Errorf("%s: %w. Move it away to have the directory looked at anew", path, err)
	case err != nil: // it may be right, but cannot be read
		return false, fmt.Errorf("read mark of the directory: %w", err)
	case m.format > Format:
		return false, &NewerError{dir, m.format}
	case m.network.Magic != n.Magic:
		return false, &NetworkError{dir, m.network.Name, n.Name}
	}
	return true, nil
}

func writeMark(fs vfs.FS, dir string, n Network) error {
	m := mark{Format, n}
	if err := vfs.ReplaceFile(fs, filepath.Join(dir, MarkName), m.marshal(), 0o600); err != nil {
		return fmt.Errorf("mark directory: %w", err)
	}
	return nil
}
