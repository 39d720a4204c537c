package wallets

import (
	"context"
	"errors"
	"os"
	"syscall"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/vfs"
	"github.com/seed61375155/trawl/internal/wallet"
	"github.com/seed61375155/trawl/internal/wallet/codes"
	"github.com/seed61375155/trawl/internal/wallet/rescan"
	"github.com/seed61375155/trawl/internal/walletfile"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/store/walletdb"
	"github.com/seed61375155/trawl/store/walletdir"
)

const (
	// previewTime is how long a preview may take.
	previewTime = 30 * time.Second

	// maxPreviews is how many previews are made at a time.
	maxPreviews = 2
)

// previewLimits bound what a preview reads.
var previewLimits = walletdb.Limits{Records: 1_000_000, Bytes: 512 << 20}

// previewCopy is how large a copy a preview makes at most, in bytes, and previewRoom how much
// of the disk it leaves free.
const (
	previewCopy = 1 << 30
	previewRoom = 256 << 20
)

var (
	errPreviewTime = codes.Errorf(codes.Wallet, "The backup could not be looked through within %d seconds.",
		previewTime/time.Second)
	errPreviewSize = codes.Errorf(codes.Wallet, "The backup has more than %d records, or too large ones.",
		previewLimits.Records)
)

// preview has a preview made, now or when it is its turn. It ends with the caller, the actor, or when it has taken
// too long.
func (w *Wallets) preview(c actor.Context, m *ask.Call[messages.PreviewRestore, messages.RestorePreview]) {
	ask.ServeIn(c, w.previews, m, func(j *ask.Job, q messages.PreviewRestore) (messages.RestorePreview, error) {
		ctx, cancel := context.WithTimeoutCause(j.Context(), previewTime, errPreviewTime)
		defer cancel()
		got, err := newPreview(w.shared, q).run(ctx)
		if err != nil && ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return got, err
	})
}

// A preview looks at one backup. It writes nothing, unless the backup is a copy of a wallet in
// use: then SQLite makes a copy of it whole, which is removed again.
type preview struct {
	*shared

	home   *home // of the wallet that a restore would make
	source string

	everything bool // the wallet has to look through the whole chain
	got        messages.RestorePreview
}

func newPreview(s *shared, req messages.PreviewRestore) *preview {
	name := walletdir.SuggestedName(req.Backup, walletdb.FileName)
	if req.Name != nil {
		name = *req.Name
	} else {
		name = walletdir.FreeName(name, func(name string) bool {
			_, err := os.Lstat(newHome(&s.cfg, name).dir)
			return walletdb.Missing(err)
		})
	}
	p := &preview{shared: s, home: newHome(&s.cfg, name), source: req.Backup}
	p.got.Plan.Name = name
	return p
}

func (p *preview) run(ctx context.Context) (messages.RestorePreview, error) {
	info, err := os.Stat(p.source)
	switch {
	case err != nil && walletdb.Missing(err):
		return p.got, codes.Errorf(codes.Parameter, "Backup file does not exist")
	case err != nil:
		return p.got, codes.FileSystem("status", err, p.source)
	}
	p.got.Size, p.got.Format = info.Size(), formatName(p.source, p.cfg.Network.Magic)
	if !info.Mode().IsRegular() {
		p.got.Problem = codes.FileSystem("cannot copy file", syscall.EINVAL, p.source, p.home.file).Text
		return p.got, nil
	}
	content, err := p.read(ctx)
	if err != nil || content == nil {
		return p.got, err
	}
	defer content.Zero()
	if err := wallet.Describe(ctx, content, p.cfg.Network.Descriptors(), &p.got); err != nil {
		return p.got, err
	}
	return p.got, p.plan(ctx, content)
}

func formatName(path string, magic [4]byte) string {
	switch format, _ := walletdb.FormatOf(path, magic); format {
	case walletdb.SQLite:
		return "sqlite"
	case walletdb.Berkeley:
		return "bdb"
	case walletdb.Unknown:
	}
	return "unknown"
}

// read reads the file. If the file has a problem, read notes it in the preview, and returns
// neither a content nor an error.
func (p *preview) read(ctx context.Context) (*walletfile.Wallet, error) {
	params := p.cfg.params(p.home.name)
	var content *walletfile.Wallet
	var severity walletfile.Severity
	looked := false
	opts := p.cfg.fileOptions()
	recovery, err := walletdb.Inspect(ctx, p.source, p.cfg.Dir, p.copyLimit(), opts, func(path string) (err error) {
		looked = true
		content, severity, err = walletdb.Verify(ctx, path, opts, params.LoadOptions(), previewLimits)
		return err
	})
	var refused *walletdb.Error
	switch {
	case err == nil:
	case ctx.Err() != nil:
		return nil, err
	case errors.Is(err, walletdb.ErrTooLarge):
		return nil, errPreviewSize
	case errors.As(err, &refused):
		p.got.Problem = refusedFile(err).Text + recovery.Hint(p.source)
		return nil, nil //nolint:nilnil // the problem is told
	case !looked:
		return nil, codes.Unexpected(err)
	default:
		p.got.Problem = p.home.refusedRecords(severity).Text + recovery.Hint(p.source)
		return nil, nil //nolint:nilnil // the problem is told
	}
	p.everything = severity == walletfile.NeedRescan
	p.got.Partial, p.got.RolledBack, p.got.FromLog = severity != walletfile.OK, recovery.Journal, recovery.Log
	p.got.Warnings = append(p.home.warnings(content, severity), recovery.Warnings()...)
	return content, nil
}

// copyLimit is how large a copy may be for which the disk has room.
func (p *preview) copyLimit() int64 {
	free, _, err := vfs.DiskRoom(p.cfg.Dir)()
	if err != nil {
		return previewCopy // the copying will tell
	}
	return min(previewCopy, max(int64(free/2)-previewRoom, 0))
}

// chainNow returns the active chain, false while there is none.
func (p *preview) chainNow() (rescan.ActiveChain, bool) {
	reader := p.cfg.Chain.Open()
	if reader == nil {
		return rescan.ActiveChain{}, false
	}
	return rescan.ActiveChain{Reader: reader, Active: reader.Active()}, true
}

var errNotReady = codes.Unexpected(chainview.ErrNotReady)
