package e2e_test

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/seed61375155/trawl/internal/e2e"
)

// journals are the files that searches are written to.
type journals bool

const (
	ofSearches journals = false
	ofModes    journals = true // what searches are told to do
)

// A killMoment is when a daemon is killed that writes.
type killMoment struct{ name, inject string }

var killMoments = []killMoment{
	{"before it is written", "write:signal=KILL"},
	{"before it is durable", "fsync:signal=KILL"},
	{"once it is acknowledged", ""},
}

// A daemon may be killed at any step of a search: acknowledged states hold after that, and the list has no entry
// twice and lacks none.
func TestKill9SearchStates(t *testing.T) {
	e2e.SkipUnderRace(t, "it takes too long")
	t.Parallel()
	strace, err := exec.LookPath("strace")
	if err != nil || exec.CommandContext(t.Context(), strace, "-D", "true").Run() != nil {
		t.Skip("no strace that may trace")
	}
	s := newSearchStates(t, strace)
	all := count(t, "TRAWL_SOAK", 4) >= 100
	first := rand.IntN(len(killMoments)) // of each state one moment is tried in short runs
	for n, test := range []struct {
		name   string
		before func(v *victim)
		change func(v *victim, call rpcCall) error // the daemon is killed when that is written
		in     journals
		after  func(v *victim, acknowledged bool)
	}{
		{name: "creating", change: (*victim).create, after: (*victim).isThere},
		{name: "following", before: (*victim).follow, change: (*victim).mine, after: (*victim).isThere},
		{name: "reorganising", before: (*victim).follow, change: (*victim).reorganise, after: (*victim).isThere},
		{name: "pausing", before: (*victim).follow, change: (*victim).pause, in: ofModes, after: (*victim).isPaused},
		{name: "resuming", before: (*victim).paused, change: (*victim).resume, in: ofModes, after: (*victim).isResumed},
		{name: "extending", before: (*victim).follow, change: (*victim).extend, after: (*victim).isExtended},
		{name: "aborting", before: (*victim).follow, change: (*victim).abort, in: ofModes, after: (*victim).isAborted},
		{name: "removing", before: (*victim).follow, change: (*victim).remove, after: (*victim).isRemoved},
		{name: "sweeping", before: (*victim).removed, change: (*victim).swept, after: (*victim).isRemoved},
	} {
		for k, m := range killMoments {
			if !all && k != (first+n)%len(killMoments) {
				continue
			}
			t.Run(test.name+" "+m.name, func(t *testing.T) {
				v := s.victim(t, test.name+" "+m.name)
				if test.before != nil {
					test.before(v)
				}
				acknowledged := v.killAt(m, test.in, test.change)
				s.d.Restart()
				test.after(v, acknowledged)
				s.shop.check()
			})
		}
	}
	for _, test := range []struct {
		name   string
		before func(v *victim)
		inject string // from then on
		change func(v *victim)
		seen   func(v *victim, st *stateSeen) bool // then the daemon is killed
	}{
		{
			name: "queued", inject: slowSync, change: func(v *victim) { v.wants(v.create(v.d.Call)) },
			seen: func(_ *victim, st *stateSeen) bool { return st.Height < 0 },
		},
		{
			name: "scanning", inject: slowSync, change: (*victim).createDense,
			seen: func(v *victim, st *stateSeen) bool { return st.Height > 0 && st.Height < v.tip() },
		},
		{
			name: "extended", before: (*victim).follow, inject: slowSync, change: (*victim).extendDense,
			seen: func(v *victim, st *stateSeen) bool { return st.Height < v.tip() },
		},
		{
			name: "a write that failed", before: (*victim).follow, inject: "write:error=ENOSPC",
			change: func(v *victim) { v.wants(v.mine(v.d.Call)) },
			seen:   func(_ *victim, st *stateSeen) bool { return strings.Contains(st.Error, "cannot be written") },
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			v := s.victim(t, test.name)
			if test.before != nil {
				test.before(v)
			}
			v.tamper(test.inject, ofSearches)
			test.change(v)
			v.killWhen(test.seen)
			s.d.Restart()
			v.isThere(true)
			s.shop.check()
		})
	}
	t.Run("a disk that is full", func(t *testing.T) {
		v := s.victim(t, "a disk that is full")
		v.follow()
		s.d.Stop()
		s.start("-searchroom=1000000000")
		v.d = s.d
		v.wants(v.mine(v.d.Call))
		v.killWhen(func(_ *victim, st *stateSeen) bool { return st.State == "paused" && st.Error != "" })
		s.start("-searchroom=1")
		v.d = s.d
		v.isThere(true)
		s.shop.check()
	})
}

// slowSync has what is written be durable late, so that a state lasts.
const slowSync = "fsync:delay_enter=400000"

type rpcCall = func(ctx context.Context, result any, method string, params ...any) error

// searchStates is a daemon with a search that is never touched, and others that are.
type searchStates struct {
	t         *testing.T
	strace    string
	d         *e2e.Daemon
	dir       string
	addresses []string
	shop      searcher
}

func newSearchStates(t *testing.T, strace string) *searchStates {
	t.Helper()
	s := &searchStates{t: t, strace: strace, dir: t.TempDir()}
	s.start("-searchroom=1")
	d := s.d
	denseBlocks(t, d, 2, 3000)
	d.Get(nil, "createwallet", "w", false, false, "", false, true, true)
	for range 4 {
		var address string
		d.Get(&address, "getnewaddress")
		s.addresses = append(s.addresses, address)
	}
	d.Get(nil, "generatetoaddress", 102, s.addresses[0])
	d.Get(nil, "sendtoaddress", s.addresses[1], 1)
	d.Get(nil, "generatetoaddress", 2, s.addresses[2])
	shop := s.victim(t, "shop")
	shop.follow()
	s.shop = shop.searcher
	return s
}

// start starts the daemon on its folder.
func (s *searchStates) start(args ...string) {
	s.t.Helper()
	s.d = e2e.Start(s.t, e2e.Config{
		Chain: "regtest", Dir: s.dir, Args: append(args, "-blockfilterindex=1", "-keypool=5", "-fallbackfee=0.0001"),
	})
	s.shop.d = s.d
}

// killAt kills the daemon when it makes a change, and reports whether that was acknowledged.
func (v *victim) killAt(m killMoment, in journals, change func(v *victim, call rpcCall) error) bool {
	v.t.Helper()
	call := v.d.Call // of this client
	if m.inject == "" {
		v.wants(change(v, call))
		v.d.Kill()
		return true
	}
	v.tamper(m.inject, in)
	err := change(v, call)
	e2e.Eventually(v.t, time.Minute, "the daemon is killed", v.d.HasEnded)
	v.d.Kill() // closes the client
	return err == nil
}

// killWhen kills the daemon when the search is seen to do something.
func (v *victim) killWhen(seen func(v *victim, st *stateSeen) bool) {
	v.t.Helper()
	e2e.Eventually(v.t, time.Minute, "the search is "+v.name, func() bool {
		st := v.seen()
		return seen(v, &st)
	})
	v.d.Kill()
}

// tamper has something happen when the daemon makes certain system calls for the journals.
func (v *victim) tamper(inject string, in journals) {
	v.t.Helper()
	call, _, _ := strings.Cut(inject, ":")
	args := []string{
		"-f", "-o", os.DevNull, "-e", "trace=" + call, "-e", "inject=" + inject, "-p", strconv.Itoa(v.d.PID()),
	}
	for _, path := range v.journals(in) {
		args = append(args, "-P", path)
	}
	cmd := exec.CommandContext(v.t.Context(), v.of.strace, args...)
	said, err := cmd.StderrPipe()
	if err == nil {
		err = cmd.Start()
	}
	v.wants(err)
	attached := make(chan struct{})
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for lines, first := bufio.NewScanner(said), true; lines.Scan(); {
			if first && strings.Contains(lines.Text(), "attached") {
				close(attached)
				first = false
			}
		}
		_ = cmd.Wait()
	}()
	v.t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-ended
	})
	select {
	case <-attached:
	case <-ended:
		v.t.Skip("strace may not attach to a process")
	}
}

// journals returns the files that the daemon has open as journals.
func (v *victim) journals(in journals) (paths []string) {
	v.t.Helper()
	folder := filepath.Join(v.d.NetDir, "searches")
	if in == ofModes {
		folder = filepath.Join(folder, "modes")
	}
	dir := fmt.Sprintf("/proc/%d/fd", v.d.PID())
	list, err := os.ReadDir(dir)
	v.wants(err)
	for _, entry := range list {
		to, _ := os.Readlink(filepath.Join(dir, entry.Name()))
		if filepath.Dir(to) == folder && strings.HasSuffix(to, ".log") {
			paths = append(paths, to)
		}
	}
	if len(paths) == 0 {
		v.t.Fatal("no journal is open in ", folder)
	}
	return paths
}
