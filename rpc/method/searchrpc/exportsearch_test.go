package searchrpc_test

import (
	"strings"
	"testing"
	"time"

	"github.com/seed61375155/trawl/messages"
)

// The history has each entry of the present chain once, by height, then what is unconfirmed.
func TestHistory(t *testing.T) {
	at := func(e messages.SearchEntry, name string) messages.SearchEntry {
		e.Object, e.Index, e.Time = name, -1, time.Unix(int64(1700000000+e.Height), 0)
		return e
	}
	l := &list{
		status: messages.SearchStatus{State: messages.SearchFollowing, Height: 9, Block: block(9)},
		entries: []messages.SearchEntry{
			at(receive(2, 2, 1), "a"), at(receive(5, 55, 2), "gone"), at(receive(6, 56, 3), "gone"),
			{Type: messages.SearchDisconnect, Height: 6, Block: block(56)},
			{Type: messages.SearchDisconnect, Height: 5, Block: block(55)},
			at(receive(5, 5, 4), "c"), at(receive(7, 7, 5), "d"), at(receive(7, 7, 6), "e"), at(receive(4, 4, 7), "b"),
		},
		pool: []messages.SearchEntry{{Type: messages.SearchReceive, Height: -1, Object: "f", Index: 3}},
	}
	names := func(csv string) string {
		var all []string
		for _, line := range strings.Split(strings.Trim(csv, `"`), `\n`)[1:] {
			all = append(all, strings.Split(line, ",")[10])
		}
		return strings.Join(all, "")
	}
	got := result(t, l, "exportsearch", `["x"]`)
	if names(got) != "abcdef" || !strings.HasPrefix(got, `"time,category,`) ||
		!strings.Contains(got, `\n2023-11-14T22:13:22Z,receive,0.00000001,,8,2,`) {
		t.Error(got)
	}
	const partial = `-8 The search has not looked at all of its blocks. With "partial" there is what was found so far`
	for _, state := range []messages.SearchState{
		messages.SearchRunning, messages.SearchPaused, messages.SearchFailed, messages.SearchAborted,
	} {
		l.status.State = state
		if got := result(t, l, "exportsearch", `["x"]`); got != partial {
			t.Errorf("%s: %s", state, got)
		}
		if got := result(t, l, "exportsearch", `["x", true]`); names(got) != "abcdef" {
			t.Errorf("%s: %s", state, got)
		}
	}
	l.status.State, l.cut = messages.SearchFollowing, true
	if got := result(t, l, "exportsearch", `["x"]`); got != partial {
		t.Error(got)
	}
	l.status.BlocksOnly = true
	const none = "-8 The search lists blocks alone: nothing is known of payments"
	if got := result(t, l, "exportsearch", `["x", true]`); got != none {
		t.Error(got)
	}
}
