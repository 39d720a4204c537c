package e2e_test

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/e2e"
)

// Searches for a script that every block pays thousands of times find all payments, and nobody reads the
// entries. The node answers as ever: its memory is bounded, and a call that stops a search waits for no long
// write. At the limit of entries the searches pause and tell the reason.
func TestDenseSearches(t *testing.T) {
	t.Parallel()
	searches, blocks, outputs := 4, 4, 800
	if count(t, "TRAWL_SOAK", 4) >= 100 {
		searches, blocks, outputs = 50, 20, 4000
	}
	each := blocks*outputs + 100 + 3*blocks // payments, outputs of the miner, and what is spent
	d := e2e.Start(t, e2e.Config{Chain: "regtest", Args: []string{
		"-blockfilterindex=1", "-searchroom=1", fmt.Sprint("-searchentries=", searches*each+each/2),
	}})
	denseBlocks(t, d, blocks, outputs)
	ids := make([]string, searches)
	began := time.Now()
	for i := range ids {
		var made struct{ ID string }
		d.Get(&made, "createsearch", []string{everybodys}, map[string]any{"follow": true, "name": strconv.Itoa(i)})
		ids[i] = made.ID
	}
	answers := askWhile(t, d, ids)
	for _, id := range ids {
		for deadline := time.Now().Add(10 * time.Minute); ; {
			var st searchState
			d.Get(&st, "getsearch", id)
			if st.State == "following" {
				if st.Found != each {
					t.Errorf("%d entries, want %d", st.Found, each)
				}
				break
			}
			if time.Now().After(deadline) || st.State == "failed" {
				t.Fatalf("%+v", st)
			}
			time.Sleep(50 * time.Millisecond) // not to ask more than to search
		}
	}
	t.Logf("%d entries found in %v; memory %d MB at most\n%s",
		searches*each, time.Since(began).Round(time.Millisecond), peakMB(d), answers())
	if mb := peakMB(d); mb > 700 {
		t.Errorf("memory was %d MB", mb)
	}
	var made struct{ ID string }
	d.Get(&made, "createsearch", []string{everybodys}, map[string]any{"name": "too much"})
	e2e.Eventually(t, time.Minute, "it pauses at the limit", func() bool {
		var st searchState
		d.Get(&st, "getsearch", made.ID)
		return st.State == "paused" && strings.Contains(st.Error, "-searchentries")
	})
	d.Get(nil, "removesearch", ids[0])
	d.Get(nil, "resumesearch", made.ID)
	e2e.Eventually(t, time.Minute, "it goes on", func() bool {
		var st searchState
		d.Get(&st, "getsearch", made.ID)
		return st.State == "done" && st.Found == each
	})
}

type searchState struct {
	State, Error string
	Found        int
}

// askWhile asks about searches, stops them and makes more by one caller a method, until the function that it
// returns is called, which returns a table of how long the answers took.
func askWhile(t *testing.T, d *e2e.Daemon, ids []string) (table func() string) {
	t.Helper()
	ended := make(chan struct{})
	var calling sync.WaitGroup
	var mu sync.Mutex
	times := map[string][]time.Duration{}
	call := func(method string, params ...any) {
		asked := time.Now()
		err := d.Call(t.Context(), nil, method, params...)
		took := time.Since(asked)
		if err != nil {
			t.Error(method, ": ", err)
		}
		mu.Lock()
		defer mu.Unlock()
		times[method] = append(times[method], took)
	}
	for _, calls := range []func(n int){
		func(n int) { call("getsearch", ids[n%len(ids)]) },
		func(int) { call("listsearches") },
		func(n int) { call("getsearchentries", ids[n%len(ids)]) },
		func(n int) {
			call("pausesearch", ids[n%len(ids)])
			call("resumesearch", ids[n%len(ids)])
		},
		func(n int) {
			var made struct{ ID string }
			asked := time.Now()
			if err := d.Call(t.Context(), &made, "createsearch", []string{fmt.Sprintf("raw(52%04x)", n)}); err != nil {
				t.Error(err)
				return
			}
			took := time.Since(asked)
			mu.Lock()
			times["createsearch"] = append(times["createsearch"], took)
			mu.Unlock()
			call("abortsearch", made.ID)
			call("removesearch", made.ID)
		},
	} {
		calling.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-ended:
					return
				case <-time.After(20 * time.Millisecond): // not to ask more than to search
				}
				calls(n)
			}
		})
	}
	return func() string {
		close(ended)
		calling.Wait()
		var b strings.Builder
		for _, method := range slices.Sorted(maps.Keys(times)) {
			list := times[method]
			slices.Sort(list)
			at := func(percent int) time.Duration {
				return list[(len(list)-1)*percent/100].Round(100 * time.Microsecond)
			}
			fmt.Fprintf(&b, "%-18s %5d calls, p50 %v, p99 %v, slowest %v\n", method, len(list), at(50), at(99), at(100))
		}
		return b.String()
	}
}

// denseBlocks mines blocks of which each has a transaction with so many outputs that pay everybody's script.
func denseBlocks(t *testing.T, d *e2e.Daemon, blocks, outputs int) {
	t.Helper()
	var hashes []string
	d.Get(&hashes, "generatetodescriptor", 100+blocks, everybodys)
	for _, hash := range hashes[:blocks] {
		denseBlock(t, d, hash, outputs)
	}
}

// denseBlock mines a block with a transaction of so many outputs that pay everybody's script. It spends what
// another block has made.
func denseBlock(t *testing.T, d *e2e.Daemon, spent string, outputs int) {
	t.Helper()
	var block struct{ Tx []string }
	d.Get(&block, "getblock", spent)
	from, err := chainhash.NewHashFromStr(block.Tx[0])
	if err != nil {
		t.Fatal(err)
	}
	tx := wire.NewMsgTx(2)
	tx.AddTxIn(&wire.TxIn{PreviousOutPoint: wire.OutPoint{Hash: *from}})
	for range outputs {
		tx.AddTxOut(wire.NewTxOut(1000, []byte{0x51}))
	}
	var raw bytes.Buffer
	if err := tx.Serialize(&raw); err != nil {
		t.Fatal(err)
	}
	d.Get(nil, "generateblock", everybodys, []string{hex.EncodeToString(raw.Bytes())})
}

// peakMB is the most memory that a daemon has had, 0 where the system does not tell.
func peakMB(d *e2e.Daemon) int {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", d.PID()))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	line, _, _ := strings.Cut(rest, "\n")
	kilobytes, _ := strconv.Atoi(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(line), "kB")))
	return kilobytes >> 10
}
