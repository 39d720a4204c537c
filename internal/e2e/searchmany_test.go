package e2e_test

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/seed61375155/trawl/internal/e2e"
)

// everybodys is a script that almost every block of this test pays.
const everybodys = "raw(51)"

// The greatest allowed number of searches find everything, through kill -9 and a reorganisation.
// Each looks for thousands of scripts of its own and for a script that every block pays.
func TestManySearches(t *testing.T) {
	t.Parallel()
	searches, scripts, blocks := count(t, "TRAWL_SOAK", 20), 500, 30
	if searches >= 100 {
		scripts, blocks = 10_000, 500
	}
	m := manySearches{
		T: t, rng: rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 5)), scripts: scripts,
		d: e2e.Start(t, e2e.Config{
			Chain: "regtest", Args: []string{"-blockfilterindex=1", "-searchroom=1", fmt.Sprint("-maxsearches=", searches)},
		}),
		ids: make([]string, searches), cursors: make([]string, searches), found: make([][]string, searches),
	}
	m.mine(blocks)
	began := time.Now()
	m.create()
	t.Logf("%d searches of %d scripts made in %v, memory at most %s", searches, scripts,
		time.Since(began).Round(time.Millisecond), m.peak())
	if err := m.d.Call(t.Context(), nil, "createsearch", []string{everybodys}); err == nil ||
		!strings.Contains(err.Error(), "Limit of -maxsearches is reached") {
		t.Errorf("one search too many: %v", err)
	}
	m.mine(blocks)
	m.d.Kill()
	began = time.Now()
	m.d.Restart()
	t.Logf("started again in %v", time.Since(began).Round(time.Millisecond))
	m.reorganise(blocks / 10)
	began = time.Now()
	m.read()
	t.Logf("%d entries read in %v, memory at most %s", m.entries, time.Since(began).Round(time.Millisecond), m.peak())
}

// manySearches are searches, and what their lists should have.
type manySearches struct {
	*testing.T
	d       *e2e.Daemon
	rng     *rand.Rand
	scripts int // of each search

	ids, cursors []string
	found        [][]string // by search: the blocks with something, as its list tells
	entries      int

	chain []minedBlock
}

// A minedBlock pays everybody's script, or one search's.
type minedBlock struct {
	hash string
	to   int // search; -1: everybody's script
}

// own is one of the scripts of a search.
func (m *manySearches) own(search, n int) string {
	id := binary.BigEndian.AppendUint64(nil, uint64(search)<<32|uint64(n))
	sum := sha256.Sum256(id)
	return fmt.Sprintf("raw(0014%x)", sum[:20])
}

// mine adds blocks, some of which pay one search alone.
func (m *manySearches) mine(blocks int) {
	m.Helper()
	for range blocks {
		to := -1
		if m.rng.IntN(5) == 0 {
			to = m.rng.IntN(len(m.ids))
		}
		m.pay(to)
	}
}

// pay adds a block that pays a search alone, or everybody's script.
func (m *manySearches) pay(to int) {
	m.Helper()
	script := everybodys
	if to >= 0 {
		script = m.own(to, m.rng.IntN(m.scripts-1))
	}
	var hashes []string
	m.d.Get(&hashes, "generatetodescriptor", 1, script)
	m.chain = append(m.chain, minedBlock{hashes[0], to})
}

func (m *manySearches) create() {
	m.Helper()
	for i := range m.ids {
		objects := []string{everybodys}
		for n := range m.scripts - 1 {
			objects = append(objects, m.own(i, n))
		}
		var made struct{ ID string }
		m.d.Get(&made, "createsearch", objects, map[string]any{"follow": true})
		m.ids[i] = made.ID
	}
}

// reorganise takes blocks back and makes twice as many.
func (m *manySearches) reorganise(blocks int) {
	m.Helper()
	kept := len(m.chain) - blocks
	m.d.Get(nil, "invalidateblock", m.chain[kept].hash)
	m.chain = m.chain[:kept]
	m.pay(m.rng.IntN(len(m.ids))) // another block than was there
	m.mine(2 * blocks)
}

// read reads the lists of all searches and compares them with the chain.
func (m *manySearches) read() {
	m.Helper()
	tip := m.chain[len(m.chain)-1].hash
	for i := range m.ids {
		height := -1
		for deadline := time.Now().Add(time.Minute); ; {
			var p searchPage
			m.d.Get(&p, "waitforsearch", m.ids[i], m.cursors[i], 200)
			m.add(i, p.Entries)
			if p.Height != height { // a block for millions of scripts takes its time
				height, deadline = p.Height, time.Now().Add(time.Minute)
			}
			if m.cursors[i] = p.Cursor; p.State == "following" && p.BlockHash == tip && !p.More {
				break
			}
			if time.Now().After(deadline) {
				m.Fatalf("search %d is %s at height %d", i, p.State, p.Height)
			}
		}
		var want []string
		for _, b := range m.chain {
			if b.to < 0 || b.to == i {
				want = append(want, b.hash)
			}
		}
		if got := strings.Join(m.found[i], " "); got != strings.Join(want, " ") {
			m.Fatalf("search %d has blocks\n%s\nwant\n%s", i, got, strings.Join(want, " "))
		}
	}
}

// add adds entries up: the blocks that still are in the chain, once for each payment.
func (m *manySearches) add(search int, entries []map[string]any) {
	m.Helper()
	m.entries += len(entries)
	for _, e := range entries {
		hash, _ := e["blockhash"].(string)
		list := &m.found[search]
		if e["type"] != "disconnect" {
			*list = append(*list, hash)
			continue
		}
		if n := len(*list); n > 0 && (*list)[n-1] == hash {
			*list = (*list)[:n-1]
		}
	}
}

// peak is the most memory that the daemon has had since it was started, where the system tells.
func (m *manySearches) peak() string {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", m.d.PID()))
	if err != nil {
		return "?"
	}
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	line, _, _ := strings.Cut(rest, "\n")
	return strings.TrimSpace(line)
}
