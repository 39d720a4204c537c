package e2e_test

import (
	"context"
	"encoding/hex"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/seed61375155/trawl/internal/e2e"
)

// TestKill9DuringReorganisation kills a node while one call moves its tip over
// many blocks, back or to another branch. The call may be done in part, but
// the node has everything that it acknowledged before, and goes on.
func TestKill9DuringReorganisation(t *testing.T) {
	t.Parallel()
	o := newOracle()
	chain := o.addFile(t, chainFile)
	branch := o.addFile(t, branchFile)
	overtaking := chainHeight + 1 - (branchHeight - len(branch) + 1) // index of the block that outweighs the chain
	taken, _, err := hashes(chain[chainHeight-50])
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name   string
		before [][]byte // submitted first
		method string
		param  string
		floor  int32 // the tip is not lower, whether the call is carried out or not
	}{
		{"branch", branch[:overtaking], "submitblock", hex.EncodeToString(branch[overtaking]), chainHeight},
		{"invalidated", nil, "invalidateblock", taken.String(), chainHeight - 51},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			own := o.clone() // learns the blocks that this node mines
			d := startIndexed(t, chainFile)
			d.WaitTip(chainTip, chainHeight, true)
			for _, raw := range test.before {
				d.Get(nil, "submitblock", hex.EncodeToString(raw))
			}
			d.Stop()
			takes := timeOf(t, copyOf(t, d), test.method, test.param)
			for range count(t, "TRAWL_SOAK", 8) / 4 {
				cut := copyOf(t, d)
				a := own.audits(cut)
				after := time.Duration(rand.Int64N(int64(takes)))
				killDuring(t, cut, after, test.method, test.param)
				cut.Restart()
				height := a.check(t)
				t.Logf("killed after %v of %v; up again at height %d", after, takes, height)
				if height < test.floor {
					t.Errorf("the tip is at %d, below %d", height, test.floor)
				}
				cut.Get(nil, "generatetoaddress", 1, newAddress())
				a.check(t)
				cut.Stop()
			}
		})
	}
}

// copyOf starts a daemon on a copy of a stopped daemon's directory.
func copyOf(t *testing.T, d *e2e.Daemon) *e2e.Daemon {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "copy")
	if err := os.CopyFS(dir, os.DirFS(d.Dir)); err != nil {
		t.Fatal(err)
	}
	return e2e.Start(t, e2e.Config{Chain: "regtest", Args: []string{"-blockfilterindex=1"}, Dir: dir})
}

// timeOf returns how long a call takes that nobody interrupts.
func timeOf(t *testing.T, d *e2e.Daemon, method, param string) time.Duration {
	t.Helper()
	began := time.Now()
	d.Get(nil, method, param)
	took := time.Since(began)
	d.Stop()
	return took
}

// killDuring kills a node some time after it was called.
func killDuring(t *testing.T, d *e2e.Daemon, after time.Duration, method, param string) {
	t.Helper()
	client := d.Client
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		// The reply, or that there is none, tells nothing here.
		_ = client.Call(context.WithoutCancel(t.Context()), nil, method, param)
	}()
	<-time.After(after)
	d.Kill()
	<-ended
}
