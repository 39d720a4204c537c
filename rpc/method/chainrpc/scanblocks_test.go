package chainrpc_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/filters"
	"github.com/seed61375155/trawl/internal/actortest"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
)

type (
	reserveScan = ask.Call[messages.ReserveScan, messages.ScanSlot]
	releaseScan = ask.Call[messages.ReleaseScan, messages.Done]
	runScan     = ask.Call[messages.RunScan, messages.ScanResult]
	scanStatus  = ask.Call[messages.GetScanStatus, messages.ScanStatus]
	abortScan   = ask.Call[messages.AbortScan, bool]
)

// slot is what the probe gives to every scan.
const slot = 42

func (r *rig) reserve(aborted <-chan struct{}) {
	r.t.Helper()
	actortest.Expect[*reserveScan](r.scanner).Answer(messages.ScanSlot{ID: slot, Aborted: aborted}, nil)
}

// expectScan returns the next request to the scanner that is no progress report: a slow machine
// makes more reports.
func expectScan[Q any](r *rig) Q {
	r.t.Helper()
	for {
		switch m := actortest.Expect[any](r.scanner).(type) {
		case *reportScan:
			m.Answer(messages.Done{}, nil)
		case Q:
			return m
		default:
			r.t.Fatalf("the scanner got %T", m)
		}
	}
}

func (r *rig) expectRun() *runScan { return expectScan[*runScan](r) }

func (r *rig) expectRelease() {
	r.t.Helper()
	call := expectScan[*releaseScan](r)
	if call.Req.Slot != slot {
		r.t.Errorf("released slot %d", call.Req.Slot)
	}
	call.Answer(messages.Done{}, nil)
}

// scriptsOf returns the scripts of a scan, in the order in which they were expanded.
func scriptsOf(q *messages.RunScan) [][]byte {
	list := make([][]byte, q.Set.Len())
	for script := range q.Set.Scripts() {
		place, _ := q.Set.(*filters.Query).Place(script)
		list[place] = bytes.Clone(script)
	}
	return list
}

func TestScanStart(t *testing.T) {
	r := newRig(t, "regtest")
	r.chain.MineN(20)
	tests := []struct {
		name, params string
		want         messages.RunScan // without slot
	}{
		{
			"defaults", `["start", ["raw(51)"]]`,
			messages.RunScan{Scripts: [][]byte{{0x51}}, Stop: r.chain.Active().Tip().Hash},
		},
		{
			"all arguments", `["start", ["raw(51)", {"desc": "raw(52)"}], 3, 7, "basic", {"filter_false_positives": true}]`,
			messages.RunScan{
				Scripts: [][]byte{{0x51}, {0x52}}, Start: 3, Stop: r.chain.Active().At(7).Hash, CheckBlocks: true,
			},
		},
		{
			"nulls are defaults", `["start", [], null, null, null, null]`,
			messages.RunScan{Stop: r.chain.Active().Tip().Hash},
		},
		{
			"each script once", `["start", ["raw(51)", {"desc": "raw(51)", "range": [5, 9]}, "raw(5152)"], 20, 20]`,
			messages.RunScan{Scripts: [][]byte{{0x51}, {0x51, 0x52}}, Start: 20, Stop: r.chain.Active().Tip().Hash},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			done := r.start("scanblocks", test.params)
			r.reserve(nil)
			call := r.expectRun()
			got, want := call.Req, test.want
			if got.Slot != slot || got.Start != want.Start || got.Stop != want.Stop ||
				got.CheckBlocks != want.CheckBlocks || !got.Hold ||
				!slices.EqualFunc(scriptsOf(&got), want.Scripts, bytes.Equal) {
				t.Errorf("got %+v, want %+v", got, want)
			}
			call.Answer(messages.ScanResult{From: 1, To: 2, Blocks: []chainhash.Hash{{31: 0xab}}, Completed: true}, nil)
			r.expectRelease()
			const reply = `{"from_height":1,"to_height":2,"relevant_blocks":` +
				`["ab00000000000000000000000000000000000000000000000000000000000000"],"completed":true}`
			if got := <-done; got != reply {
				t.Errorf("got %s, want %s", got, reply)
			}
		})
	}
}

const (
	ranged   = `xpub661MyMwAqRbcEfnKzBKYZm1exC2BpAGvgejnt7pfnav95tVs7uzmfr76kRAYCukTa3GRpnPTnheBpPdazYbCEv94KXR1TK2BgiDxBqH2eT1/*`
	hardened = `wpkh(` + ranged + `h)`
)

// The number of scripts of a range, by branch.
func TestScanRanges(t *testing.T) {
	r := newRig(t, "main")
	for _, test := range []struct {
		object string
		want   int
	}{
		{`"wpkh(` + ranged + `)"`, 1001},
		{`{"desc": "wpkh(` + ranged + `)", "range": null}`, 1001},
		{`{"desc": "wpkh(` + ranged + `)", "range": 4}`, 5},
		{`{"desc": "wpkh(` + ranged + `)", "range": [7, 7]}`, 1},
		{`{"desc": "combo(` + ranged + `)", "range": [3, 4]}`, 8},
	} {
		done := r.start("scanblocks", `["start", [`+test.object+`]]`)
		r.reserve(nil)
		call := r.expectRun()
		if got := call.Req.Set.Len(); got != test.want {
			t.Errorf("%s: got %d scripts, want %d", test.object, got, test.want)
		}
		call.Answer(messages.ScanResult{}, nil)
		r.expectRelease()
		<-done
	}
}

// Every call that fails after it took the slot gives it back. The checks come in the order of
// this table: each call would also fail by the checks below.
func TestScanFailsInOrder(t *testing.T) {
	r := newRig(t, "main")
	r.chain.MineN(10)
	const bad = `[5]`
	object := func(v string) string { return `["start", [` + v + `, 5], 0, 10]` }
	withRange := func(v string) string { return object(`{"desc": "bad", "range": ` + v + `}`) }
	tests := [][2]string{
		{`["start", ` + bad + `, 11, -1, "Basic", {"filter_false_positives": 1}]`, "-5 Unknown filtertype"},
		{`["start", ` + bad + `, 11, -1, "basic", {"filter_false_positives": null}]`, "-3 JSON value of type null is not of expected type bool"},
		{`["start", ` + bad + `, 2147483648, 2147483648]`, "-1 JSON integer out of range"},
		{`["start", ` + bad + `, 1.0, -1]`, "-1 JSON integer out of range"},
		{`["start", ` + bad + `, -1, 2147483648]`, "-1 Invalid start_height"},
		{`["start", ` + bad + `, 11, -1]`, "-1 Invalid start_height"},
		{`["start", ` + bad + `, 0, 2147483648]`, "-1 JSON integer out of range"},
		{`["start", ` + bad + `, 0, -1]`, "-1 Invalid stop_height"},
		{`["start", ` + bad + `, 0, 11]`, "-1 Invalid stop_height"},
		{`["start", ` + bad + `, 5, 4]`, "-1 Invalid stop_height"},
		{`["start"]`, "-3 JSON value of type null is not of expected type array"},
		{`["start", null, 0, 10]`, "-3 JSON value of type null is not of expected type array"},
		{object(`null`), "-8 Scan object needs to be either a string or an object"},
		{object(`["raw(51)"]`), "-8 Scan object needs to be either a string or an object"},
		{object(`{"range": "x"}`), "-8 Descriptor needs to be provided in scan object"},
		{object(`{"desc": null, "range": "x"}`), "-8 Descriptor needs to be provided in scan object"},
		{object(`{"desc": 5, "range": "x"}`), "-3 JSON value of type number is not of expected type string"},
		{withRange(`"x"`), "-8 Range must be specified as end or as [begin,end]"},
		{withRange(`true`), "-8 Range must be specified as end or as [begin,end]"},
		{withRange(`[1]`), "-8 Range must be specified as end or as [begin,end]"},
		{withRange(`[1, "2"]`), "-8 Range must be specified as end or as [begin,end]"},
		{withRange(`[1, 2, 3]`), "-8 Range must be specified as end or as [begin,end]"},
		{withRange(`1.5`), "-1 JSON integer out of range"},
		{withRange(`[1.5, 0]`), "-1 JSON integer out of range"},
		{withRange(`[1, 9223372036854775808]`), "-1 JSON integer out of range"},
		{withRange(`[5, -7]`), "-8 Range specified as [begin,end] must not have begin after end"},
		{withRange(`[-1, 2147483648]`), "-8 Range should be greater or equal than 0"},
		{withRange(`-1`), "-8 End of range is too high"},
		{withRange(`2147483648`), "-8 End of range is too high"},
		{withRange(`[0, 2147483648]`), "-8 End of range is too high"},
		{withRange(`1000000`), "-8 Range is too large"},
		{withRange(`[1, 1000001]`), "-8 Range is too large"},
		{withRange(`[1, 1000000]`), "-5 'bad' is not a valid descriptor function"},
		{object(`"raw(51)x"`), "-5 'raw(51)x' is not a valid descriptor function"},
		{object(`"pk(0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798))"`), "-5 "},
		{object(`"raw(51)#"`), "-5 Expected 8 character checksum, not 0 characters"},
		{object(`"` + hardened + `"`), "-5 Cannot derive script without private keys: '" + hardened + "'"},
		{object(`"raw(51)"`), "-8 Scan object needs to be either a string or an object"},
	}
	for _, test := range tests {
		done := r.start("scanblocks", test[0])
		r.reserve(nil)
		r.expectRelease()
		if got := <-done; got != test[1] {
			t.Errorf("%s\ngot  %s\nwant %s", test[0], got, test[1])
		}
	}
}

// These calls fail before the slot is asked for.
func TestScanRefusals(t *testing.T) {
	r := newRig(t, "regtest")
	r.check("scanblocks", [][2]string{
		{`["Start"]`, `-8 Invalid action 'Start'`},
		{`[""]`, `-8 Invalid action ''`},
		{`["status", [], "x"]`, "-3 Wrong type passed:\n{\n    \"Position 3 (start_height)\": " +
			"\"JSON value of type string is not of expected type number\"\n}"},
	})
	done := r.start("scanblocks", `["start", 5, "x", 0, "Basic"]`)
	if got := <-done; got[:2] != "-3" {
		t.Errorf("got %s", got)
	}
}

func TestScanBusy(t *testing.T) {
	r := newRig(t, "regtest")
	done := r.start("scanblocks", `["start", ["bad"], -1, -1, "Basic"]`)
	actortest.Expect[*reserveScan](r.scanner).Answer(messages.ScanSlot{}, messages.ErrScanBusy)
	if got, want := <-done, `-8 Scan already in progress, use action "abort" or "status"`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	r.scanner.Quiet() // the slot is another's
}

func TestScanFailures(t *testing.T) {
	r := newRig(t, "regtest")
	hash := r.chain.Active().Tip().Hash
	for _, test := range []struct {
		err  error
		want string
	}{
		{&messages.FilterError{Block: hash, Err: errors.New("checksum")}, fmt.Sprintf("-1 Block filter of block %v cannot be read", hash)},
		{fmt.Errorf("block: %w", chainview.ErrPruned), "-1 Block not available (pruned data)"},
		{fmt.Errorf("block: %w", chainview.ErrNotFound), "-1 Block not available (not fully downloaded)"},
		{fmt.Errorf("block: %w", chainview.ErrUnreadable), "-1 Block not found on disk"},
	} {
		done := r.start("scanblocks", `["start", ["raw(51)"]]`)
		r.reserve(nil)
		r.expectRun().Answer(messages.ScanResult{}, test.err)
		r.expectRelease()
		if got := <-done; got != test.want {
			t.Errorf("got %s, want %s", got, test.want)
		}
	}
}

// An abort while scripts are derived ends the call at once.
func TestScanAbortedWhilePreparing(t *testing.T) {
	r := newRig(t, "main")
	r.chain.MineN(9)
	aborted := make(chan struct{})
	done := r.start("scanblocks", `["start", [{"desc": "wpkh(`+ranged+`)", "range": 999999}], 4]`)
	r.reserve(aborted)
	close(aborted)
	r.expectRelease()
	if got, want := <-done, `{"from_height":4,"to_height":4,"relevant_blocks":[],"completed":false}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// The end of the server ends a call too, and does not keep it from giving back
// the slot.
func TestScanEndsWithTheServer(t *testing.T) {
	r := newRig(t, "main")
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan string, 1)
	params := parse(t, `["start", [{"desc": "wpkh(`+ranged+`)", "range": 999999}]]`)
	go func() { done <- r.run(ctx, "scanblocks", params) }()
	r.reserve(nil)
	stop()
	r.expectRelease()
	if got, want := <-done, "-9 Shutting down"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestScanStatus(t *testing.T) {
	r := newRig(t, "regtest")
	for _, test := range []struct {
		status messages.ScanStatus
		want   string
	}{
		{messages.ScanStatus{}, "null"},
		{messages.ScanStatus{Running: true, Height: 7, Progress: 3}, `{"progress":3,"current_height":7}`},
		{
			messages.ScanStatus{Running: true, Progress: 3, Stage: messages.ScanDeriving},
			`{"progress":3,"current_height":0}`,
		},
	} {
		done := r.start("scanblocks", `["status"]`)
		actortest.Expect[*scanStatus](r.scanner).Answer(test.status, nil)
		if got := <-done; got != test.want {
			t.Errorf("got %s, want %s", got, test.want)
		}
	}
	for _, was := range []bool{true, false} {
		done := r.start("scanblocks", `["abort"]`)
		actortest.Expect[*abortScan](r.scanner).Answer(was, nil)
		if got, want := <-done, strconv.FormatBool(was); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// Status and abort pass calls that wait; a start waits too.
func TestScanControlLane(t *testing.T) {
	r := newRig(t, "regtest")
	for action, want := range map[string]bool{"status": true, "abort": true, "start": false, "nope": false} {
		call, err := r.table.Prepare(command.Caller{}, "scanblocks", parse(t, `["`+action+`"]`))
		if err != nil {
			t.Fatal(err)
		}
		if got := call.Control(); got != want {
			t.Errorf("%s: got %v, want %v", action, got, want)
		}
	}
}

// Of thousands of objects, which are parsed side by side, the first bad one is told
// of, and the scripts keep their order.
func TestScanManyObjects(t *testing.T) {
	const n = 10_000
	r := newRig(t, "main")
	r.deps.Spread = func(work func()) { go work() }
	r.build()
	objects := make([]string, n)
	var want [][]byte
	for i := range objects {
		script := []byte{0x51, byte(i >> 8), byte(i)}
		want = append(want, script)
		objects[i] = fmt.Sprintf(`"raw(%x)"`, script)
		switch i % 500 {
		case 1:
			objects[i] = fmt.Sprintf(`"%s"`, descriptor.AddChecksum(fmt.Sprintf("raw(%X)", script)))
		case 2:
			objects[i] = fmt.Sprintf(`{"desc": "raw(%x)", "range": 5}`, script)
		case 3:
			want[i] = nil // some script of 22 bytes
			objects[i] = fmt.Sprintf(`{"desc": "wpkh(%s)", "range": [%d, %d]}`, ranged, i, i)
		}
	}
	done := r.start("scanblocks", `["start", [`+strings.Join(objects, ",")+`]]`)
	r.reserve(nil)
	call := r.expectRun()
	for i, script := range scriptsOf(&call.Req) {
		if i >= n || want[i] != nil && !bytes.Equal(script, want[i]) || want[i] == nil && len(script) != 22 {
			t.Fatalf("script %d is %x, want %x", i, script, want[i])
		}
	}
	if got := call.Req.Set.Len(); got != n {
		t.Errorf("%d scripts, want %d", got, n)
	}
	call.Answer(messages.ScanResult{}, nil)
	r.expectRelease()
	<-done

	for _, first := range []int{0, 63, 64, 4095, 4096, n - 2} {
		bad := slices.Clone(objects)
		bad[first], bad[first+1] = fmt.Sprintf(`"bad%d(51)"`, first), `5`
		done := r.start("scanblocks", `["start", [`+strings.Join(bad, ",")+`]]`)
		r.reserve(nil)
		r.expectRelease()
		if got, want := <-done, fmt.Sprintf("-5 'bad%d(51)' is not a valid descriptor function", first); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
