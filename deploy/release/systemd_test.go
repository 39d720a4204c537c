package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// The package under a systemd of its own: started, its log rotated, upgraded, given a secret, hung, removed, put in
// again and purged. The unit's limits hold meanwhile.
func TestSystemd(t *testing.T) {
	packagesOnly(t)
	deb := filepath.Join(released(t, "0.1.0"), "trawl_0.1.0_amd64.deb")
	work := t.TempDir()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	out, err := exec.CommandContext(
		ctx, "unshare", "--mount", "--pid", "--fork", "--kill-child", "--uts", "--ipc", "--net", "--cgroup",
		"bash", "testdata/boot.sh", work, "testdata/service.sh", deb,
	).CombinedOutput()
	printed, readErr := os.ReadFile(filepath.Join(work, "shared", "out"))
	if readErr != nil || !strings.HasSuffix(string(printed), "\nall is well\n") {
		t.Errorf("%v, %v\n%s\n%s", err, readErr, out, printed)
	}
}
