package keys

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/walletfile"
	"github.com/seed61375155/trawl/messages"
)

// paidTo are scripts that transactions pay to.
type paidTo map[string]bool

func (p paidTo) PaysTo(pkScript []byte) bool { return p[string(pkScript)] }

// watched is a wallet without private keys that has one descriptor, and the scripts of its first indices.
func watched(tb testing.TB, end int64, count uint32) (*rig, *descriptorManager, [][]byte) {
	tb.Helper()
	r := setUp(tb, false)
	text := descriptor.AddChecksum("wpkh(" + expandingXpub + "/0/*)")
	got, err := r.importer.Import([]messages.ImportItem{{Desc: text, Range: &[2]int64{0, end}}}, ImportTimes{})
	if err != nil || got.Results[0].Err != nil {
		tb.Fatal(err, got.Results[0].Err)
	}
	m := r.set.managers[0]
	var scripts [][]byte
	err = m.desc.ExpandRange(tb.Context(), 0, count-1, 1, func(_ uint32, at [][]byte) error {
		scripts = append(scripts, slices.Clone(at[0]))
		return nil
	})
	if err != nil {
		tb.Fatal(err)
	}
	return r, m, scripts
}

// A range ends where a gap of unused indices follows the highest used one, whether payments are known before or come.
// A payment that comes fills up the key pool, too.
func TestGap(t *testing.T) {
	random := rand.New(rand.NewPCG(2, 3))
	for range 30 {
		const count = 1200
		r, m, scripts := watched(t, 99, count)
		gap := int32(1 + random.IntN(300))
		paid, used, known := paidTo{}, map[int32]bool{}, map[int32]bool{}
		for index := int32(random.IntN(150)); index < 900; index += int32(1 + random.IntN(200)) {
			used[index] = true
			if index < 100 && random.IntN(2) == 0 {
				paid[string(scripts[index])], known[index] = true, true
			}
		}
		r.pool.gap.Begin(gap, paid)
		jobs, err := r.pool.gap.Jobs()
		if err != nil {
			t.Fatal(err)
		}
		supply(t, r, jobs)
		r.pool.gap.Widen()
		r.pool.Drop()
		for more := true; more; { // as blocks tell of them
			more = false
			for index := range used {
				if script := scripts[index]; index <= m.lastDerived && !paid[string(script)] {
					paid[string(script)], more = true, true
					r.pool.Used(script)
				}
			}
		}
		last, highest := max(99, gap-1), int32(-1)
		for index := int32(0); index <= last; index++ {
			if used[index] {
				highest = index
				if last = max(last, index+gap); !known[index] {
					last = max(last, index+100) // the key pool is filled up
				}
			}
		}
		got := r.pool.gap.Checks().List[0]
		if got.HighestUsed != highest || got.Range != [2]int32{0, last} || got.Exhausted ||
			m.record.RangeEnd != last+1 {
			t.Fatalf("gap %d: %+v, want up to %d, highest %d", gap, got, last, highest)
		}
		r.pool.gap.End()
		if end := m.record.RangeEnd; r.pool.gap.end(m) != 0 || end != got.Range[1]+1 {
			t.Fatalf("the end of the gap changes the range: %d", end)
		}
	}
}

// A gap that needs too many scripts is refused before anything is derived.
func TestGapIsBounded(t *testing.T) {
	r, m, _ := watched(t, 9, 1)
	r.pool.gap.Begin(maxWidened+1000, paidTo{})
	_, err := r.pool.gap.Jobs()
	checkText(t, "too many", err, "The gap needs 2000900 further addresses of the wallet's descriptors, at most 2000000")
	if m.lastDerived != 99 {
		t.Errorf("derived up to %d", m.lastDerived)
	}
}

// Slow keys are wanted as far as a gap goes, and no longer than it lasts. A locked wallet cannot have them.
func TestGapOfSlowKeys(t *testing.T) {
	r := slowRig(t, warmPool+4)
	m := r.set.managers[0]
	r.pool.gap.Begin(warmPool+2, paidTo{})
	if err := r.pool.gap.Check(); err != nil || r.pool.Wanting() {
		t.Errorf("before: %v, wanting %v", err, r.pool.Wanting())
	}
	r.pool.gap.Widen()
	if !r.pool.Wanting() || m.wanted != warmPool+2 {
		t.Errorf("wanted up to %d", m.wanted)
	}
	supply(t, r, r.pool.Jobs(1))
	r.pool.gap.End()
	if r.pool.Wanting() || m.lastDerived != warmPool || !m.deferred {
		t.Errorf("after: wanting %v, derived up to %d, deferred %v", r.pool.Wanting(), m.lastDerived, m.deferred)
	}
	r.vault.Encrypt(walletfile.MasterKey{ID: 1}, walletfile.NewSecret(make([]byte, 32)))
	r.vault.Lock()
	r.pool.gap.Begin(warmPool+2, paidTo{})
	checkText(t, "locked", r.pool.gap.Check(),
		"Error: Please enter the wallet passphrase with walletpassphrase first.")
	r.pool.gap.End()
	if err := r.pool.gap.Check(); err != nil {
		t.Errorf("without a gap: %v", err)
	}
}
