package follower_test

import (
	"errors"
	"testing"
	"time"

	"github.com/seed61375155/trawl/internal/corenode"
	"github.com/seed61375155/trawl/messages"
)

// A Core that does not answer one call in time is away at once for all callers, and is
// followed again once it answers.
func TestSilentCore(t *testing.T) {
	core := newFakeCore(t)
	address, err := corenode.ParseAddress(core.URL, 0)
	if err != nil {
		t.Fatal(err)
	}
	cfg := core.config(t, t.TempDir())
	cfg.Core, err = corenode.New(corenode.Config{
		Address: address, User: "u", Password: "p", Timeout: 50 * time.Millisecond,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cfg.Core.Close)
	e := open(t, cfg)
	for end := time.Now().Add(time.Minute); e.Follow(t.Context()) != nil; {
		if time.Now().After(end) {
			t.Fatal("it is not followed")
		}
	}
	release := make(chan struct{})
	core.set(func(f *fakeCore) { f.asked = func(string) { <-release } })
	if err := cfg.Core.Call(t.Context(), nil, "getblockchaininfo"); !errors.Is(err, corenode.ErrAway) {
		t.Errorf("it answers: %v", err)
	}
	if s := e.State(); s.Phase != messages.AttachAway || s.Reason == "" || time.Since(s.Since) > time.Minute {
		t.Errorf("phase %s since %v: %q", s.Phase, s.Since, s.Reason)
	}
	close(release)
	for end := time.Now().Add(time.Minute); ; {
		if cfg.Core.Call(t.Context(), nil, "getblockchaininfo") == nil {
			break
		}
		if time.Now().After(end) {
			t.Fatal("it does not answer")
		}
	}
	if s := e.State(); s.Phase != messages.AttachFollowing || s.Reason != "" {
		t.Errorf("phase %s: %q", s.Phase, s.Reason)
	}
}
