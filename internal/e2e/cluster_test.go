package e2e_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
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

// manyScripts returns scan objects that take a node longer than what is not leased, and match
// many blocks by chance.
func manyScripts(rng *rand.Rand, n int) []string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf("raw(0014%016x%016x%08x)", rng.Uint64(), rng.Uint64(), rng.Uint32())
	}
	return list
}

// A coordinator without workers of its own gives the answers of a lone node, and of Bitcoin Core where BITCOIND
// names one, while its worker nodes are killed, paused and started again.
func TestClusterEqual(t *testing.T) {
	t.Parallel()
	scans := count(t, "TRAWL_SOAK", 6)
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	l := newLongCluster(t, 3)
	if info, err := os.Stat(l.secret); err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("the file of the secret: %v, %v", info, err)
	}
	e := equality{longCluster: l, rng: rand.New(rand.NewPCG(seed, 7)), stopped: make(map[*e2e.Daemon]bool)}
	if program := os.Getenv("BITCOIND"); program != "" {
		// Its check of the block index stops it when -loadblock meets an empty data directory.
		e.core = l.loaded(program, l.file, l.blocks-ownBlocks, "-checkblockindex=0")
		l.finish(e.core)
	}
	began := time.Now()
	wait := e.beside()
	for i := range scans {
		e.scan(i, i > 0) // the first is undisturbed
		if (i+1)%10 == 0 || i+1 == scans {
			t.Logf("%v: %d scans, %d of them helped, %+v", time.Since(began).Round(time.Second), i+1, e.helped, e.did)
		}
	}
	wait()
	if e.core != nil {
		t.Logf("%d results are those of Bitcoin Core", e.equal)
	}
	if e.helped < scans/2 {
		t.Errorf("the worker nodes have worked in %d of %d scans: %+v", e.helped, scans, l.info())
	}
}

// equality is scans by several nodes that have to give the same.
type equality struct {
	*longCluster
	rng *rand.Rand

	core     *e2e.Daemon   // Bitcoin Core; nil: none
	requests chan coreScan // what it is to scan for
	equal    int           // results of it that are the same

	stopped map[*e2e.Daemon]bool // by a signal
	did     disturbances
	helped  int // scans in which worker nodes have worked
}

// coreScan is a scan whose result is known.
type coreScan struct {
	of   string
	scan func(d *e2e.Daemon) any
	want any
}

// beside has Bitcoin Core, which takes longest, run the same scans in the background. It returns a function that
// waits for their end.
func (e *equality) beside() (wait func()) {
	e.Helper()
	if e.core == nil {
		return func() {}
	}
	e.requests = make(chan coreScan, 8)
	var group sync.WaitGroup
	group.Go(func() {
		for r := range e.requests {
			if got := r.scan(e.core); !reflect.DeepEqual(got, r.want) {
				e.Errorf("%s:\nCore %.300v\nwant %.300v", r.of, got, r.want)
				continue
			}
			e.equal++
		}
	})
	return func() {
		close(e.requests)
		group.Wait()
	}
}

// disturbances counts what was done to worker nodes.
type disturbances struct{ kills, pauses, restarts int }

// scan scans for random scripts in random blocks, while worker nodes are disturbed.
func (e *equality) scan(i int, disturbed bool) {
	e.Helper()
	scripts := 2_000 + e.rng.IntN(8_000)
	if i%10 == 0 {
		scripts = 40_000
	}
	objects := append(manyScripts(e.rng, scripts), "raw(51)")
	from, to := e.rng.IntN(e.blocks/4), e.blocks-e.rng.IntN(e.blocks/4)
	options := map[string]bool{"filter_false_positives": i%3 == 2}
	scan := func(d *e2e.Daemon) (got any) {
		if err := d.Call(e.Context(), &got, "scanblocks", "start", objects, from, to, "basic", options); err != nil {
			return err
		}
		return got
	}
	began := time.Now()
	want := scan(e.lone)
	if err, failed := want.(error); failed {
		e.Fatal(err)
	}
	took, before := time.Since(began), e.units()
	of := fmt.Sprintf("scan %d from %d to %d", i, from, to)
	if e.core != nil {
		e.requests <- coreScan{of, scan, want}
	}
	got := make(chan any, 1)
	go func() { got <- scan(e.coordinator) }()
	if disturbed {
		e.disturb(got, took)
	}
	if found := <-got; !reflect.DeepEqual(found, want) {
		e.Errorf("%s:\ngot  %.300v\nwant %.300v", of, found, want)
	}
	if e.units() > before {
		e.helped++
	}
	for _, m := range e.workerNodes {
		if m.HasEnded() {
			m.Restart()
			e.did.restarts++
		}
	}
}

// disturb kills worker nodes, pauses them and starts them again until a scan is done that takes a lone node so
// long, and leaves none paused.
func (e *equality) disturb(done chan any, took time.Duration) {
	e.Helper()
	for {
		<-time.After(time.Duration(e.rng.Int64N(int64(took)/2 + 1)))
		if len(done) > 0 {
			break
		}
		switch m := e.workerNodes[e.rng.IntN(len(e.workerNodes))]; {
		case m.HasEnded():
			m.Restart()
			e.did.restarts++
		case e.rng.IntN(2) == 0:
			m.Kill()
			delete(e.stopped, m)
			e.did.kills++
		case e.stopped[m]:
			m.Signal(syscall.SIGCONT)
			delete(e.stopped, m)
		default:
			m.Signal(syscall.SIGSTOP)
			e.stopped[m] = true
			e.did.pauses++
		}
	}
	for m := range e.stopped {
		m.Signal(syscall.SIGCONT)
	}
	clear(e.stopped)
}

// A node with another secret gets nowhere, and none starts that would let anybody in.
func TestClusterDoor(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	workerNode, at := clusterNode(t, filepath.Join(dir, "one"))
	stranger, _ := clusterNode(t, filepath.Join(dir, "two"), "-clusternode="+at)
	e2e.Eventually(t, time.Minute, "the worker node refuses the stranger", func() bool {
		var info clusterReply
		workerNode.Get(&info, "getclusterinfo")
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
	for _, d := range []*e2e.Daemon{workerNode, stranger} {
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

// The secret is changed while the cluster goes on. Node after node starts again, first with both secrets accepted,
// and worker nodes take part in each scan in between. At the end a node with the old secret alone is refused.
func TestClusterSecretChanges(t *testing.T) {
	e2e.SkipUnderRace(t, "it takes too long")
	t.Parallel()
	l := newLongCluster(t, 2)
	rng := rand.New(rand.NewPCG(6, 6))
	next := filepath.Join(t.TempDir(), "next")
	secret := fmt.Appendf(nil, "%016x%016x%016x%016x\n", rng.Uint64(), rng.Uint64(), rng.Uint64(), rng.Uint64())
	if err := os.WriteFile(next, secret, 0o600); err != nil {
		t.Fatal(err)
	}
	scan := scanner(manyScripts(rng, 6_000), 0, l.blocks, nil)
	for i, secrets := range [][]string{{l.secret, next}, {next, l.secret}, {next}} {
		var accepted []string
		for _, s := range secrets {
			accepted = append(accepted, "-clustersecret="+s)
		}
		for at, m := range l.workerNodes {
			l.workerNodes[at] = l.again(m, append(accepted, "-clusterlisten="+l.at[at])...)
			l.up(2)
			l.same(fmt.Sprintf("step %d, worker node %d", i, at), scan)
		}
		l.coordinator = l.again(l.coordinator, append(
			accepted, "-clusterlisten="+e2e.FreeAddr(t), "-clusterlocal=0", "-clusterafter=1", "-clusteraudit=0",
			"-clusternode="+l.at[0], "-clusternode="+l.at[1],
		)...)
		l.up(2)
		l.same(fmt.Sprintf("step %d, the coordinator", i), scan)
	}
	stranger, _ := l.clustered("-clusternode=" + l.at[0])
	e2e.Eventually(t, time.Minute, "the old secret is refused", func() bool {
		var info clusterReply
		l.workerNodes[0].Get(&info, "getclusterinfo")
		return info.Refused > 0
	})
	var info clusterReply
	if stranger.Get(&info, "getclusterinfo"); info.up() != 0 {
		t.Errorf("the old secret is accepted: %+v", info)
	}
}

// again stops a node and starts it with other options of the cluster.
func (l *longCluster) again(d *e2e.Daemon, args ...string) *e2e.Daemon {
	l.Helper()
	d.Stop()
	d = e2e.Start(l, e2e.Config{
		Chain: "regtest", Dir: d.Dir, Args: append(append([]string{"-blockfilterindex=1"}, slow...), args...),
	})
	l.await(d, l.blocks)
	return d
}
