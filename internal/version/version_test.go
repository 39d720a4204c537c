package version

import (
	"runtime/debug"
	"testing"
)

const aRevision = "0123456789abcdef0123456789abcdef01234567"

func TestDescribe(t *testing.T) {
	checkout := &debug.BuildInfo{
		Main:     debug.Module{Version: "v0.0.0-20260101000000-0123456789ab+dirty"},
		Settings: []debug.BuildSetting{{Key: "vcs", Value: "git"}, {Key: "vcs.revision", Value: aRevision}},
	}
	installed := &debug.BuildInfo{Main: debug.Module{Version: "v1.2.3", Sum: "h1:x="}}
	for name, c := range map[string]struct {
		info              *debug.BuildInfo
		release, revision string
		want, wantRev     string
	}{
		"unknown":   {nil, "", "", Number, ""},
		"checkout":  {checkout, "", "", Number + "-0123456789ab", aRevision},
		"installed": {installed, "", "", "1.2.3", ""},
		"release":   {checkout, "2.0.0", "fedcba9876543210", "2.0.0-fedcba987654", "fedcba9876543210"},
		"short":     {nil, "2.0.0", "fed", "2.0.0", "fed"},
	} {
		release, revision = c.release, c.revision
		if got := describe(c.info); got != c.want {
			t.Errorf("%s: got %s, want %s", name, got, c.want)
		}
		if got := revisionOf(c.info); got != c.wantRev {
			t.Errorf("%s: got revision %s, want %s", name, got, c.wantRev)
		}
	}
	release, revision = "", ""
}
