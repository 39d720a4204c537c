package attach_test

import (
	"context"
	"encoding/hex"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed61375155/trawl/actors/attach"
	"github.com/seed61375155/trawl/internal/actortest"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/nodemsg"
)

// The tests of every actor.
func TestSuite(t *testing.T) {
	actortest.Suite(t, func(t *testing.T) *actortest.Subject {
		t.Helper()
		r := newRig(t)
		r.core.peers[1] = r.raw
		hash := r.block.BlockHash()
		return &actortest.Subject{
			Ref: r.ref, Served: attach.Requests,
			Requests: []actortest.Request{actortest.Sample(nodemsg.FetchBlock{Hash: hash})},
			News: func() {
				r.core.mine()
				r.core.setAway(true)
				time.Sleep(1500 * time.Millisecond)
				r.core.setAway(false)
			},
			Check: func() {
				time.Sleep(time.Minute) // of the bubble: longer than any retry
				if want := r.core.mine(); r.tip() != want {
					t.Errorf("the chain is at %v, want %v", r.tip(), want)
				}
			},
		}
	})
}

// The chain follows each tip at once, also a tip that came while it was following.
func TestFollow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		for range 3 {
			if want := r.core.mine(); r.tip() != want {
				t.Fatalf("the chain is at %v, want %v", r.tip(), want)
			}
		}
		r.core.mine()
		if want := r.core.mine(); r.tip() != want {
			t.Fatalf("the chain is at %v, want %v", r.tip(), want)
		}
		r.waits()
		time.Sleep(time.Hour)
		if got := r.waits(); len(got) > 0 {
			t.Errorf("without news, the chain was told to follow %d times", len(got)+1)
		}
		if got := strings.Count(r.log.text(), "\n"); got != 1 {
			t.Errorf("logged %d lines:\n%s", got, r.log.text())
		}
	})
}

// While the other node is away it is asked ever more seldom, one line is logged, and the
// chain is at its tip soon after it is back.
func TestAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		for range 2 {
			r.waits()
			r.core.setAway(true)
			time.Sleep(40 * time.Second)
			want := []time.Duration{1e9, 2e9, 4e9, 8e9, 10e9, 10e9}
			if got := r.waits(); !slices.Equal(got, want) {
				t.Errorf("asked after %v, want %v", got, want)
			}
			tip := r.core.mine()
			r.core.setAway(false)
			time.Sleep(10 * time.Second)
			if r.tip() != tip {
				t.Errorf("the chain is at %v, want %v", r.tip(), tip)
			}
		}
		if got := strings.Count(r.log.text(), "state=away"); got != 2 || strings.Count(r.log.text(), "\n") != 5 {
			t.Errorf("logged:\n%s", r.log.text())
		}
	})
}

// A block that was pruned is asked of one peer after the other, and is the right one.
func TestFetchBlock(t *testing.T) {
	other := strings.Repeat("00", 100)
	tests := []struct {
		name  string
		peers func(raw string) map[int64]string
		asked []int64
		err   error
	}{
		{"a peer has it", func(raw string) map[int64]string { return map[int64]string{1: raw} }, []int64{1}, nil},
		{"the third has it", func(raw string) map[int64]string {
			return map[int64]string{1: "", 2: "silent", 3: raw}
		}, []int64{1, 2, 3}, nil},
		{"nobody is there", func(string) map[int64]string { return nil }, nil, nodemsg.ErrNoSource},
		{"it is another block", func(string) map[int64]string {
			return map[int64]string{1: other}
		}, []int64{1}, nodemsg.ErrNoSource},
		{"its transactions are not its own", func(raw string) map[int64]string {
			return map[int64]string{1: raw[:len(raw)-2] + "01"}
		}, []int64{1}, nodemsg.ErrNoSource},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t)
				r.core.peers = test.peers(r.raw)
				raw, err := ask.Ask(t.Context(), r.ref, nodemsg.FetchBlock{Hash: r.block.BlockHash()})
				if !errors.Is(err, test.err) || !slices.Equal(r.core.asked, test.asked) {
					t.Errorf("%v, after asking %v", err, r.core.asked)
				}
				if err == nil && hex.EncodeToString(raw) != r.raw {
					t.Errorf("got %x", raw)
				}
			})
		})
	}
}

// A caller that leaves ends the asking of peers.
func TestFetchBlockGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.core.peers = map[int64]string{1: "silent", 2: "silent"}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := ask.Ask(
			ctx, r.ref, nodemsg.FetchBlock{Hash: r.block.BlockHash()},
		); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		time.Sleep(time.Minute)
		if len(r.core.asked) != 1 {
			t.Errorf("asked %v", r.core.asked)
		}
	})
}

// The version of the other node is kept whenever it is another. The log says where calls are answered as another
// version, unless the operator has chosen that.
func TestLearnsVersion(t *testing.T) {
	for chosen, warnings := range map[bool]int{false: 1, true: 0} {
		synctest.Test(t, func(t *testing.T) {
			r := newRigWith(t, chosen)
			for _, version := range []int{0, 300200, 300200, 320000, 0, 320000, 300300} {
				r.becomes(version)
			}
			if want := []int{300200, 320000, 300300}; !slices.Equal(r.learned, want) {
				t.Errorf("%v, want %v", r.learned, want)
			}
			if got := strings.Count(r.log.text(), "Bitcoin Core is of another version"); got != warnings {
				t.Errorf("chosen is %v: logged:\n%s", chosen, r.log.text())
			}
		})
	}
}
