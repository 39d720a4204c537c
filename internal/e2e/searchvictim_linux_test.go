package e2e_test

import (
	"testing"
	"time"
)

// A victim is a search whose daemon is killed.
type victim struct {
	searcher

	of    *searchStates
	name  string
	first []any // objects that it was made of
	more  []any // that it may be extended by
}

func (s *searchStates) victim(t *testing.T, name string) *victim {
	t.Helper()
	v := &victim{searcher: searcher{t: t, d: s.d, addresses: s.addresses}, of: s, name: name}
	v.objects = []any{"addr(" + s.addresses[0] + ")"}
	v.more = []any{"addr(" + s.addresses[1] + ")"}
	return v
}

func (v *victim) wants(err error) {
	v.t.Helper()
	if err != nil {
		v.t.Fatal(err)
	}
}

// stateSeen is what is known of a search.
type stateSeen struct {
	ID, Name, State, Error string
	Height, Found, Scripts int
}

func (v *victim) seen() (st stateSeen) {
	v.t.Helper()
	v.d.Get(&st, "getsearch", v.id)
	return st
}

func (v *victim) tip() (height int) {
	v.t.Helper()
	v.d.Get(&height, "getblockcount")
	return height
}

func (v *victim) create(call rpcCall) error {
	if v.first == nil {
		v.first = v.objects
	}
	var made struct{ ID string }
	err := call(v.t.Context(), &made, "createsearch", v.first, map[string]any{"name": v.name, "follow": true})
	if err == nil {
		v.id = made.ID
	}
	return err
}

func (v *victim) createDense() {
	v.objects = append(v.objects, everybodys)
	v.wants(v.create(v.d.Call))
}

func (v *victim) extendDense() {
	v.more = []any{everybodys}
	v.wants(v.extend(v.d.Call))
	v.objects, v.joined = append(v.objects, v.more...), true
}

// follow makes the search and reads its list.
func (v *victim) follow() {
	v.t.Helper()
	v.wants(v.create(v.d.Call))
	v.check()
}

// paused has it be paused, and blocks come after that.
func (v *victim) paused() {
	v.t.Helper()
	v.follow()
	v.wants(v.pause(v.d.Call))
	v.wants(v.mine(v.d.Call))
}

func (v *victim) removed() {
	v.t.Helper()
	v.follow()
	v.wants(v.remove(v.d.Call))
}

func (v *victim) mine(call rpcCall) error {
	return call(v.t.Context(), nil, "generatetoaddress", 1, v.addresses[0])
}

// reorganise has blocks leave the chain, and others take their place.
func (v *victim) reorganise(call rpcCall) error {
	ctx := v.t.Context()
	var tip string
	var header struct{ PreviousBlockHash string }
	if err := call(ctx, &tip, "getbestblockhash"); err != nil {
		return err
	}
	if err := call(ctx, &header, "getblockheader", tip); err != nil {
		return err
	}
	if err := call(ctx, nil, "invalidateblock", header.PreviousBlockHash); err != nil {
		return err
	}
	var fresh string // otherwise the block would be the same as the block that left the chain
	if err := call(ctx, &fresh, "getnewaddress"); err != nil {
		return err
	}
	if err := call(ctx, nil, "generatetoaddress", 1, fresh); err != nil {
		return err
	}
	return call(ctx, nil, "generatetoaddress", 2, v.addresses[0])
}

func (v *victim) extend(call rpcCall) error {
	return call(v.t.Context(), nil, "extendsearch", v.id, v.more)
}
func (v *victim) pause(call rpcCall) error  { return call(v.t.Context(), nil, "pausesearch", v.id) }
func (v *victim) resume(call rpcCall) error { return call(v.t.Context(), nil, "resumesearch", v.id) }
func (v *victim) abort(call rpcCall) error  { return call(v.t.Context(), nil, "abortsearch", v.id) }
func (v *victim) remove(call rpcCall) error { return call(v.t.Context(), nil, "removesearch", v.id) }

// swept waits until what a removed search has left is deleted.
func (v *victim) swept(rpcCall) error {
	for range 40 {
		if v.d.HasEnded() {
			break
		}
		time.Sleep(100 * time.Millisecond) // nobody is told
	}
	return nil
}

// isThere checks that the search is there if that was acknowledged, and that its list is whole.
func (v *victim) isThere(acknowledged bool) {
	v.t.Helper()
	if v.find() == nil && (acknowledged || v.id != "") {
		v.t.Fatal("the search is not there any more")
	}
	was := v.id
	v.wants(v.create(v.d.Call))
	if was != "" && was != v.id {
		v.t.Fatal("it is another one")
	}
	v.check()
}

// find returns what is known of the search by its name; nil where there is none.
func (v *victim) find() *stateSeen {
	v.t.Helper()
	var list []stateSeen
	v.d.Get(&list, "listsearches")
	for i := range list {
		if list[i].Name == v.name {
			return &list[i]
		}
	}
	return nil
}

func (v *victim) isPaused(acknowledged bool) {
	v.t.Helper()
	st := v.seen()
	if st.State != "paused" && (acknowledged || st.State != "following") {
		v.t.Errorf("it is %s", st.State)
	}
	v.wants(v.mine(v.d.Call))
	if now := v.seen(); st.State == "paused" && (now.State != "paused" || now.Found != st.Found) {
		v.t.Errorf("a paused one goes on: %+v, before %+v", now, st)
	}
	v.wants(v.resume(v.d.Call))
	v.check()
}

func (v *victim) isResumed(acknowledged bool) {
	v.t.Helper()
	if st := v.seen(); st.State == "paused" {
		if acknowledged {
			v.t.Error("it is paused")
		}
		v.wants(v.resume(v.d.Call))
	}
	v.check()
}

func (v *victim) isExtended(acknowledged bool) {
	v.t.Helper()
	if st := v.seen(); st.Scripts != 2 && (acknowledged || st.Scripts != 1) {
		v.t.Errorf("it has %d scripts", st.Scripts)
	}
	v.wants(v.extend(v.d.Call))
	v.objects, v.joined = append(v.objects, v.more...), true
	v.check()
}

func (v *victim) isAborted(acknowledged bool) {
	v.t.Helper()
	if st := v.seen(); st.State != "aborted" {
		if acknowledged {
			v.t.Errorf("it is %s", st.State)
		}
		v.check()
		return
	}
	if n := readEntries(v.t, v.d, v.id); n != len(v.entries) {
		v.t.Errorf("%d entries, of %d that were read", n, len(v.entries))
	}
}

func (v *victim) isRemoved(acknowledged bool) {
	v.t.Helper()
	if v.find() == nil {
		return
	}
	if acknowledged {
		v.t.Error("it is there again")
	}
	v.check()
}
