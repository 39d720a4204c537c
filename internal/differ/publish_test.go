package differ_test

import (
	"encoding/hex"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/seed61375155/trawl/internal/differ"
	"github.com/seed61375155/trawl/internal/e2e"
)

var published = []string{"hashblock", "hashtx", "rawblock", "rawtx", "sequence"}

// TestPublished has both take the same transactions, blocks and reorganisations, and compares
// what they publish by ZeroMQ: every message, its number, and their order.
func TestPublished(t *testing.T) {
	trawl, core := "tcp://"+e2e.FreeAddr(t), "tcp://"+e2e.FreeAddr(t)
	at := func(address string) (args []string) {
		for _, topic := range published {
			args = append(args, "-zmqpub"+topic+"="+address, "-zmqpub"+topic+"hwm=0")
		}
		return args
	}
	p := differ.Start(t, differ.Config{
		Args: []string{"-persistmempool=0", "-acceptnonstdtxn=1"}, Trawl: at(trawl), Core: at(core),
	})
	m := newMiner(t, p)
	m.generate(103)
	ours, theirs := subscribe(t, trawl), subscribe(t, core)
	first := m.mark()
	ours.until(first)
	theirs.until(first)
	for cases := differ.Cases(t, 30); cases > 0; cases-- {
		m.spend(1 + m.IntN(4))
		if m.IntN(2) == 0 {
			m.generate(1 + m.IntN(2))
		}
		if m.IntN(4) == 0 {
			m.reorganise()
		}
		mark := m.mark()
		got, want := ours.until(mark), theirs.until(mark)
		for i := range max(len(got), len(want)) {
			if i >= min(len(got), len(want)) || got[i] != want[i] {
				from := max(i-6, 0)
				t.Fatalf("published after %d messages\n%s\nCore\n%s", i, lines(got[from:]), lines(want[from:]))
			}
		}
	}
	p.Alive()
}

// mark makes a block, whose hash is the last news.
func (m *miner) mark() string {
	m.t.Helper()
	m.generate(1)
	var hash string
	m.p.Get(&hash, "getbestblockhash")
	return hash
}

// reorganise takes the tip back, makes one block or two in its place, and lets it come back: it
// came first, and replaces one. That is then preferred, so that it replaces the tip again.
//
// A branch that takes over while a block is invalidated is left out: with Core transactions are
// in the pool for a moment between the two, here they are not.
func (m *miner) reorganise() {
	m.t.Helper()
	var first, second string
	m.p.Get(&first, "getbestblockhash")
	m.compare("invalidateblock", first)
	m.generate(1 + m.IntN(2))
	m.p.Get(&second, "getbestblockhash")
	for _, step := range [][2]string{{"reconsiderblock", first}, {"preciousblock", second}} {
		m.p.Get(nil, "getmempoolinfo") // the pool has seen the tip: what is gone before that is not told
		m.compare(step[0], step[1])
	}
	m.p.Get(nil, "getmempoolinfo")
}

// lines returns the first words as text.
func lines(words []string) string {
	var text strings.Builder
	for _, w := range words[:min(len(words), 25)] {
		text.WriteString(w[:min(len(w), 150)] + "\n")
	}
	return text.String()
}

// A reader is a subscriber with its numbers.
type reader struct {
	t    *testing.T
	from *e2e.ZMQSubscriber
	base map[string]uint32 // number of the first message of each topic
}

func subscribe(t *testing.T, address string) *reader {
	t.Helper()
	s, err := e2e.DialZMQ(address, published...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return &reader{t: t, from: s, base: map[string]uint32{}}
}

// word reads a message as text, whose number counts from the first one of its topic.
func (r *reader) word() (topic, text string) {
	r.t.Helper()
	m, err := r.from.Next(time.Minute)
	if err != nil {
		r.t.Fatal(err)
	}
	base, known := r.base[m.Topic]
	if !known {
		r.base[m.Topic], base = m.Number, m.Number
	}
	return m.Topic, fmt.Sprintf("%s %d %s", m.Topic, m.Number-base, hex.EncodeToString(m.Body))
}

// until reads up to the last message about a block that is the best one.
func (r *reader) until(hash string) (words []string) {
	r.t.Helper()
	for seen := false; ; {
		topic, text := r.word()
		words = append(words, text)
		seen = seen || topic == "hashblock" && len(text) > 64 && text[len(text)-64:] == hash
		if seen && topic == "rawblock" {
			return words
		}
	}
}
