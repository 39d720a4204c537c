package follower

import (
	"context"

	"github.com/seed61375155/trawl/store/corefiles"
)

// fileSource is how it stands with Core's files.
type fileSource struct {
	dir string // empty: they are not read
	why string // the last error; empty: none
}

// lookAtFiles opens Core's files, if they are not open, and looks through what is new.
// That they cannot be read is no error: what is in them is asked for then.
func (e *Engine) lookAtFiles(ctx context.Context) {
	f := &e.files
	if f.dir == "" {
		return
	}
	dir := e.source.files.Load()
	if dir == nil {
		var err error
		dir, err = corefiles.Open(corefiles.Options{Dir: f.dir, Magic: e.net.Magic, MaxBlock: e.net.MaxBlockSize})
		if err != nil {
			e.filesFailed(err)
			return
		}
	}
	blocks, err := dir.Refresh(ctx)
	if ctx.Err() != nil {
		err = nil
	}
	if e.source.files.Swap(dir) == nil {
		e.log.Info("reading Bitcoin Core's block files", "dir", f.dir, "blocks", blocks)
	}
	e.filesFailed(err)
}

// filesFailed logs an error, unless it is the last one.
func (e *Engine) filesFailed(err error) {
	why := ""
	if err != nil {
		why = err.Error()
	}
	if why != e.files.why && why != "" {
		e.log.Warn("Bitcoin Core's block files cannot be read, it is asked for their blocks", "err", err)
	}
	e.files.why = why
}

func (e *Engine) closeFiles() error {
	if dir := e.source.files.Load(); dir != nil {
		return dir.Close()
	}
	return nil
}
