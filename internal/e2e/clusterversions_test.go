package e2e_test

import (
	"encoding/json"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/seed61375155/trawl/internal/e2e"
)

// A change replaces text of a source file, for a program of another version.
type change struct{ file, old, new string }

// otherVersion builds a trawld from sources with changes.
func otherVersion(t *testing.T, changes ...change) string {
	t.Helper()
	dir := t.TempDir()
	replace := make(map[string]string)
	for _, c := range changes {
		path, err := filepath.Abs(filepath.Join("../..", c.file))
		if err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		changed := strings.Replace(string(text), c.old, c.new, 1)
		if changed == string(text) {
			t.Fatalf("%s has no %q any more", c.file, c.old)
		}
		replace[path] = filepath.Join(dir, filepath.Base(path))
		if err := os.WriteFile(replace[path], []byte(changed), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "overlay.json"), overlay, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(dir, "trawld")
	build := exec.Command(
		"go", "build", "-ldflags=-w", "-overlay", filepath.Join(dir, "overlay.json"), "-o", program, "../../cmd/trawld",
	)
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return program
}

const (
	wireFile  = "actors/cluster/wire/wire.go"
	protocol  = "const Protocol = 1"
	firstLine = "	b = number(b, fKind, uint64(m.Kind))"
	sendLine  = "cfg.Link.Send(address, m.Append("
)

// A worker node of another protocol is refused in words by both sides; one of the same, that says more than
// this version knows, takes part.
func TestClusterVersions(t *testing.T) {
	e2e.SkipUnderRace(t, "it takes too long")
	t.Parallel()
	l := newLongCluster(t, 0)
	objects := manyScripts(rand.New(rand.NewPCG(4, 4)), 6_000)
	var want any
	for _, test := range []struct {
		name    string
		changes []change
		works   bool
	}{
		{"a later protocol", []change{{wireFile, protocol, "const Protocol = 2"}}, false},
		{"an earlier protocol", []change{{wireFile, protocol, "const Protocol = 0"}}, false},
		{"unknown fields and messages", []change{
			{wireFile, firstLine, firstLine + "\n\tb = text(number(b, 777, 1), 778, []byte(\"later\"))"},
			{"actors/cluster/cluster.go", sendLine, "cfg.Link.Send(address, (&wire.Message{" +
				"Kind: 99, Session: m.Session}).Append(nil)); " + sendLine},
		}, true},
	} {
		program := otherVersion(t, test.changes...)
		at := e2e.FreeAddr(t)
		args := []string{"-clusterlocal=0", "-clusterafter=1", "-clustersecret=" + l.secret}
		workerNode := l.start(program, append(args, "-clusterlisten="+at)...)
		own := e2e.FreeAddr(t)
		coordinator := l.start("", append(args, "-clusterlisten="+own, "-clusternode="+at)...)
		l.coordinator = coordinator
		e2e.Eventually(t, time.Minute, "the worker node answers", func() bool {
			m := l.info().Members
			return len(m) == 1 && (m[0].State == "up") == test.works && (m[0].Refusal == "") == test.works
		})
		if refusal := l.info().Members[0].Refusal; !test.works && !strings.Contains(refusal, "protocol") {
			t.Errorf("%s: %q", test.name, refusal)
		}
		// The other way round: the other version is the coordinator.
		back := l.start(program, append(args, "-clusterlisten="+e2e.FreeAddr(t), "-clusternode="+own)...)
		scan := scanner(objects, 0, l.blocks, nil)
		if want == nil {
			want = scan(l.lone)
		}
		for _, d := range []*e2e.Daemon{coordinator, back} {
			if d == back {
				l.coordinator = back
				e2e.Eventually(t, time.Minute, "the node answers the other version", func() bool {
					m := l.info().Members
					return len(m) == 1 && (m[0].State == "up") == test.works && (m[0].Refusal == "") == test.works
				})
			}
			if got := scan(d); !reflect.DeepEqual(got, want) {
				t.Errorf("%s: got %.300v, want %.300v", test.name, got, want)
			}
			if worked := l.units() > 0; worked != test.works {
				t.Errorf("%s: %+v", test.name, l.info())
			}
		}
		for _, d := range []*e2e.Daemon{workerNode, coordinator, back} {
			if d.HasEnded() {
				t.Errorf("%s: a node has ended: %s", test.name, d.Stderr())
			}
			d.Kill()
		}
	}
}
