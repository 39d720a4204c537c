package follower_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/engine/follower"
	"github.com/seed61375155/trawl/messages"
)

// Beside a Core that has pruned its first blocks and keeps no filters, filters are made
// from a height on, and it stays known which say nothing.
func TestFiltersFromHeight(t *testing.T) {
	t.Parallel()
	f := newFakeCore(t)
	f.tip = f.mine(f.tip, 60, 1)
	f.pruneHeight = 40
	cfg := f.config(t, t.TempDir())
	cfg.From = 45
	e := open(t, cfg)
	follow(t, e)
	reader := e.Reader().(chainview.PartReader)
	if first := reader.FirstFilter(); first != 0 {
		t.Errorf("before a filter was made they begin at %d", first)
	}
	for height := int32(1); height <= 60; height++ {
		filter, ok, err := reader.Filter(&reader.Active().At(height).Hash)
		if err != nil || ok != (height < 45) || ok && !bytes.Equal(filter, []byte{0}) {
			t.Fatalf("filter of block %d: %x, %t, %v", height, filter, ok, err)
		}
	}
	if first := reader.FirstFilter(); first != 45 {
		t.Errorf("filters begin at %d", first)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	for _, from := range []int32{0, 45, 50} {
		cfg.From = from
		e = open(t, cfg)
		follow(t, e)
		reader := e.Reader().(chainview.PartReader)
		_, ok, err := reader.Filter(&reader.Active().At(45).Hash)
		if reader.FirstFilter() != 45 || ok || err != nil {
			t.Errorf("-attachfrom=%d: filters begin at %d; %t, %v", from, reader.FirstFilter(), ok, err)
		}
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
	}
	cfg.From = 44
	_, err := follower.Open(t.Context(), cfg)
	if refused, ok := errors.AsType[messages.StartError](err); !ok || !strings.Contains(string(refused), "height 45") {
		t.Errorf("-attachfrom=44: %v", err)
	}
}
