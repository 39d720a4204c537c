package messages

// A StartError is a reason not to start, in Core's words and meant for the operator.
type StartError string

// Error implements error.
func (e StartError) Error() string { return string(e) }
