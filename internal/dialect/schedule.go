package dialect

// Engine says which engine validates the chains of a network.
type Engine uint8

// The engines.
const (
	EngineBitcoin Engine = iota
	EngineP2MR
)

// A ScheduledRule is a limit that changes at a height.
type ScheduledRule struct {
	Kind          RuleKind
	Height        int32 // of the first block that the new limit holds for
	Before, Since int64 // the limits
}

// RuleKind says what a rule limits.
type RuleKind uint8

// The kinds.
const (
	// SigOpWeight is what a signature takes of a spend's validation budget.
	SigOpWeight RuleKind = iota

	// FutureTime is how many seconds a block may be ahead of the clock.
	FutureTime
)

// Active reports whether the new limit holds for the block at a height.
func (r *ScheduledRule) Active(height int32) bool { return height >= r.Height }

// At returns the limit for the block at a height.
func (r *ScheduledRule) At(height int32) int64 {
	if r.Active(height) {
		return r.Since
	}
	return r.Before
}
