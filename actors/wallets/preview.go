package wallets

import (
	"context"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/vfs"
	"github.com/seed61375155/trawl/internal/wallet/codes"
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

	// previewList is how many descriptors are told of, and previewAddresses how many addresses of each.
	previewList      = 1000
	previewAddresses = 3
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
	name := suggestedName(req.Backup)
	if req.Name != nil {
		name = *req.Name
	} else {
		name = freeName(name, func(name string) bool {
			_, err := os.Lstat(newHome(&s.cfg, name).dir)
			return walletdir.Missing(err)
		})
	}
	p := &preview{shared: s, home: newHome(&s.cfg, name), source: req.Backup}
	p.got.Plan.Name = name
	return p
}

// suggestedName is how a wallet may be called by the path of its backup.
func suggestedName(path string) string {
	base := filepath.Base(path)
	if base == walletdb.FileName {
		base = filepath.Base(filepath.Dir(path))
	}
	name := strings.TrimSuffix(base, filepath.Ext(base))
	if name == "" || name == "." || name == string(filepath.Separator) {
		return "restored"
	}
	return name
}

// freeName returns the given name if it is free, else its first free variant. If none of 1000
// variants is free, freeName returns the given name, too.
func freeName(name string, free func(string) bool) string {
	if free(name) {
		return name
	}
	const tries = 1000
	for n := 1; n <= tries; n++ {
		ending := "-restored"
		if n > 1 {
			ending = "-" + strconv.Itoa(n)
		}
		if free(name + ending) {
			return name + ending
		}
	}
	return name
}

func (p *preview) run(ctx context.Context) (messages.RestorePreview, error) {
	info, err := os.Stat(p.source)
	switch {
	case err != nil && walletdir.Missing(err):
		return p.got, codes.Errorf(codes.Parameter, "Backup file does not exist")
	case err != nil:
		return p.got, fileSystem("status", err, p.source)
	}
	p.got.Size, p.got.Format = info.Size(), formatName(p.source, p.cfg.Network.Magic)
	if !info.Mode().IsRegular() {
		p.got.Problem = fileSystem("cannot copy file", syscall.EINVAL, p.source, p.home.file).Text
		return p.got, nil
	}
	content, err := p.read(ctx)
	if err != nil || content == nil {
		return p.got, err
	}
	defer content.Zero()
	if err := p.describe(ctx, content); err != nil {
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
		return nil, unexpected(err)
	default:
		p.got.Problem = p.home.refusedRecords(severity).Text + recovery.Hint(p.source)
		return nil, nil //nolint:nilnil // the problem is told
	}
	p.everything = severity == walletfile.NeedRescan
	p.got.Partial, p.got.RolledBack, p.got.FromLog = severity != walletfile.OK, recovery.Journal, recovery.Log
	p.got.Warnings = append(p.home.warnings(content, severity), recoveryWarnings(recovery)...)
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

// describe tells what the file has in it.
func (p *preview) describe(ctx context.Context, content *walletfile.Wallet) error {
	p.got.Flags, p.got.Encrypted = content.Flags.Names(), content.Encrypted()
	if content.Version != nil {
		p.got.Version = new(int32(*content.Version))
	}
	p.got.Transactions, p.got.NDescriptors = len(content.Txs), len(content.Descriptors)
	for _, address := range content.Addresses {
		if address.Label != nil && *address.Label != "" {
			p.got.Labels++
		}
	}
	active := make(map[string]walletfile.Slot, len(content.Active))
	for slot, id := range content.Active {
		active[string(id[:])] = slot
	}
	for _, d := range content.Descriptors {
		if err := ctx.Err(); err != nil {
			return err
		}
		birth := time.Unix(int64(min(d.CreationTime, maxTime)), 0)
		if p.got.Birth.IsZero() || birth.Before(p.got.Birth) {
			p.got.Birth = birth
		}
		p.got.PrivateKeys = p.got.PrivateKeys || d.HasPrivateKeys()
		if len(p.got.Descriptors) < previewList {
			slot, isActive := active[string(d.ID[:])]
			shown := p.descriptor(d, birth, isActive, isActive && slot.Internal) //nolint:contextcheck // a few
			p.got.Descriptors = append(p.got.Descriptors, shown)
		}
	}
	return nil
}

// maxTime keeps what a file says of a time within what can be shown.
const maxTime = 1<<32 - 1

// descriptor tells of one descriptor. Keys and addresses that cannot be derived are left out.
func (p *preview) descriptor(
	d *walletfile.Descriptor, birth time.Time, active, internal bool,
) messages.PreviewDescriptor {
	shown := messages.PreviewDescriptor{
		Desc: d.Parsed.String(), Active: active, Internal: internal, PrivateKeys: d.HasPrivateKeys(),
		Birth: birth, Ranged: d.Parsed.IsRanged(), Next: d.NextIndex,
	}
	if shown.Ranged {
		shown.Range = [2]int32{d.RangeStart, d.RangeEnd - 1}
	}
	known, net := d.Cached(), p.cfg.Network.Descriptors()
	first := uint32(max(d.RangeStart, 0))
	if keys, err := known.KeysAt(first); err == nil {
		for _, key := range keys {
			shown.Fingerprints = append(shown.Fingerprints, hex.EncodeToString(key.Fingerprint[:]))
		}
		slices.Sort(shown.Fingerprints)
		shown.Fingerprints = slices.Compact(shown.Fingerprints)
	}
	for index := first; index < first+previewAddresses; index++ {
		scripts, err := known.Expand(index)
		if err != nil {
			break
		}
		for _, script := range scripts {
			if address, ok := descriptor.AddressOf(script, net); ok {
				shown.Addresses = append(shown.Addresses, address)
			}
		}
		if !shown.Ranged {
			break
		}
	}
	return shown
}

// inChain returns the height of a locator's first block, -1 where the active chain does not have it.
func inChain(chain activeChain, l walletfile.Locator) int32 {
	if b := chain.reader.Lookup(&l[0]); b != nil && chain.active.Contains(b) {
		return b.Height
	}
	return -1
}

// chainNow returns the active chain, false while there is none.
func (p *preview) chainNow() (activeChain, bool) {
	reader := p.cfg.Chain.Open()
	if reader == nil {
		return activeChain{}, false
	}
	return activeChain{reader, reader.Active()}, true
}

var errNotReady = unexpected(chainview.ErrNotReady)
