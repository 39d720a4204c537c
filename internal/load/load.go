// Package load makes a node answer many callers at once, measures how long it
// takes, and checks that what it answers can be true.
//
// [Prepare] looks at the node: it runs one undisturbed scan, and one
// undisturbed search where the mix has searches, whose results are the measure
// of all others. [Run.Go] then lets the callers go. Each caller keeps a
// connection of its own and makes one call at a time. There are two ways to
// time calls:
//
//   - Closed loop: each caller makes its next call as soon as it has the reply
//     to the call before. A slow node is called less often.
//   - Open loop: calls are due at random moments, a given number per second on
//     average, whatever the node does. A call goes to the caller that has been
//     free for longest, and waits if no caller is free. Its time counts from
//     when it was due, so that no stall of the node goes unnoticed.
//
// The calls and the moments when they are due follow from the seed alone.
//
// A run ends when all calls have been made and replied to. When its time is up
// or its context ends, no more are made, and running scans are aborted until
// all replies are there.
package load

import (
	"encoding/json"
	"time"
)

// Config says what to do to which node.
type Config struct {
	Addr    string        // host:port of the node
	Login   string        // "user:password"
	Timeout time.Duration // of a single call, from when it is sent

	Callers  int
	Duration time.Duration // 0: until Count
	Count    int64         // calls; 0: until Duration
	Rate     float64       // calls per second of an open loop; 0: closed loop
	Mix      Mix
	Seed     uint64

	// Objects is the array of scan objects to start with; empty: Keys keys of
	// a public descriptor of the node's chain, which Seed chooses.
	Objects json.RawMessage
	Keys    int
}

// Progress is how far a run is.
type Progress struct {
	Calls  int64 // that have ended
	Scans  int64 // that have ended
	Failed int64 // calls without a result, refusals as busy not counted
}

// Result is what a run has found.
type Result struct {
	Node     string // what it calls itself
	Chain    string
	Height   int32         // of the chain, and of the last block of each scan
	Scan     time.Duration // of the undisturbed scan; 0 when there was none
	Relevant int           // blocks that it found
	Search   time.Duration // of the undisturbed search; 0 when there was none
	Entries  int           // that it found
	Began    time.Time
	Elapsed  time.Duration
	Rows     []Row
	Lost     []Loss // why calls had no reply
	Findings []Finding
}

// A Loss is a reason why calls had no reply.
type Loss struct {
	Reason string
	Count  int
}

// A Row is the times of all calls of a method that had the same outcome.
type Row struct {
	Method  string
	Outcome string // "error -8", "HTTP 503", ...; empty: of all outcomes
	Times   *Histogram
}
