package chainstate_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/clock"
	"github.com/seed61375155/trawl/internal/engine/bitcoin"
	"github.com/seed61375155/trawl/internal/engine/chainstate"
	"github.com/seed61375155/trawl/store/chaindb"
)

// The missing nonce of a miner's block is filled in from the first block of SegWit on: before it would be an
// unexpected witness.
func TestNonceFromSegWitOn(t *testing.T) {
	net := quick(t)
	net.Deployments = slices.Clone(net.Deployments)
	for i := range net.Deployments {
		if net.Deployments[i].Name == "segwit" {
			net.Deployments[i].Height = 3
		}
	}
	chain := genesis(t).chainOn(1)
	e := opened(t, net, chain...)
	committed := remake(func(b *wire.MsgBlock) {
		commit(b)
		b.Transactions[0].TxIn[0].Witness = nil
	})
	before := chain[0].on(nil, committed)
	wantSubmit(t, e, "the last block without SegWit", before, "")
	wantSubmit(t, e, "the first with it", before.on(nil, committed), "")
}

// The log says once whether signatures are validated.
func TestAssumedIsLogged(t *testing.T) {
	for _, assumed := range []chainhash.Hash{{}, {7}} {
		var log strings.Builder
		net := quick(t)
		net.AssumeValid = assumed
		e := openWith(t, t.TempDir(), net, func(cfg *bitcoin.Config) {
			cfg.Log = slog.New(slog.NewTextHandler(&log, nil))
		})
		must(t, e.Close())
		all := strings.Count(log.String(), "Validating signatures for all blocks.")
		some := strings.Count(log.String(), "Assuming ancestors of block "+assumed.String()+" have valid signatures.")
		if none := assumed == (chainhash.Hash{}); none != (all == 1) || none != (some == 0) || all+some != 1 {
			t.Errorf("%v is assumed to be valid:\n%s", assumed, &log)
		}
	}
}

// Unspent outputs that are behind the tip are damage where a block in between cannot be read.
func TestLostBlockBehindTheTip(t *testing.T) {
	dir, net := t.TempDir(), quick(t)
	chain := genesis(t).chainOn(5)
	e := open(t, dir, net)
	for _, b := range chain[:2] {
		must(t, e.Accept(b.raw))
	}
	must(t, chainstate.Rest(e)) // which writes the unspent outputs
	must(t, e.Close())
	e = open(t, dir, net)
	for _, b := range chain[2:] {
		must(t, e.Accept(b.raw))
	}
	must(t, chainstate.FailWrites(e, 8<<20, func() error { return errors.New("the end") }))
	_ = e.Close() // as a kill: they are not written
	destroy(t, filepath.Join(dir, "blocks"), chain[3].raw)
	db, err := chaindb.Open(options(t, dir))
	must(t, err)
	_, err = bitcoin.Open(bitcoin.Config{
		Network: net, DB: db, Cache: 8 << 20, Clock: new(clock.Clock), Log: slog.New(slog.DiscardHandler),
	})
	if !errors.Is(err, chaindb.ErrDamaged) {
		t.Fatalf("opened: %v", err)
	}
	if want := "block " + chain[3].hash.String() + " cannot be connected again"; !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %q", err, want)
	}
}

// destroy overwrites a block in the first of the block files.
func destroy(tb testing.TB, blocks string, raw []byte) {
	tb.Helper()
	key, err := os.ReadFile(filepath.Join(blocks, "xor.dat"))
	must(tb, err)
	path := filepath.Join(blocks, "blk00000.dat")
	file, err := os.ReadFile(path)
	must(tb, err)
	plain := bytes.Clone(file)
	for i := range plain {
		plain[i] ^= key[i%len(key)]
	}
	at := bytes.Index(plain, raw)
	if at < 0 {
		tb.Fatal("the block is not in the file")
	}
	for i := range raw {
		file[at+i] ^= 0xff
	}
	must(tb, os.WriteFile(path, file, 0o600))
}

// A chain state that is built anew from its blocks goes a thousand of them at a time, says so, and ends between them
// with its context. The next start goes on from there.
func TestStartOverInSteps(t *testing.T) {
	dir, net := t.TempDir(), quick(t)
	chain := genesis(t).chainOn(1001)
	e := open(t, dir, net)
	for _, b := range chain {
		must(t, e.Accept(b.raw))
	}
	want := unspent(t, e)
	must(t, e.Close())
	db, err := chaindb.Open(options(t, dir))
	must(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	var log bytes.Buffer
	_, err = bitcoin.Open(bitcoin.Config{
		Network: net, DB: db, Cache: 8 << 20, Clock: new(clock.Clock), Mark: markIn(dir), StartOver: ctx,
		Log: slog.New(slog.NewTextHandler(endAt{&log, "height 1000 of 1001", cancel}, nil)),
	})
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("%v\n%s", err, &log)
	}
	e = open(t, dir, net)
	wantTip(t, e, "opened again", chain[1000])
	if got := unspent(t, e); got != want {
		t.Error("other unspent outputs")
	}
	must(t, e.Close())
}

// endAt is a log that calls end at a line with a text.
type endAt struct {
	log  *bytes.Buffer
	text string
	end  func()
}

func (l endAt) Write(line []byte) (int, error) {
	if bytes.Contains(line, []byte(l.text)) {
		l.end()
	}
	return l.log.Write(line)
}
