package p2p

import (
	"testing"
	"time"
)

// The states of a limit over two days. 144 blocks of 4,000,000 bytes are kept for a whole
// one.
func TestUploads(t *testing.T) {
	const day = 144 * 4_000_000
	began := time.Unix(1_700_000_000, 0)
	u := Uploads{Limit: day + 1000, Block: 4_000_000}
	for i, test := range []struct {
		at   time.Duration
		sent int
		want UploadState
	}{
		{0, 0, UploadState{Left: day + 1000, Remains: UploadCycle}},
		{0, 999, UploadState{Left: day + 1, Remains: UploadCycle}},
		{0, 1, UploadState{Left: day, OldReached: true, Remains: UploadCycle}},
		{10 * time.Minute, 0, UploadState{Left: day, Remains: UploadCycle - 10*time.Minute}},
		{10 * time.Minute, 4_000_000, UploadState{
			Left: day - 4_000_000, OldReached: true, Remains: UploadCycle - 10*time.Minute,
		}},
		{time.Hour, day, UploadState{Reached: true, OldReached: true, Remains: 23 * time.Hour}},
		{UploadCycle, 0, UploadState{Reached: true, OldReached: true}},
		{UploadCycle + time.Hour, 0, UploadState{Reached: true, OldReached: true}}, // nothing sent since
		{UploadCycle + time.Hour, 5, UploadState{Left: day + 995, Remains: UploadCycle}},
	} {
		if test.sent > 0 || i == 0 {
			u.add(began.Add(test.at), test.sent)
		}
		test.want.Limit = u.Limit
		if got := u.State(began.Add(test.at)); got != test.want {
			t.Errorf("%d: %+v, want %+v", i, got, test.want)
		}
	}
	small := Uploads{Limit: 1 << 20, Block: 4_000_000}
	if s := small.State(began); s.Reached || !s.OldReached || s.Remains != UploadCycle {
		t.Errorf("%+v", s)
	}
	var none Uploads
	none.add(began, 1<<40)
	if s := none.State(began); s != (UploadState{}) {
		t.Errorf("%+v", s)
	}
}

// Less is kept where blocks are smaller.
func TestUploadsKeepRoomForBlocks(t *testing.T) {
	const kept = 144 * 2_000_000
	began := time.Unix(1_700_000_000, 0)
	u := Uploads{Limit: kept + 1000, Block: 2_000_000}
	for _, sent := range []int{600, 399, 1} {
		u.add(began, sent)
		if s := u.State(began); s.OldReached != (sent == 1) || s.Reached {
			t.Errorf("after %d more bytes: %+v", sent, s)
		}
	}
}
