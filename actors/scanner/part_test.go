package scanner_test

import (
	"testing"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/messages"
)

// Scans that are parts of some work tell how much of the whole is done, and which they are; the holder of the slot does
// so in between.
func TestParts(t *testing.T) {
	const height = 40
	r := newRig(t, height)
	ref := r.spawn(options{})
	slot := do(t, ref, messages.ReserveScan{})
	status := func() messages.ScanStatus { return do(t, ref, messages.GetScanStatus{}) }
	deriving := messages.ScanStatus{Running: true, Stage: messages.ScanDeriving, Progress: 7}
	do(t, ref, messages.ReportScan{Slot: slot.ID, Progress: 7})
	if got := status(); got != deriving {
		t.Errorf("before: %+v", got)
	}
	for n, part := range []messages.ScanPart{{From: 0.1, Share: 0.4}, {From: 0.6, Share: 0.2}} {
		q := r.request(slot, order{scripts: [][]byte{script(5)}, to: height})
		q.Hold, q.Pass, q.Part = true, n+1, part
		if _, err := ask.Ask(t.Context(), ref, q); err != nil {
			t.Fatal(err)
		}
		want := messages.ScanStatus{Running: true, Height: height, Pass: n + 1, Progress: part.Percent(100)}
		if got := status(); got != want || want.Progress != []int{50, 80}[n] {
			t.Errorf("after pass %d: %+v, want %+v", n+1, got, want)
		}
		want.Stage, want.Progress = messages.ScanReading, 85
		do(t, ref, messages.ReportScan{Slot: slot.ID, Progress: 85})
		if got := status(); got != want {
			t.Errorf("reading: %+v, want %+v", got, want)
		}
		want.Stage = messages.ScanDeriving
		do(t, ref, messages.ReportScan{Slot: slot.ID, Progress: 85, Stage: messages.ScanDeriving})
		do(t, ref, messages.ReportScan{Slot: slot.ID + 1, Progress: 99}) // nobody's
		if got := status(); got != want {
			t.Errorf("deriving: %+v, want %+v", got, want)
		}
	}
	do(t, ref, messages.AbortScan{})
	q := r.request(slot, order{scripts: [][]byte{script(5)}, to: height})
	q.Hold, q.Pass, q.Part = true, 3, messages.ScanPart{From: 0.9, Share: 0.05}
	got, err := ask.Ask(t.Context(), ref, q)
	if err != nil || got.Completed ||
		status() != (messages.ScanStatus{Running: true, Height: height, Pass: 2, Progress: 80}) {
		t.Errorf("aborted: %+v, %v, %+v", got, err, status())
	}
	do(t, ref, messages.ReleaseScan{Slot: slot.ID})
	if got := status(); got != (messages.ScanStatus{}) {
		t.Errorf("in the end: %+v", got)
	}
}
