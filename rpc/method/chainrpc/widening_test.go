package chainrpc_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/actortest"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/messages"
)

// testKey is an extended public key.
const testKey = `tpubD6NzVbkrYhZ4WaWSyoBvQwbpLkojyoTZPRsgXELWz3Popb3qkjcJyJUGLnL4qHHoQvao8ESaAstxYSnhyswJ76u` +
	`ZPStJRJCTKvosUCJZL5B`

// TestGapRefused refuses wrong gaps, gaps for methods that do not widen, and ranges beyond the limit.
func TestGapRefused(t *testing.T) {
	r := newRig(t, "regtest")
	r.realScanner()
	const key = testKey
	object := func(rest string) string { return `[{"desc":"wpkh(` + key + `/0/*)"` + rest + `}]` }
	start := func(objects string) string { return `["start",` + objects + `]` }
	const badGap = "-8 gap must be between 1 and 100000"
	r.check("scanblocks", [][2]string{
		{start(object(`,"gap":0`)), badGap},
		{start(object(`,"gap":-1`)), badGap},
		{start(object(`,"gap":100001`)), badGap},
		{start(object(`,"gap":"20"`)), "-3 JSON value of type string is not of expected type number"},
		{start(object(`,"gap":1.5`)), "-1 JSON integer out of range"},
		{
			start(`[{"desc":"raw(51)","gap":20}]`),
			`{"from_height":0,"to_height":0,"relevant_blocks":[],"completed":true}`,
		},
		{start(`[{"desc":"wpkh(` + key + `/0h/*h)","gap":20}]`),
			"-5 Cannot derive script without private keys: 'wpkh(" + key + "/0h/*h)'"},
	})
	r.check("getdescriptoractivity", [][2]string{{`[[],` + object(`,"gap":0`) + `]`, badGap}})
	coins := r.sys.Probe("coins")
	r.deps.Coins = coins.Ref
	r.build()
	done := r.start("scantxoutset", start(object(`,"gap":20`)))
	type reserve = ask.Call[messages.ReserveCoinScan, messages.ScanSlot]
	type release = ask.Call[messages.ReleaseCoinScan, messages.Done]
	actortest.Expect[*reserve](coins).Answer(messages.ScanSlot{ID: slot}, nil)
	actortest.Expect[*release](coins).Answer(messages.Done{}, nil)
	if got := <-done; got != "-8 gap cannot be given to this method: take scanblocks or createsearch" {
		t.Error(got)
	}
	r.deps.ScriptLimit = 1000
	r.build()
	r.check("scanblocks", [][2]string{
		{start(object(`,"gap":1001,"range":0`)), "-8 Limit of -searchscripts is reached"},
		{
			start(object(`,"gap":1000,"range":0`)),
			`{"from_height":0,"to_height":0,"relevant_blocks":[],"completed":true,"descriptors":[{"desc":"wpkh(` + key +
				`/0/*)","range":[0,999],"gap":1000,"exhausted":false}]}`,
		},
	})
}

// TestWideningAborted aborts a scan in its second round: nothing says that it is complete.
func TestWideningAborted(t *testing.T) {
	r := newRig(t, "regtest")
	r.chain.MineN(9)
	done := r.start("scanblocks", `["start",[{"desc":"wpkh(`+testKey+`/0/*)","range":3,"gap":5}]]`)
	aborted := make(chan struct{})
	r.reserve(aborted)
	call := r.expectRun()
	if !call.Req.Uses || !call.Req.CheckBlocks {
		t.Errorf("asked for %+v", call.Req)
	}
	at := r.chain.Active()
	call.Answer(messages.ScanResult{
		To: 9, Completed: true, Blocks: []chainhash.Hash{at.At(3).Hash, at.At(7).Hash},
		Uses: [][]uint32{{0}, {uint32(call.Req.Set.Len()) - 1}},
	}, nil)
	call = r.expectRun()
	call.Answer(messages.ScanResult{To: 5}, nil)
	r.expectRelease()
	got := <-done
	var a widenedAnswer
	if err := json.Unmarshal([]byte(got), &a); err != nil {
		t.Fatal(got, err)
	}
	if a.Completed || !slices.Equal(*a.Blocks, []string{at.At(3).Hash.String()}) ||
		!strings.Contains(got, `"to_height":5,`) {
		t.Errorf("got %s", got)
	}
	for _, d := range a.Descriptors {
		if !d.Exhausted {
			t.Errorf("got %s", got)
		}
	}
}
