package searches_test

import (
	"errors"
	"testing"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/messages"
)

// A search over a range ends with what the chain has there.
func TestRange(t *testing.T) {
	r := newRig(t, 1)
	r.grow(120, 0)
	r.start()
	scripts := [][]byte{script(1), script(3), {0x6a, 1, 7}}
	made := do(t, r.ref, messages.CreateSearch{Name: "shop", Objects: objects(scripts), Start: 20, Stop: 100})
	a := r.reader(made.ID)
	p := a.wait(messages.SearchDone)
	if p.Height != 100 || a.read == 0 {
		t.Errorf("height %d, %d entries", p.Height, a.read)
	}
	a.holds(scripts, 20, 100)
	st := do(t, r.ref, messages.GetSearch{ID: made.ID})
	if st.Found != uint64(a.read) || int(st.Blocks) != len(a.blocks) || st.Progress != 100 || st.Stop != 100 {
		t.Errorf("status %+v, read %d entries of %d blocks", st, a.read, len(a.blocks))
	}
	if p := do(t, r.ref, messages.WaitSearch{ID: made.ID, Cursor: a.cursor, Limit: 1}); len(p.Entries) > 0 || p.More {
		t.Errorf("behind the last entry of one that is done: %+v", p)
	}

	again := do(t, r.ref, messages.CreateSearch{Name: "shop", Objects: objects(scripts), Start: 20, Stop: 100})
	if again.Created || again.ID != made.ID {
		t.Errorf("the same once more: %+v", again)
	}
	_, err := ask.Ask(
		t.Context(), r.ref, messages.CreateSearch{Name: "shop", Objects: objects(scripts), Start: 21, Stop: 100},
	)
	if _, ok := errors.AsType[*messages.SearchExistsError](err); !ok {
		t.Errorf("another of the name: %v", err)
	}
	if do(t, r.ref, messages.PauseSearch{ID: made.ID}) || do(t, r.ref, messages.AbortSearch{ID: made.ID}) {
		t.Error("one that is done was changed")
	}
	if !do(t, r.ref, messages.RemoveSearch{ID: made.ID}) {
		t.Error("it was not removed")
	}
	if _, err := ask.Ask(t.Context(), r.ref, messages.GetSearch{ID: made.ID}); !errors.Is(
		err, messages.ErrSearchNotFound,
	) {
		t.Errorf("after it was removed: %v", err)
	}
}

// Searches that follow agree with the chain after reorganisations, extensions and restarts, for
// whoever adds up what is listed.
func TestFollow(t *testing.T) {
	for seed := range uint64(12) {
		r := newRig(t, seed)
		r.grow(30, 0)
		r.start()
		type one struct {
			*reader
			scripts [][]byte
			start   int32
		}
		var all []one
		for step := range 14 {
			switch n := r.rng.IntN(10); {
			case n < 3 || len(all) == 0:
				scripts := [][]byte{script(r.rng.IntN(8)), script(50 + step)}
				start := int32(r.rng.IntN(25))
				made := do(t, r.ref, messages.CreateSearch{Objects: objects(scripts), Start: start, Follow: true})
				all = append(all, one{r.reader(made.ID), scripts, start})
			case n < 5:
				r.grow(1+r.rng.IntN(4), 0)
			case n < 7:
				r.grow(1, 1+r.rng.IntN(6))
			case n < 8:
				r.restart()
			case n < 9:
				o := &all[r.rng.IntN(len(all))]
				more := append(o.scripts[:len(o.scripts):len(o.scripts)], script(8+step), script(r.rng.IntN(8)))
				if string(more[3:][0]) == string(o.scripts[0]) || len(more) != 4 {
					continue
				}
				q := messages.ExtendSearch{ID: o.id, Start: -1, Objects: objects(more)}
				// The objects of the scripts that are new have the numbers of the search's own.
				q.Objects.Scripts = q.Objects.Scripts[2:]
				do(t, r.ref, q)
				o.scripts = more
			default:
				o := all[r.rng.IntN(len(all))]
				do(t, r.ref, messages.PauseSearch{ID: o.id})
				r.grow(1, r.rng.IntN(3))
				do(t, r.ref, messages.ResumeSearch{ID: o.id})
			}
			if r.rng.IntN(2) == 0 {
				continue // read it later
			}
			for _, o := range all {
				p := o.wait(messages.SearchFollowing)
				o.sorted().holds(o.scripts, o.start, p.Height)
			}
		}
		for _, o := range all {
			p := o.wait(messages.SearchFollowing)
			o.sorted().holds(o.scripts, o.start, p.Height)
		}
	}
}
