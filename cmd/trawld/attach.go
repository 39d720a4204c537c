package main

import (
	"context"
	"io"
	"math"
	"slices"
	"time"

	"github.com/seed61375155/trawl"
	"github.com/seed61375155/trawl/internal/options"
)

// attachedPorts is how far above the network's port an attached node listens: the
// network's own is Bitcoin Core's.
const attachedPorts = 10

// takeCoreChain selects the network that the configuration of Bitcoin Core names, where
// the node's own names none.
func takeCoreChain(o *options.Settings) error {
	if o.String("attach", "") == "" || chainSet(o) {
		return nil
	}
	cfg := attachConfig(o)
	cfg.Chain = ""
	a, err := trawl.NewAttachment(cfg)
	if err != nil {
		return refuse("-attach: %v", err)
	}
	if a.Chain() != string(options.Main) {
		o.Force("chain", a.Chain())
	}
	return nil
}

// attachment reads the options that concern the Bitcoin Core to attach to; nil without
// -attach.
func attachment(o *options.Settings) (*trawl.Attachment, error) {
	if o.String("attach", "") == "" {
		return nil, nil
	}
	if o.IsSet("blockfilterindex") {
		if on, err := filterIndex(o); err == nil && !on {
			return nil, refuse("-attach cannot be combined with -blockfilterindex=0: it is for the filters.")
		}
	}
	a, err := trawl.NewAttachment(attachConfig(o))
	if err != nil {
		return nil, refuse("-attach: %v", err)
	}
	return a, nil
}

// chainSet reports whether a network was asked for.
func chainSet(o *options.Settings) bool {
	return slices.ContainsFunc([]string{"chain", "regtest", "signet", "testnet", "testnet4"}, o.IsSet)
}

func attachConfig(o *options.Settings) trawl.AttachConfig {
	return trawl.AttachConfig{
		Core: o.String("attach", ""), Chain: string(o.Chain()),
		RPC:        o.String("attachrpc", ""),
		CookieFile: o.Path("attachcookie", ""), LoginFile: o.Path("attachlogin", ""), CA: o.Path("attachca", ""),
		From:      int32(min(max(o.Int("attachfrom", 0), 0), math.MaxInt32)),
		NoVerify:  !o.Bool("attachverify", true),
		NoWallets: o.Bool("disablewallet", false),
		Insecure:  o.Bool("attachinsecure", false),
		Forward:   o.String("attachforward", ""), ServeFew: o.String("attachserve", "") == "min",
	}
}

// checkTime bounds the calls of -check.
const checkTime = 30 * time.Second

// checkAttached obeys -check. It returns errAnswered, or why the node could not follow.
func checkAttached(a *trawl.Attachment, w io.Writer) error {
	if a == nil {
		return refuse("-check tells what -attach would do, which is not set.")
	}
	ctx, cancel := context.WithTimeout(context.Background(), checkTime)
	defer cancel()
	if err := a.Check(ctx, w); err != nil {
		return refuse("-attach: %v", err)
	}
	return errAnswered
}
