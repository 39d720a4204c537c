package chain_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"log/slog"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed61375155/trawl/actors/chain"
	"github.com/seed61375155/trawl/internal/actortest"
	"github.com/seed61375155/trawl/internal/enginetest"
	"github.com/seed61375155/trawl/internal/nodemsg"
	"github.com/seed61375155/trawl/messages"
)

// A record is a log that a test reads while it is written.
type record struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (r *record) Write(line []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.Write(line)
}

// take returns the messages so far, and forgets them.
func (r *record) take() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	text := r.text.String()
	r.text.Reset()
	return text
}

// recorded makes the actor's log a record.
func recorded(log *record, now func() time.Time) func(*chain.Config) {
	return func(c *chain.Config) { c.Log, c.Now = slog.New(slog.NewTextHandler(log, nil)), now }
}

var tipLine = regexp.MustCompile(`UpdateTip: new best=([0-9a-f]{64}) height=(\d+) version=0x\d+ log2_work=[\d.]+ ` +
	`tx=(\d+) date='[^']*' progress=(\d\.\d{6}) cache=[\d.]+MiB\((\d+)txo\)`)

// The line about a new tip counts transactions and unspent outputs in memory, and says
// how far the validation is by the node's clock.
func TestTipLine(t *testing.T) {
	var log record
	now := time.Now()
	var mu sync.Mutex
	f := spawnWith(t, recorded(&log, func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		return now
	}))
	do(t, f, messages.WaitOpen{})
	log.take()
	for _, test := range []struct {
		ahead    time.Duration
		blocks   int
		progress string // at a thousandth of a transaction a second
	}{
		{0, 1, "1.000000"},
		{3 * time.Hour, 1, fmt.Sprintf("%f", 3/(3+10.8))},
	} {
		mu.Lock()
		now = time.Now().Add(test.ahead).Truncate(time.Second)
		mu.Unlock()
		tip := f.generate(t, test.blocks)
		text := log.take()
		got := tipLine.FindStringSubmatch(text)
		if got == nil {
			t.Fatalf("no such line in %s", text)
		}
		txs, coins := strconv.Itoa(int(tip.Height)+1), strconv.Itoa(int(tip.Height))
		if got[1] != tip.Hash.String() || got[3] != txs || got[5] != coins {
			t.Errorf("got %q, want tip %v, %s transactions, %s coins", got, tip.Hash, txs, coins)
		}
		if got[4][:4] != test.progress[:4] { // the block's time is a second or so off
			t.Errorf("got progress %s, want %s", got[4], test.progress)
		}
	}
	tip := f.generate(t, 2)
	log.take()
	below := f.current.Open().Lookup(&tip.Hash).Parent.Parent
	do(t, f, messages.InvalidateBlock{Hash: below.Hash})
	var heights []string
	for _, line := range tipLine.FindAllStringSubmatch(log.take(), -1) {
		if height, _ := strconv.Atoi(line[2]); line[3] != strconv.Itoa(height+1) {
			t.Errorf("%s transactions at height %d", line[3], height)
		}
		heights = append(heights, line[2])
	}
	if got := strings.Join(heights, " "); got != "3 2 1" {
		t.Errorf("lines of heights %s when blocks are taken back", got)
	}
}

// Core's lines tell when the reading of block files begins and ends.
func TestImportLines(t *testing.T) {
	var log record
	f := spawnWith(t, recorded(&log, nil), blockFile(t, 0, enginetest.Blocks(t, enginetest.Chain)[:3]...))
	do(t, f, messages.WaitImported{})
	text := log.take()
	start, end := strings.Index(text, "initload thread start"), strings.Index(text, "initload thread exit")
	if start < 0 || end < start || strings.Index(text, "Loaded blocks from external file") > end {
		t.Errorf("got %s", text)
	}
	if strings.Contains(text, "Reindexing finished") {
		t.Errorf("a file of somebody else is no reindexing: %s", text)
	}
	if strings.Contains(text, "no blocks of this network") {
		t.Errorf("there are blocks in the file: %s", text)
	}
}

// A file without blocks of the network is warned of: it is of another network, empty, or compressed.
func TestImportOfNothing(t *testing.T) {
	blocks := enginetest.Blocks(t, enginetest.Chain)[:3]
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if _, err := z.Write(records(t, 0, blocks...)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	other := bytes.ReplaceAll(records(t, 0, blocks...), []byte{0xfa, 0xbf, 0xb5, 0xda}, []byte{0xf9, 0xbe, 0xb4, 0xd9})
	for name, content := range map[string][]byte{"compressed": packed.Bytes(), "another network": other, "empty": nil} {
		var log record
		dir := t.TempDir()
		file := write(t, filepath.Join(dir, "given.dat"), content)
		f := spawnWith(t, recorded(&log, nil), file, blockFile(t, 0, blocks...))
		do(t, f, messages.WaitImported{})
		text := log.take()
		if n := strings.Count(text, "no blocks of this network"); n != 1 || !strings.Contains(text, file) {
			t.Errorf("%s: %d warnings in %s", name, n, text)
		}
	}
}

// Where the chain is behind the best header, the log says in words how far it is; a node that has
// all blocks says nothing.
func TestSyncProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		actortest.InBubble(t)
		var log record
		f := spawnWith(t, recorded(&log, nil))
		blocks := enginetest.Blocks(t, enginetest.Chain)[:60]
		var headers [][]byte
		for _, raw := range blocks[1:] {
			headers = append(headers, raw[:80])
		}
		do(t, f, nodemsg.AcceptHeaders{Headers: headers})
		for _, raw := range blocks[1:] {
			do(t, f, messages.SubmitBlock{Raw: raw})
			time.Sleep(2 * time.Second)
		}
		for range 100 {
			f.generate(t, 1)
			time.Sleep(2 * time.Second)
		}
		var logged []string
		for line := range strings.Lines(log.take()) {
			if strings.Contains(line, "Synchronizing blocks") {
				logged = append(logged, line)
			}
		}
		want := regexp.MustCompile(`Synchronizing blocks: height (\d+) of 59, \d+\.\d %, 0\.5 blocks a second, .* left`)
		if len(logged) < 2 || len(logged) > 4 || !want.MatchString(logged[0]) {
			t.Errorf("logged %q", logged)
		}
	})
}
