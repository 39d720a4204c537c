package chainrpc

import (
	"context"
	"errors"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/receipt"
	"github.com/seed61375155/trawl/internal/txjson"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
	"github.com/seed61375155/trawl/rpc/method/internal/arg"
)

func scanBlocks(d *Deps) command.Command {
	s := &scan{deps: d, net: d.Network.Descriptors(), printer: d.printer()}
	return command.Command{
		Name:     "scanblocks",
		Category: command.Blockchain,
		About:    command.Filters, Effect: command.Reads, At: command.Tip | command.Block,
		Summary: "Returns the blocks whose compact filter matches a set of output scripts (needs the block filter " +
			"index).\n" +
			"Over a whole chain this takes minutes: let the client wait that long.",
		Params:  scanParams,
		Results: scanResults,
		Examples: []string{
			`["start", ["addr(1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa)"], 300000]`,
			`["start", ["addr(1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa)"], 100, 150, "basic"]`,
			`["status"]`,
		},
		Run: s.run,
		Control: func(a *command.Args) bool {
			action, _ := a.String(0)
			return action == scanStatus || action == scanAbort
		},
	}
}

// The actions of scanblocks.
const (
	scanStart  = "start"
	scanStatus = "status"
	scanAbort  = "abort"
)

var scanParams = []command.Param{
	{
		Name: "action", Type: command.String,
		Help: "\"start\" begins a scan and returns its result\n" +
			"\"status\" tells how far the running scan is\n" +
			"\"abort\" ends the running scan",
	},
	{
		Name: "scanobjects", Type: command.Array, Optional: true, Usage: "[scanobjects,...]", Secret: true,
		Help: "what to look for, needed to start: descriptors, alone or in an object",
		Inner: []command.Param{
			{Name: "descriptor", Type: command.String, Optional: true, Help: "an output descriptor"},
			{
				Type: command.Object, Optional: true, Help: "a descriptor with the indices to derive",
				Inner: []command.Param{
					{Name: "desc", Type: command.String, Help: "an output descriptor"},
					{Name: "range", Type: command.Range, Default: "1000", Help: "last index, or first and last"},
					arg.GapParam,
				},
			},
		},
	},
	{
		Name: "start_height", Type: command.Number, Default: "0",
		Help: "height of the first block; by default the least that all descriptors are annotated with (bh, BIP393)",
	},
	{Name: "stop_height", Type: command.Number, Default: "height of the tip", Help: "height of the last block"},
	{Name: "filtertype", Type: command.String, Default: `"basic"`, Help: "kind of filter"},
	{
		Name: "options", Type: command.NamedOptions, Optional: true, Usage: "options",
		Inner: []command.Param{
			{
				Name: "filter_false_positives", Type: command.Bool, Default: "false",
				Help: "look into every matching block, and leave out those that matched by chance,\n" +
					"as one in 784931 does for each script",
			},
			{
				Name: "activity", Type: command.Bool, Default: "false", Extension: true,
				Help: "return as well what the scripts received and spent in the blocks found, as\n" +
					"getdescriptoractivity does; implies filter_false_positives",
			},
			{
				Name: "receipt", Type: command.Bool, Default: "false", Extension: true,
				Help: "return as well on what the result rests, for verifyreceipt on any node; implies\n" +
					"filter_false_positives",
			},
			{
				Name: "receipt_descriptors", Type: command.Bool, Default: "true", Extension: true,
				Help: "whether the receipt tells the descriptors, without private keys, and not only a\n" +
					"digest of their scripts",
			},
		},
		Help: "further options",
	},
}

var scanResults = []command.Result{
	{Type: command.Object, When: "when action=='start'", Inner: []command.Result{
		{Type: command.Number, Key: "from_height", Help: "height of the first block"},
		{Type: command.Number, Key: "to_height", Help: "height of the last block that was looked at"},
		{Type: command.Array, Key: "relevant_blocks", Help: "blocks that matched, by height", Inner: []command.Result{
			{Type: command.Hex, Help: "hash of a block"},
		}},
		{Type: command.Bool, Key: "completed", Help: "false when the scan was aborted"},
		{
			Type: command.Array, Key: "activity", Optional: true, Inner: activityResults[0].Inner[0].Inner,
			Help: "with the option activity: in the order of the blocks",
		},
		widenedResult,
		arg.ReceiptResult("with the option receipt, of a scan that was not aborted"),
	}},
	{Type: command.Object, When: "when action=='status' and a scan is running", Inner: []command.Result{
		{
			Type: command.Number, Key: "progress",
			Help: "percentage done, of the stage if there is one. With a gap it is that of the whole scan, and does\n" +
				"not fall: as it is not known how many passes there will be, each gets half of what is left",
		},
		{
			Type: command.Number, Key: "current_height",
			Help: "height up to which all blocks were looked at, with a gap by the present pass",
		},
		{
			Type: command.Number, Key: "pass", Optional: true,
			Help: "with a gap: which pass over the blocks this is, from 1 on",
		},
	}},
	{Type: command.Null, When: "when action=='status' and no scan is running"},
	{Type: command.Bool, When: "when action=='abort'", Help: "whether there was a scan to end"},
}

// scan is the body of scanblocks.
type scan struct {
	deps    *Deps
	net     *descriptor.Network
	printer *txjson.Printer
}

func (s *scan) run(ctx context.Context, a *command.Args) (any, error) {
	action, err := a.String(0)
	if err != nil {
		return nil, err
	}
	switch action {
	case scanStart:
		return s.start(ctx, a)
	case scanStatus:
		return s.status(ctx)
	case scanAbort:
		return s.abort(ctx)
	default:
		return nil, command.Errorf(command.InvalidParameter, "Invalid action '%s'", action)
	}
}

func (s *scan) abort(ctx context.Context) (any, error) {
	if s.deps.Index == nil {
		return false, nil
	}
	return ask.Ask(ctx, s.deps.Index.Scanner, messages.AbortScan{})
}

func (s *scan) status(ctx context.Context) (any, error) {
	if s.deps.Index == nil {
		return nil, nil
	}
	status, err := ask.Ask(ctx, s.deps.Index.Scanner, messages.GetScanStatus{})
	if err != nil || !status.Running {
		return nil, err
	}
	return struct {
		Progress int   `json:"progress"`
		Height   int32 `json:"current_height"`
		Pass     int   `json:"pass,omitempty"`
	}{status.Progress, status.Height, status.Pass}, nil
}

// scanResult is what a scan returns.
type scanResult struct {
	From      int32            `json:"from_height"`
	To        int32            `json:"to_height"`
	Blocks    []chainhash.Hash `json:"relevant_blocks"`
	Completed bool             `json:"completed"`
	Activity  *[]any           `json:"activity,omitempty"`
	Ranges    []widenedRange   `json:"descriptors,omitempty"`
	Receipt   *receipt.Receipt `json:"receipt,omitempty"`

	sum *receipt.Activity // of the activity
}

// start runs a scan. It holds the node's one slot for a scan from before its
// arguments are looked at until it returns.
func (s *scan) start(ctx context.Context, a *command.Args) (any, error) {
	slot, release, err := s.reserve(ctx)
	if err != nil {
		return nil, scanFailure(err)
	}
	completed := false
	defer func() { release(completed) }()
	order, err := s.order(a)
	if err != nil {
		return nil, err
	}
	objects, err := a.Array(1)
	if err != nil {
		return nil, err
	}
	answer, err := s.search(ctx, slot, objects, &order)
	if err != nil {
		return nil, err
	}
	completed = answer.Completed
	return answer, nil
}

// reserve takes the slot. release gives it back and says whether the scan completed.
func (s *scan) reserve(ctx context.Context) (slot messages.ScanSlot, release func(completed bool), err error) {
	if s.deps.Index == nil { // the call ends with an error soon
		return slot, func(bool) {}, nil
	}
	scanner := s.deps.Index.Scanner
	slot, err = ask.Ask(ctx, scanner, messages.ReserveScan{})
	return slot, func(completed bool) {
		// Without the slot no scan could ever start again, so this must
		// not end with the caller. It fails only when the scanner is gone.
		released := messages.ReleaseScan{Slot: slot.ID, Completed: completed}
		_, _ = ask.Ask(context.WithoutCancel(ctx), scanner, released)
	}, err
}

// holder returns what a call does with a slot of the scanner.
func (s *scan) holder(ctx context.Context, slot messages.ScanSlot) *holder {
	return newHolder(slot.Aborted, func(percent int, stage messages.ScanStage) {
		_, _ = ask.Ask(ctx, s.deps.Index.Scanner, messages.ReportScan{Slot: slot.ID, Progress: percent, Stage: stage})
	})
}

// scanOrder is what a scan is asked to do, but for the scripts.
type scanOrder struct {
	start       int32
	stop        *chainview.Block
	checkBlocks bool
	activity    bool
	receipt     bool
	hide        bool // the receipt tells no descriptors
	sumOnly     bool // of the activity only its sum is wanted
}

// order reads all arguments but the scan objects, in Core's order.
func (s *scan) order(a *command.Args) (order scanOrder, err error) {
	if err := checkFilterType(a, 4); err != nil {
		return order, err
	}
	if check := a.Value(5).Get("filter_false_positives"); check != nil {
		if order.checkBlocks, err = check.AsBool(); err != nil {
			return order, err
		}
	}
	if activity := a.Value(5).Get("activity"); activity != nil {
		if order.activity, err = activity.AsBool(); err != nil {
			return order, err
		}
	}
	if err := order.readReceipt(a.Value(5)); err != nil {
		return order, err
	}
	if s.deps.Index == nil {
		return order, errIndexOff
	}
	active, err := s.deps.active()
	if err != nil {
		return order, err
	}
	if order.start, err = a.Int32Or(2, 0); err != nil {
		return order, err
	}
	if active.At(order.start) == nil {
		return order, command.Error{Code: command.MiscError, Message: "Invalid start_height"}
	}
	stop, err := a.Int32Or(3, active.Height())
	if err != nil {
		return order, err
	}
	if order.stop = active.At(stop); order.stop == nil || stop < order.start {
		return order, command.Error{Code: command.MiscError, Message: "Invalid stop_height"}
	}
	if !a.Has(2) {
		if order.start = arg.BirthHeight(a.Value(1)); order.start > stop {
			return order, arg.BirthFailure(order.start, stop)
		}
	}
	return order, nil
}

// errScanBusy answers a second scan.
var errScanBusy = command.Error{
	Code:    command.InvalidParameter,
	Message: `Scan already in progress, use action "abort" or "status"`,
}

// errFiltersToCome answers a scan of heights whose filters cannot be built yet.
var errFiltersToCome = command.Error{
	Code: command.MiscError,
	Message: "Block filters are still in the process of being indexed: the blocks before the loaded snapshot are " +
		"being downloaded and validated. Check getchainstates and getindexinfo, and try again later.",
}

// scanFailure puts an error of the scanner into words for the client.
func scanFailure(err error) error {
	if errors.Is(err, messages.ErrScanBusy) {
		return errScanBusy
	}
	if errors.Is(err, messages.ErrBlockNotYet) {
		return errFiltersToCome
	}
	if damage, ok := errors.AsType[*messages.FilterError](err); ok {
		return command.Error{Code: command.MiscError, Message: damage.Error()}
	}
	return blockTexts.failure(err)
}
