package attachment

import (
	"context"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/seed61375155/trawl/internal/vfs"
)

const (
	// versionFile is in a node's folder: the version that Core had at its last answer.
	versionFile = "core-version"
	maxVersion  = 32 // bytes

	// askTime is how long the start of a node waits for Core's version.
	askTime = 3 * time.Second
)

// CoreVersion asks Core for its version, 300200 for 30.2. Where Core does not answer now it is the version at the last
// answer, which the node's folder dir has; 0 where there is none.
func (a *Attachment) CoreVersion(ctx context.Context, dir string) int {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	if version, _, err := a.core.Version(ctx); err == nil && version > 0 {
		NoteVersion(dir, version)
		return version
	}
	text, err := vfs.ReadFile(vfs.OS, filepath.Join(dir, versionFile), maxVersion)
	if err != nil {
		return 0
	}
	version, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil || version < 0 {
		return 0
	}
	return version
}

// NoteVersion keeps the version of Core in the folder of a node, for a start at which Core does not answer. A folder
// that cannot be written to has none.
func NoteVersion(dir string, version int) {
	_ = vfs.ReplaceFile(vfs.OS, filepath.Join(dir, versionFile), []byte(strconv.Itoa(version)+"\n"), 0o600)
}
