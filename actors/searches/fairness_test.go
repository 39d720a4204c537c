package searches_test

import (
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed61375155/trawl/actors/scanner"
	"github.com/seed61375155/trawl/actors/wallets"
	"github.com/seed61375155/trawl/filters"
	"github.com/seed61375155/trawl/internal/actortest"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/enginetest"
	"github.com/seed61375155/trawl/internal/match"
	"github.com/seed61375155/trawl/internal/vfs"
	"github.com/seed61375155/trawl/messages"
)

// turns notes in which order the filters of a chain are read, each of which takes a while.
type turns struct {
	match.Source

	each time.Duration
	mu   sync.Mutex
	from []int32 // first heights
}

func (s *turns) View() match.View { return turnsView{s.Source.View(), s} }

func (s *turns) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.from = nil
}

type turnsView struct {
	match.View

	s *turns
}

func (v turnsView) Filters(from int32, active bool, dst []filters.Filter) error {
	if len(dst) > 0 {
		v.s.mu.Lock()
		v.s.from = append(v.s.from, from)
		v.s.mu.Unlock()
		time.Sleep(time.Duration(len(dst)) * v.s.each)
	}
	return v.View.Filters(from, active, dst)
}

// longestWait returns how many turns others had at most between two turns of each user, while all had something to
// do. A turn's height tells its user. together is how many turns there were meanwhile.
func longestWait(from []int32, whose func(height int32) int, users int) (waits []int, together int) {
	first, last := make([]int, users), make([]int, users)
	for i, height := range slices.Backward(from) {
		first[whose(height)] = i
	}
	for i, height := range from {
		last[whose(height)] = i
	}
	waits, before := make([]int, users), make([]int, users)
	begin, end := slices.Max(first), slices.Min(last)
	for user := range before {
		before[user] = begin - 1
	}
	for i := begin; i <= end; i++ {
		user := whose(from[i])
		waits[user] = max(waits[user], i-before[user]-1)
		before[user] = i
	}
	for user := range before {
		waits[user] = max(waits[user], end-before[user])
	}
	return waits, end - begin + 1
}

// A scan, the rescan of a wallet and searches that run beside each other on one core take turns. None waits longer
// than until each of the others has had a few turns.
func TestNoneStarves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		actortest.InBubble(t)
		r := newRig(t, 30)
		const part = 400 // blocks; each user has those of its own
		r.grow(3*part-1, 0)
		do(t, r.indexer, messages.WaitIndexed{Block: r.chain.Active().Tip().Hash})
		noted := &turns{each: 250 * time.Microsecond}
		r.workers, r.way = 1, match.WayFilters
		r.source = func(s match.Source) match.Source {
			noted.Source = s
			return noted
		}
		scheduler := r.scheduler()
		r.startWith(scheduler)
		scan := r.sys.Spawn("scanner", scanner.New(scanner.Config{
			Scheduler: scheduler, Chain: r.current, Indexer: r.indexer, Log: r.sys.Log,
			HeaderLen: func([]byte) int { return filters.HeaderLen },
		}), scanner.Requests...)
		wallet := r.wallet(scheduler)
		noted.forget() // what the wallet has looked at when it was made

		var group sync.WaitGroup
		group.Go(func() {
			slot := do(t, scan, messages.ReserveScan{})
			do(t, scan, messages.RunScan{
				Slot: slot.ID, Scripts: [][]byte{script(1)}, Start: 1, Stop: r.chain.Active().At(part - 1).Hash,
			})
		})
		group.Go(func() {
			stop := int32(2*part - 1)
			do(t, wallet, messages.Rescan{Start: part, Stop: &stop})
		})
		for i := range 3 {
			group.Go(func() {
				q := messages.CreateSearch{Objects: objects([][]byte{script(i)}), Start: 2 * part, Stop: -1}
				p := messages.SearchPage{}
				for made := do(t, r.ref, q); p.State != messages.SearchDone; {
					p = do(t, r.ref, messages.WaitSearch{ID: made.ID, Cursor: p.Cursor, Limit: 1000})
				}
			})
		}
		group.Wait()
		waits, together := longestWait(noted.from, func(height int32) int { return int(height / part) }, 3)
		if together < len(noted.from)/2 {
			t.Errorf("of %d turns %d were while all had something to do", len(noted.from), together)
		}
		for user, most := range []int{3, 3, 6} { // two, but for what begins and ends
			if waits[user] > most {
				name := []string{"the scan", "the rescan", "searches"}[user]
				t.Errorf("%s waited until others had had %d turns", name, waits[user])
			}
		}
	})
}

// wallet makes a wallet with keys.
func (r *rig) wallet(scheduler *match.Scheduler) *ask.Ref {
	r.t.Helper()
	dir, directory := filepath.Join(r.dir, "wallets"), new(ask.Directory)
	if err := vfs.MakeDir(vfs.OS, dir, 0o700); err != nil {
		r.t.Fatal(err)
	}
	ref := r.sys.Spawn("wallets", wallets.New(wallets.Config{
		Dir: dir, Settings: filepath.Join(r.dir, "settings.json"), KeyPool: 2, Network: enginetest.Regtest(r.t),
		Chain: r.current, Tip: r.tip, Scheduler: scheduler, Indexer: r.indexer, Directory: directory, Log: r.sys.Log,
		Now: time.Now,
	}), wallets.Requests...)
	do(r.t, ref, messages.CreateWallet{Name: "w"})
	return directory.Lookup("w")
}
