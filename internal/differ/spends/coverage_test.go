package spends_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/seed61375155/trawl/internal/consensus/script"
)

// coverage counts verdicts that both nodes have given.
type coverage struct {
	verdicts, accepted int

	errors  map[string]int
	opcodes [256]int
	types   [256]int
	schnorr [256]int // hash types of Schnorr signatures alone
	kinds   map[string]map[string]int
	other   map[string]int // refusals that are no script's
}

func newCoverage() *coverage {
	return &coverage{errors: map[string]int{}, kinds: map[string]map[string]int{}, other: map[string]int{}}
}

// The places where a spend is judged.
const (
	inPool = "pool"
	alone  = "alone"
	among  = "among"
)

// add counts a verdict: Core's reason, empty for a spend that it accepts.
func (c *coverage) add(s *spend, place, reason string) {
	c.verdicts++
	verdict := "wrong"
	if reason == "" {
		c.accepted++
		verdict = "right"
	}
	kind := s.coin.kind
	if s.annex != nil {
		c.count(kind+", annex", place+" "+verdict)
	}
	c.count(kind, place+" "+verdict)
	if reason != "" {
		if _, words, ok := strings.Cut(reason, "script-verify-flag-failed ("); ok {
			c.errors[strings.TrimSuffix(words, ")")]++
		} else {
			c.other[reason]++
		}
	}
	in := s.tx.TxIn[s.index]
	opcodes(in.SignatureScript, &c.opcodes)
	opcodes(s.coin.out.PkScript, &c.opcodes)
	if s.coin.inside || s.coin.pushed != nil {
		opcodes(s.coin.program.script, &c.opcodes)
	}
	for _, hashType := range s.types {
		c.types[hashType]++
		if s.coin.context >= tapscript {
			c.schnorr[hashType]++
		}
	}
}

// amongWrong is how many wrong spends of the same type were judged among right ones.
func (c *coverage) amongWrong(s *spend) int {
	kind := s.coin.kind
	if s.annex != nil {
		kind += ", annex"
	}
	return c.kinds[kind][among+" wrong"]
}

func (c *coverage) count(kind, what string) {
	if c.kinds[kind] == nil {
		c.kinds[kind] = map[string]int{}
	}
	c.kinds[kind][what]++
}

// print logs the table.
func (c *coverage) print(t *testing.T) {
	t.Helper()
	t.Logf("%d verdicts, %d accepted (%.1f %%)", c.verdicts, c.accepted, 100*float64(c.accepted)/float64(max(
		c.verdicts, 1,
	)))
	for _, words := range slices.Sorted(maps.Keys(c.errors)) {
		t.Logf("%8d  %s", c.errors[words], words)
	}
	for _, words := range slices.Sorted(maps.Keys(c.other)) {
		t.Logf("%8d  no script: %s", c.other[words], words)
	}
	for _, kind := range slices.Sorted(maps.Keys(c.kinds)) {
		t.Logf("%-32s %v", kind, c.kinds[kind])
	}
	const shown = 24
	rare := func(counts [256]int) string {
		var least []int
		for n, count := range counts {
			if count < 1000 {
				least = append(least, n)
			}
		}
		slices.SortFunc(least, func(a, b int) int { return counts[a] - counts[b] })
		var list []string
		for _, n := range least[:min(len(least), shown)] {
			list = append(list, fmt.Sprintf("%#x:%d", n, counts[n]))
		}
		return fmt.Sprintf("least %d, %d below 1000: %v", slices.Min(counts[:]), len(least), list)
	}
	t.Logf("opcodes: %s", rare(c.opcodes))
	t.Logf("hash types: %s", rare(c.types))
	for _, hashType := range []byte{0, 1, 2, 3, 0x81, 0x82, 0x83} {
		t.Logf("hash type %#x of Schnorr signatures: %d", hashType, c.schnorr[hashType])
	}
}

// check makes sure that a whole run has covered everything: every error, opcode and
// hash type, and every type of output in both verdicts in both kinds of blocks.
func (c *coverage) check(t *testing.T) {
	t.Helper()
	const errors, others, share = 100, 1000, 30
	if 100*c.accepted < share*c.verdicts {
		t.Errorf("only %d of %d spends are accepted", c.accepted, c.verdicts)
	}
	for e := script.ErrUnknown; e <= script.ErrSigFindAndDelete; e++ {
		if n := c.errors[e.Error()]; n < errors {
			t.Errorf("%q occurs only %d times", e, n)
		}
	}
	for n := range 256 {
		if c.opcodes[n] < others {
			t.Errorf("opcode %#x occurs only %d times", n, c.opcodes[n])
		}
		if c.types[n] < others {
			t.Errorf("hash type %#x occurs only %d times", n, c.types[n])
		}
	}
	for kind, counts := range c.kinds {
		for _, what := range []string{"alone right", "alone wrong", "among right", "among wrong"} {
			if counts[what] == 0 {
				t.Errorf("%s: none is %s", kind, what)
			}
		}
	}
}
