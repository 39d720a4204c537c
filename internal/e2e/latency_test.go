package e2e_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/e2e"
	"github.com/seed61375155/trawl/internal/e2e/jsonrpc"
)

const (
	mainnetFile   = "testdata/golden/mainnet/mainnet-0-14131.blk.gz"
	mainnetTip    = "00000000b3e750f37fdb42e1018799a9f44b546d393b130b369590a072430a1c"
	mainnetHeight = 14131

	callers        = 64
	callsPerCaller = 100   // one aborts; the others ask for the status
	scripts        = 5_000 // make a scan last long enough to be looked at
)

// TestAbortLatency has many callers ask for the status of a scan and abort it,
// while it is started again and again. Every reply has to be possible, and the
// times are shown.
func TestAbortLatency(t *testing.T) {
	d := e2e.Start(t, e2e.Config{Args: []string{"-blockfilterindex=1"}, Blocks: []string{mainnetFile}})
	d.WaitTip(mainnetTip, mainnetHeight, true)
	l := &load{client: d.Client, objects: scanObjects(t, d)}
	began := time.Now()
	whole, err := l.scan(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("a whole scan of %d scripts takes %v and finds %d blocks", scripts, time.Since(began).Round(time.Millisecond), len(whole.blocks))

	var working sync.WaitGroup
	for n := range callers {
		working.Go(func() { l.disturb(t, n) })
	}
	done := make(chan struct{})
	go func() {
		working.Wait()
		close(done)
	}()
	l.scanUntil(t, done)
	l.judge(t, d, whole)
	t.Log(l.table())
	d.Stop()
}

// scanObjects returns random scripts, and some that are in the chain.
func scanObjects(t *testing.T, d *e2e.Daemon) []string {
	t.Helper()
	var objects []string
	for height := 0; height <= mainnetHeight; height += 1000 {
		objects = append(objects, "raw("+hex.EncodeToString(coinbaseScript(t, d, height))+")")
	}
	for len(objects) < scripts {
		script := make([]byte, 22)
		rand.Read(script[2:])
		script[1] = 20
		objects = append(objects, "raw("+hex.EncodeToString(script)+")")
	}
	return objects
}

func coinbaseScript(t *testing.T, d *e2e.Daemon, height int) []byte {
	t.Helper()
	var hash, text string
	d.Get(&hash, "getblockhash", height)
	d.Get(&text, "getblock", hash, 0)
	raw, err := hex.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	block := new(wire.MsgBlock)
	if err := block.Deserialize(bytes.NewReader(raw)); err != nil {
		t.Fatal(err)
	}
	return block.Transactions[0].TxOut[0].PkScript
}

// span is the time of a call.
type span struct{ sent, replied time.Time }

func (s span) took() time.Duration { return s.replied.Sub(s.sent) }

// scanned is a scan that has ended.
type scanned struct {
	span
	from, to  int32
	blocks    []string
	completed bool
}

// load is what the callers share.
type load struct {
	client  *jsonrpc.Client
	objects []string

	mu               sync.Mutex
	statuses, aborts []span
	hits             []span // aborts that ended a scan
	scans            []scanned
}

func (l *load) scan(ctx context.Context) (scanned, error) {
	var reply struct {
		From      int32    `json:"from_height"`
		To        int32    `json:"to_height"`
		Blocks    []string `json:"relevant_blocks"`
		Completed bool     `json:"completed"`
	}
	sent := time.Now()
	err := l.client.Call(ctx, &reply, "scanblocks", "start", l.objects)
	return scanned{span{sent, time.Now()}, reply.From, reply.To, reply.Blocks, reply.Completed}, err
}

func (l *load) scanUntil(t *testing.T, done <-chan struct{}) {
	t.Helper()
	for {
		s, err := l.scan(t.Context())
		if err != nil {
			t.Error(err)
		}
		l.scans = append(l.scans, s)
		select {
		case <-done:
			return
		default:
		}
	}
}

// disturb makes the calls of one caller.
func (l *load) disturb(t *testing.T, n int) {
	t.Helper()
	for i := range callsPerCaller {
		isAbort := i == n*callsPerCaller/callers // spread over the time
		s, hit, err := l.call(t.Context(), isAbort)
		if err != nil {
			t.Error(err)
			return
		}
		l.mu.Lock()
		switch {
		case !isAbort:
			l.statuses = append(l.statuses, s)
		case hit:
			l.hits = append(l.hits, s)
			fallthrough
		default:
			l.aborts = append(l.aborts, s)
		}
		l.mu.Unlock()
	}
}

func (l *load) call(ctx context.Context, isAbort bool) (s span, hit bool, err error) {
	s.sent = time.Now()
	if isAbort {
		err = l.client.Call(ctx, &hit, "scanblocks", "abort")
		s.replied = time.Now()
		return s, hit, err
	}
	var status json.RawMessage
	err = l.client.Call(ctx, &status, "scanblocks", "status")
	s.replied = time.Now()
	return s, false, errors.Join(err, checkStatus(status))
}

func checkStatus(text json.RawMessage) error {
	var status *struct {
		Progress *int   `json:"progress"`
		Height   *int32 `json:"current_height"`
	}
	switch err := json.Unmarshal(text, &status); {
	case err != nil:
		return fmt.Errorf("status %s: %w", text, err)
	case status == nil: // no scan
		return nil
	case status.Progress == nil || status.Height == nil:
		return fmt.Errorf("status %s", text)
	case *status.Progress < 0 || *status.Progress > 100 || *status.Height < 0 || *status.Height > mainnetHeight:
		return fmt.Errorf("status %s is out of range", text)
	}
	return nil
}

// judge checks the scans against the undisturbed scan: an aborted scan has
// found the first part of its blocks. As in Core the height is the first
// block's even if no block was looked at.
func (l *load) judge(t *testing.T, d *e2e.Daemon, whole scanned) {
	t.Helper()
	aborted := 0
	for _, s := range l.scans {
		if s.completed {
			if s.to != mainnetHeight || !slices.Equal(s.blocks, whole.blocks) {
				t.Errorf("complete, but to %d with %d blocks", s.to, len(s.blocks))
			}
			continue
		}
		aborted++
		if s.from != 0 || s.to < 0 || s.to > mainnetHeight || len(s.blocks) > len(whole.blocks) ||
			!slices.Equal(s.blocks, whole.blocks[:len(s.blocks)]) {
			t.Errorf("aborted: heights %d to %d with blocks %v", s.from, s.to, s.blocks)
		}
		if missed := len(s.blocks); s.to > 0 && missed < len(whole.blocks) &&
			heightOf(t, d, whole.blocks[missed]) <= s.to {
			t.Errorf("aborted after height %d without block %s", s.to, whole.blocks[missed])
		}
	}
	if aborted > len(l.hits) {
		t.Errorf("%d scans were aborted by %d calls", aborted, len(l.hits))
	}
	if aborted == 0 {
		t.Error("no scan was aborted")
	}
}

func heightOf(t *testing.T, d *e2e.Daemon, hash string) int32 {
	t.Helper()
	var header struct {
		Height int32 `json:"height"`
	}
	d.Get(&header, "getblockheader", hash)
	return header.Height
}

// ends returns how long scans went on after the first call that aborted them.
func (l *load) ends() []time.Duration {
	var times []time.Duration
	for _, s := range l.scans {
		var first time.Time
		for _, hit := range l.hits {
			during := hit.sent.After(s.sent) && hit.sent.Before(s.replied)
			if during && (first.IsZero() || hit.sent.Before(first)) {
				first = hit.sent
			}
		}
		if !s.completed && !first.IsZero() {
			times = append(times, s.replied.Sub(first))
		}
	}
	return times
}

func (l *load) table() string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n%d callers, %d scans\n%-28s %6s %10s %10s %10s\n", callers, len(l.scans), "", "count", "p50", "p99", "max")
	took := func(spans []span) []time.Duration {
		var times []time.Duration
		for _, s := range spans {
			times = append(times, s.took())
		}
		return times
	}
	for _, row := range []struct {
		name  string
		times []time.Duration
	}{
		{"status answered", took(l.statuses)},
		{"abort answered", took(l.aborts)},
		{"scan ended after its abort", l.ends()},
	} {
		slices.Sort(row.times)
		at := func(percent int) time.Duration {
			if len(row.times) == 0 {
				return 0
			}
			return row.times[(len(row.times)-1)*percent/100].Round(10 * time.Microsecond)
		}
		fmt.Fprintf(&b, "%-28s %6d %10v %10v %10v\n", row.name, len(row.times), at(50), at(99), at(100))
	}
	return b.String()
}
