package files

import (
	"context"
	"time"

	"github.com/seed61375155/trawl/filters"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/match"
	"github.com/seed61375155/trawl/internal/wallet"
	"github.com/seed61375155/trawl/internal/wallet/codes"
	"github.com/seed61375155/trawl/internal/wallet/rescan"
	"github.com/seed61375155/trawl/internal/walletfile"
	"github.com/seed61375155/trawl/messages"
)

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
