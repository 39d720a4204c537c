package chainrpc_test

import (
	"encoding/json"
	"slices"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/actortest"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chaintest"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/method/chainrpc"
)

type reportScan = ask.Call[messages.ReportScan, messages.Done]

// slowChain takes a second to read a block.
type slowChain struct{ chainview.Reader }

func (c slowChain) Block(hash *chainhash.Hash) (*wire.MsgBlock, error) {
	time.Sleep(time.Second)
	return c.Reader.Block(hash)
}

// slowRig is a chain of 40 blocks, which take a second each, and their hashes.
func slowRig(t *testing.T) (*rig, []chainhash.Hash) {
	t.Helper()
	actortest.InBubble(t)
	r := newRig(t, "regtest")
	var blocks []chainhash.Hash
	for range 40 {
		blocks = append(blocks, r.chain.Mine(chaintest.Template{Script: []byte{0x51}}).Hash)
	}
	slow := new(chainview.Current)
	slow.Set(slowChain{r.chain})
	r.deps.Chain = slow
	r.build()
	return r, blocks
}

// The second half of a scan with activity is part of the scan. Its progress is reported, an
// abort ends it at the next block, and the slot is held until the call is answered. The result
// of an aborted scan ends before the first block whose activity it lacks.
func TestActivityIsPartOfTheScan(t *testing.T) {
	for _, after := range []int{-1, 0, 10, 39, 40} { // blocks before the abort
		t.Run(strconv.Itoa(after), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r, blocks := slowRig(t)
				aborted := make(chan struct{})
				done := r.start("scanblocks", `["start", ["raw(51)"], 0, 40, "basic", {"activity": true}]`)
				r.reserve(aborted)
				call := r.expectRun()
				if !call.Req.Hold {
					t.Error("the slot is not held")
				}
				if after < 0 {
					close(aborted)
				}
				call.Answer(messages.ScanResult{To: 40, Blocks: slices.Clone(blocks), Completed: after >= 0}, nil)
				read := max(after, 0)
				for n := 1; n <= read; n++ {
					report := actortest.Expect[*reportScan](r.scanner)
					if want := min(n*100/40, 99); report.Req.Slot != slot || report.Req.Progress != want {
						t.Errorf("after %d blocks: %+v, want %d %%", n, report.Req, want)
					}
					if n == after {
						close(aborted)
					}
					report.Answer(messages.Done{}, nil)
				}
				if after == 0 {
					time.Sleep(time.Second / 2) // while the first block is read
					close(aborted)
					read = 1
					actortest.Expect[*reportScan](r.scanner).Answer(messages.Done{}, nil)
				}
				release := expectScan[*releaseScan](r)
				release.Answer(messages.Done{}, nil)
				var got struct {
					To        int32             `json:"to_height"`
					Blocks    []string          `json:"relevant_blocks"`
					Completed bool              `json:"completed"`
					Activity  []json.RawMessage `json:"activity"`
				}
				if text := <-done; json.Unmarshal([]byte(text), &got) != nil {
					t.Fatal(text)
				}
				whole := read == 40
				if len(got.Blocks) != read || len(got.Activity) != read || got.Completed != whole ||
					got.To != int32(read) || release.Req.Completed != whole {
					t.Errorf("got %+v after %d blocks, released %+v", got, read, release.Req)
				}
			})
		})
	}
}

// A scan whose keys take long says how far it is with them, and an abort ends that.
func TestDerivingIsReported(t *testing.T) {
	r := newRig(t, "main")
	aborted := make(chan struct{})
	done := r.start("scanblocks", `["start", [{"desc": "wpkh(`+ranged+`)", "range": 999999}]]`)
	r.reserve(aborted)
	var seen []int
	for range 3 {
		report := actortest.Expect[*reportScan](r.scanner)
		seen = append(seen, report.Req.Progress)
		if len(seen) == 3 {
			close(aborted)
		}
		report.Answer(messages.Done{}, nil)
	}
	r.expectRelease()
	if !slices.IsSorted(seen) || seen[0] == seen[2] || seen[2] > 99 {
		t.Errorf("reported %v", seen)
	}
	if got, want := <-done, `{"from_height":0,"to_height":0,"relevant_blocks":[],"completed":false}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// Reports are seldom, and never say that all is done.
func TestReportsAreSeldom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told []int
		report := chainrpc.Reporting(func(percent int) { told = append(told, percent) })
		for i := range 1001 {
			report(float64(i) / 1000)
			time.Sleep(10 * time.Millisecond)
		}
		report(1)
		if len(told) < 39 || len(told) > 41 || !slices.IsSorted(told) || told[len(told)-1] > 99 {
			t.Errorf("%d reports: %v", len(told), told)
		}
	})
}
