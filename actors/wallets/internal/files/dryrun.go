package files

import (
	"context"
	"errors"
	"os"
	"syscall"
	"time"

	"github.com/seed61375155/trawl/filters"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/match"
	"github.com/seed61375155/trawl/internal/vfs"
	"github.com/seed61375155/trawl/internal/wallet"
	"github.com/seed61375155/trawl/internal/wallet/codes"
	"github.com/seed61375155/trawl/internal/wallet/rescan"
	"github.com/seed61375155/trawl/internal/walletfile"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/store/walletdb"
	"github.com/seed61375155/trawl/store/walletdir"
)

// previewLimits bound what a preview reads.
var previewLimits = walletdb.Limits{Records: 1_000_000, Bytes: 512 << 20}

// previewCopy is how large a copy a preview makes at most, in bytes, and previewRoom how much
// of the disk it leaves free.
const (
	previewCopy = 1 << 30
	previewRoom = 256 << 20
)

var errTooLarge = codes.Errorf(codes.Wallet, "The backup has more than %d records, or too large ones.",
	previewLimits.Records)

// A dryRun looks at a backup as a restore would. It writes nothing, unless the backup is a copy of a wallet in
// use: then SQLite makes a copy of it whole, which is removed again.
type dryRun struct {
	*Spec  // the wallet that a restore would make
	source string

	everything bool // the wallet has to look through the whole chain
	got        messages.RestorePreview
}

// Preview looks through a backup, and says what a restore would do.
//
// Errors: *messages.WalletError, and that of the context.
func (c *Config) Preview(ctx context.Context, req messages.PreviewRestore) (messages.RestorePreview, error) {
	name := walletdir.SuggestedName(req.Backup, walletdb.FileName)
	if req.Name != nil {
		name = *req.Name
	} else {
		name = walletdir.FreeName(name, func(name string) bool {
			_, err := os.Lstat(c.Spec(name).dir)
			return walletdb.Missing(err)
		})
	}
	p := &dryRun{Spec: c.Spec(name), source: req.Backup}
	p.got.Plan.Name = name
	err := p.run(ctx)
	return p.got, err
}

func (p *dryRun) run(ctx context.Context) error {
	info, err := statBackup(p.source)
	if err != nil {
		return err
	}
	p.got.Size, p.got.Format = info.Size(), formatName(p.source, p.cfg.Network.Magic)
	if !info.Mode().IsRegular() {
		p.got.Problem = codes.FileSystem("cannot copy file", syscall.EINVAL, p.source, p.file).Text
		return nil
	}
	content, err := p.read(ctx)
	if err != nil || content == nil {
		return err
	}
	defer content.Zero()
	if err := wallet.Describe(ctx, content, p.cfg.Network.Descriptors(), &p.got); err != nil {
		return err
	}
	if err := p.plan(ctx, content); err != nil {
		return err
	}
	if chain, err := p.cfg.chain(content.BestBlock); err == nil {
		looked, cancel := context.WithTimeout(ctx, previewBeyond)
		defer cancel()
		p.got.Beyond = newBeyond(content, p.cfg.KeyPool).look(looked, p.cfg, chain)
	}
	return ctx.Err()
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
func (p *dryRun) read(ctx context.Context) (*walletfile.Wallet, error) {
	var content *walletfile.Wallet
	var severity walletfile.Severity
	looked := false
	inspect := func(path string) (err error) {
		looked = true
		content, severity, err = p.verify(ctx, path, previewLimits)
		return err
	}
	recovery, err := walletdb.Inspect(ctx, p.source, p.cfg.Dir, p.copyLimit(), p.cfg.options(), inspect)
	var refused *walletdb.Error
	switch {
	case err == nil:
	case ctx.Err() != nil:
		return nil, err
	case errors.Is(err, walletdb.ErrTooLarge):
		return nil, errTooLarge
	case errors.As(err, &refused):
		p.got.Problem = refusedFile(err).Text + recovery.Hint(p.source)
		return nil, nil //nolint:nilnil // the problem is told
	case !looked:
		return nil, codes.Unexpected(err)
	default:
		p.got.Problem = p.refusedRecords(severity).Text + recovery.Hint(p.source)
		return nil, nil //nolint:nilnil // the problem is told
	}
	p.everything = severity == walletfile.NeedRescan
	p.got.Partial, p.got.RolledBack, p.got.FromLog = severity != walletfile.OK, recovery.Journal, recovery.Log
	p.got.Warnings = append(p.warnings(content, severity), recovery.Warnings()...)
	return content, nil
}

// copyLimit is how large a copy may be for which the disk has room.
func (p *dryRun) copyLimit() int64 {
	free, _, err := vfs.DiskRoom(p.cfg.Dir)()
	if err != nil {
		return previewCopy // the copying will tell
	}
	return min(previewCopy, max(int64(free/2)-previewRoom, 0))
}

const (
	// maxSampled, sampleFilters and sampleReads bound what the time of a rescan is estimated by.
	maxSampled    = 20_000
	sampleFilters = 2000
	sampleReads   = 8

	// sampleTime is how long the estimate itself may take.
	sampleTime = 2 * time.Second
)

// plan tells what a restore would do.
func (p *dryRun) plan(ctx context.Context, content *walletfile.Wallet) error {
	best := content.BestBlock
	chain, err := p.cfg.chain(best)
	if chain.Reader == nil {
		return err
	}
	if len(best) > 0 {
		p.got.LastBlock = &messages.PreviewBlock{Hash: best[0], Height: chain.Height(best)}
	}
	plan := &p.got.Plan
	plan.Problem = p.nameProblem() //nolint:contextcheck // files know no contexts
	if err != nil {
		plan.Problem = codes.TextOf(err)
		return nil
	}
	from := int32(0)
	if !p.everything {
		from = chain.ForkHeight(best)
	}
	tip := chain.Active.Tip()
	if from == tip.Height {
		return nil
	}
	plan.From, plan.To = chain.FirstToScan(from, wallet.BirthOf(content)), tip.Height
	plan.Blocks = plan.To - plan.From + 1
	for b := tip; b != nil && b.Height >= plan.From; b = b.Parent {
		if b.Height > 0 && b.Status()&chainview.HasData == 0 {
			plan.Fetch++
		}
	}
	if plan.Fetch > 0 && plan.Problem == "" {
		plan.Problem = rescan.ErrPruned.Text
	}
	plan.Filters = p.cfg.Scheduler != nil && p.cfg.Scheduler.View().Active(tip.Height, &tip.Hash)
	return p.estimate(ctx, chain, content)
}

// nameProblem is why a wallet cannot have the name, empty where it can.
func (p *dryRun) nameProblem() string {
	free, err := true, p.checkNamed()
	if err == nil {
		free, err = p.Restore(p.source).isFree()
	}
	if err == nil && free { // else a restore that was cut short goes on
		err = p.checkPath(true)
	}
	if err != nil {
		return codes.TextOf(err)
	}
	return ""
}

// estimate measures how long a part of the rescan takes. Without filters, or if none could be
// matched, the estimate is the time of reading all blocks.
func (p *dryRun) estimate(ctx context.Context, chain rescan.ActiveChain, content *walletfile.Wallet) error {
	plan := &p.got.Plan
	looked, cancel := context.WithTimeout(ctx, sampleTime)
	defer cancel()
	read := p.timeOfRead(looked, chain)
	if !plan.Filters {
		plan.Estimate = time.Duration(plan.Blocks) * read
		return ctx.Err()
	}
	scripts, all := wallet.SampleScripts(looked, content, maxSampled)
	first := max(plan.From, plan.To-sampleFilters+1)
	pass := p.cfg.Scheduler.NewPass(match.Config{
		Query: filters.NewQuery(scripts), First: first, Stop: chain.Active.At(plan.To), Exact: true,
	})
	began := time.Now()
	_ = p.cfg.Scheduler.Run(looked, pass) // as far as it has come counts
	took := time.Since(began)
	blocks := min(pass.Frontier(), plan.To+1) - first
	if blocks <= 0 {
		plan.Estimate = time.Duration(plan.Blocks) * read
		return ctx.Err()
	}
	hits, _ := pass.Hits()
	share := float64(plan.Blocks) / float64(blocks)
	more := max(float64(all)/float64(max(len(scripts), 1)), 1)
	plan.Estimate = time.Duration(share * (float64(took)*more + float64(len(hits))*float64(read)))
	return ctx.Err()
}

// timeOfRead measures how long a block takes to be read.
func (p *dryRun) timeOfRead(ctx context.Context, chain rescan.ActiveChain) time.Duration {
	plan := &p.got.Plan
	step := max(plan.Blocks/sampleReads, 1)
	began, n := time.Now(), 0
	for height := plan.To; height >= plan.From && ctx.Err() == nil && n < sampleReads; height -= step {
		if _, err := chain.Reader.Block(&chain.Active.At(height).Hash); err == nil {
			n++
		}
	}
	return time.Since(began) / time.Duration(max(n, 1))
}
