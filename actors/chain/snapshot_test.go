package chain_test

import (
	"context"
	"errors"
	"testing"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/messages"
)

// slowFile is a snapshot whose reading waits.
type slowFile struct {
	reading, open chan struct{}
	used          error
	wasUsed       chan struct{}
}

func newSlowFile() *slowFile {
	return &slowFile{reading: make(chan struct{}), open: make(chan struct{}), wasUsed: make(chan struct{})}
}

var errRead = &messages.SnapshotError{Reason: "read"}

func (s *slowFile) Read(ctx context.Context) error {
	close(s.reading)
	select {
	case <-s.open:
		return errRead
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (s *slowFile) Use(read error) (messages.LoadedSnapshot, error) {
	s.used = read
	close(s.wasUsed)
	if errors.Is(read, errRead) {
		return messages.LoadedSnapshot{Coins: 7}, nil
	}
	return messages.LoadedSnapshot{}, read
}

// The chain goes on while a snapshot is read, and uses it afterwards.
func TestSnapshotBeside(t *testing.T) {
	file := newSlowFile()
	f := spawnFile(t, file)
	answer := make(chan error, 1)
	var got messages.LoadedSnapshot
	go func() {
		var err error
		got, err = ask.Ask(t.Context(), f.Ref, messages.LoadSnapshot{Path: "x"})
		answer <- err
	}()
	<-file.reading
	f.generate(t, 2)
	select {
	case err := <-answer:
		t.Fatalf("answered while the file is read: %v", err)
	default:
	}
	close(file.open)
	if err := <-answer; err != nil || got.Coins != 7 || !errors.Is(file.used, errRead) {
		t.Errorf("%+v, %v, used after %v", got, err, file.used)
	}
}

// A caller that goes away while the file is read ends nothing: the snapshot is used. For a caller
// that has gone before its turn, nothing is begun.
func TestSnapshotCallerGone(t *testing.T) {
	file := newSlowFile()
	f := spawnFile(t, file)
	ctx, leave := context.WithCancel(t.Context())
	answer := make(chan error, 1)
	go func() {
		_, err := ask.Ask(ctx, f.Ref, messages.LoadSnapshot{Path: "x"})
		answer <- err
	}()
	<-file.reading
	leave()
	if err := <-answer; !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	close(file.open)
	<-file.wasUsed
	if !errors.Is(file.used, errRead) {
		t.Errorf("used after %v", file.used)
	}
	f.generate(t, 1)

	held, release := make(chan struct{}), make(chan struct{})
	looked := false
	f.onCall(func(method string) error {
		switch method {
		case "Mine":
			close(held)
			<-release
		case "LoadSnapshot":
			looked = true
		}
		return nil
	})
	go func() {
		_, err := ask.Ask(t.Context(), f.Ref, messages.Generate{Script: trueScript, Count: 1, Tries: many})
		answer <- err
	}()
	<-held
	ctx, leave = context.WithCancel(t.Context())
	gone := make(chan error, 1)
	go func() {
		_, err := ask.Ask(ctx, f.Ref, messages.LoadSnapshot{Path: "y"})
		gone <- err
	}()
	leave()
	<-gone
	f.onCall(func(method string) error {
		looked = looked || method == "LoadSnapshot"
		return nil
	})
	close(release)
	if err := <-answer; err != nil {
		t.Fatal(err)
	}
	f.generate(t, 1)
	if looked {
		t.Error("a file was looked at for a caller that had gone")
	}
}

// A chain that stops does not wait for the file to be read to its end.
func TestSnapshotStopped(t *testing.T) {
	file := newSlowFile()
	f := spawnFile(t, file)
	answer := make(chan error, 1)
	go func() {
		_, err := ask.Ask(t.Context(), f.Ref, messages.LoadSnapshot{Path: "x"})
		answer <- err
	}()
	<-file.reading
	if err := f.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-answer; !errors.Is(err, ask.ErrStopped) || file.used != nil {
		t.Errorf("%v, used after %v", err, file.used)
	}
}

// A refusal by the engine is the caller's answer, and the chain goes on.
func TestSnapshotRefused(t *testing.T) {
	f := spawn(t)
	if _, err := ask.Ask(t.Context(), f.Ref, messages.LoadSnapshot{Path: f.dir + "/none"}); !errors.Is(err,
		messages.ErrNotOpened) {
		t.Error(err)
	}
	f.generate(t, 1)
}
