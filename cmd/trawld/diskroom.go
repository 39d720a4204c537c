package main

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/seed61375155/trawl"
	"github.com/seed61375155/trawl/internal/corelog"
	"github.com/seed61375155/trawl/internal/options"
	"github.com/seed61375155/trawl/internal/vfs"
	"github.com/seed61375155/trawl/messages"
)

const (
	leastRoom = 50 << 20 // bytes that are to be free on a disk
	roomTurn  = 5 * time.Minute
)

// hasRoom reports whether the disk of a folder has leastRoom and so many bytes more. A disk that does not say
// what is free has.
func hasRoom(dir string, more uint64) bool {
	room := vfs.DiskRoom(dir)
	if room == nil {
		return true
	}
	free, _, err := room()
	return err != nil || free >= leastRoom+more
}

// checkRoom refuses to start on a disk that is full.
func (s *session) checkRoom() error {
	for _, dir := range []string{s.netDir, s.blocksDir} {
		if !s.hasRoom(dir, 0) {
			return refuse("Error: Disk space is low for %s", quotedPath(dir))
		}
	}
	return nil
}

var pathQuotes = strings.NewReplacer(`"`, `\"`, `\`, `\\`)

func quotedPath(path string) string { return `"` + pathQuotes.Replace(path) + `"` }

// warnOfRoom warns where a chain that begins will not fit on its disk.
func (d *daemon) warnOfRoom(ctx context.Context, cfg trawl.Config) error {
	if cfg.Attach != nil || cfg.Reindex || cfg.ReindexState {
		return nil
	}
	size := options.FullSize(d.settings)
	if size == 0 {
		return nil
	}
	tip, err := trawl.Ask(ctx, d.node.Chain(), messages.GetTip{})
	if err != nil || tip.Height > 1 || d.hasRoom(d.blocksDir, neededRoom(size<<30, cfg.Prune)) {
		return err
	}
	text := fmt.Sprintf("Disk space for %s may not accommodate the block files. Approximately %d GB of data will be "+
		"stored in this directory.", quotedPath(d.blocksDir), size)
	d.warn(text)
	return nil
}

// neededRoom is what block files will take of a chain that takes so many bytes.
func neededRoom(whole uint64, prune *trawl.PruneConfig) uint64 {
	if prune == nil || prune.Target == 0 {
		return whole
	}
	return min(whole, uint64(prune.Target))
}

// watchRoom stops the program before the disk of the block files is full.
func (d *daemon) watchRoom(ctx context.Context, turn time.Duration, hasRoom func() bool) {
	next := time.NewTicker(turn)
	defer next.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-next.C:
		}
		if !hasRoom() {
			corelog.Printf(d.log, slog.LevelError, "Shutting down due to lack of disk space!")
			d.stop()
			return
		}
	}
}
