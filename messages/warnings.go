package messages

// GetWarnings asks for what the operator should know of the chain, in Core's words,
// as of the present tip.
type GetWarnings struct{ Asks[[]string] }

// WarningRaised announces a warning that was not there before.
type WarningRaised struct{ Text string }
