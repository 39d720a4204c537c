package e2e_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/seed61375155/trawl/internal/e2e"
)

// clusterReply is the result of getclusterinfo.
type clusterReply struct {
	Members []struct {
		Address string `json:"address"`
		State   string `json:"state"`
		Units   uint64 `json:"units"`
		Refusal string `json:"refusal"`
	} `json:"members"`
	Refused uint64 `json:"refused"`
}

func (r *clusterReply) up() (n int) {
	for _, m := range r.Members {
		if m.State == "up" {
			n++
		}
	}
	return n
}

// clusterNode starts a node of a cluster.
func clusterNode(t *testing.T, secret string, args ...string) (d *e2e.Daemon, at string) {
	t.Helper()
	at = e2e.FreeAddr(t)
	d = e2e.Start(t, e2e.Config{
		Chain: "regtest", Blocks: []string{chainFile},
		Args: append([]string{"-blockfilterindex=1", "-par=1", "-clusterlisten=" + at, "-clustersecret=" + secret}, args...),
	})
	d.WaitTip(chainTip, chainHeight, true)
	return d, at
}

// manyScripts returns scan objects that take a node longer than what is not lent, and match
// many blocks by chance.
func manyScripts(rng *rand.Rand, n int) []string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf("raw(0014%016x%016x%08x)", rng.Uint64(), rng.Uint64(), rng.Uint32())
	}
	return list
}

// A front without workers of its own gives the answers of a lone node, while its members are
// killed, paused and started again.
func TestClusterEqual(t *testing.T) {
	t.Parallel()
	scans := count(t, "TRAWL_SOAK", 6)
	seed := uint64(time.Now().UnixNano())
	rng := rand.New(rand.NewPCG(seed, 7))
	t.Logf("seed %d", seed)
	secret := filepath.Join(t.TempDir(), "secret")
	var members []*e2e.Daemon
	// The front is slow, so that members take part before it is done by itself.
	args := []string{
		"-clusterlocal=0", "-clusteraudit=0", "-clusterafter=1", "-filterkernel=portable", "-filterlayout=plain",
	}
	for range 3 {
		d, at := clusterNode(t, secret)
		members = append(members, d)
		args = append(args, "-clusternode="+at)
	}
	if info, err := os.Stat(secret); err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("the file of the secret: %v, %v", info, err)
	}
	front, _ := clusterNode(t, secret, args...)
	lone := e2e.Start(t, e2e.Config{
		Chain: "regtest", Blocks: []string{chainFile}, Args: []string{"-blockfilterindex=1"},
	})
	lone.WaitTip(chainTip, chainHeight, true)
	var info clusterReply
	e2e.Eventually(t, time.Minute, "all members are up", func() bool {
		front.Get(&info, "getclusterinfo")
		return info.up() == len(members)
	})
	for i := range scans {
		objects := manyScripts(rng, 250_000+rng.IntN(200_000))
		from := rng.IntN(chainHeight / 4)
		check := map[string]bool{"filter_false_positives": i%3 == 2}
		var want, got any
		lone.Get(&want, "scanblocks", "start", objects, from, chainHeight, "basic", check)
		done := make(chan error, 1)
		go func() {
			done <- front.Call(t.Context(), &got, "scanblocks", "start", objects, from, chainHeight, "basic", check)
		}()
		if i > 0 { // the first is undisturbed
			disturb(rng, members, done, time.Now().Add(time.Minute))
		}
		if err := <-done; err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("scan %d from %d: %v\ngot  %.300v\nwant %.300v", i, from, err, got, want)
		}
		for _, m := range members {
			if m.HasEnded() {
				m.Restart()
			}
		}
	}
	front.Get(&info, "getclusterinfo")
	units := uint64(0)
	for _, m := range info.Members {
		units += m.Units
	}
	if units == 0 {
		t.Errorf("the members have done nothing in %d scans: %+v", scans, info)
	}
}

// disturb kills and pauses members for a while, and leaves none paused.
func disturb(rng *rand.Rand, members []*e2e.Daemon, done chan error, end time.Time) {
	for range 1 + rng.IntN(3) {
		m := members[rng.IntN(len(members))]
		if m.HasEnded() || time.Now().After(end) || len(done) > 0 {
			return
		}
		<-time.After(time.Duration(rng.IntN(300)) * time.Millisecond)
		if rng.IntN(2) == 0 {
			m.Kill()
			continue
		}
		m.Signal(syscall.SIGSTOP)
		<-time.After(time.Duration(rng.IntN(1500)) * time.Millisecond)
		m.Signal(syscall.SIGCONT)
	}
}

// A node with another secret gets nowhere, and none starts that would let anybody in.
func TestClusterDoor(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	member, at := clusterNode(t, filepath.Join(dir, "one"))
	stranger, _ := clusterNode(t, filepath.Join(dir, "two"), "-clusternode="+at)
	e2e.Eventually(t, time.Minute, "the member refuses the stranger", func() bool {
		var info clusterReply
		member.Get(&info, "getclusterinfo")
		return info.Refused > 0
	})
	var info clusterReply
	stranger.Get(&info, "getclusterinfo")
	if len(info.Members) != 1 || info.Members[0].State != "down" {
		t.Errorf("got %+v", info)
	}
	text, err := os.ReadFile(filepath.Join(dir, "one"))
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range []*e2e.Daemon{member, stranger} {
		if strings.Contains(d.Log(), strings.TrimSpace(string(text))) {
			t.Error("the secret is in the log")
		}
	}
	lone := e2e.Start(t, e2e.Config{Chain: "regtest"})
	if err := lone.Call(t.Context(), nil, "getclusterinfo"); err == nil ||
		!strings.Contains(err.Error(), "The node is in no cluster") {
		t.Error(err)
	}
}
