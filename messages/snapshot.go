package messages

// LoadSnapshot begins the active chain with a set of unspent outputs that is read from a file,
// as dumptxoutset writes it, and whose hash the node knows. The blocks before are validated in
// the background. The chain goes on while the file is read, and so does the reading when the caller
// leaves. The answer comes when a loss of power cannot undo the load any more.
//
// Errors: [ErrNotOpened], [*SnapshotError].
type LoadSnapshot struct {
	Asks[LoadedSnapshot]

	Path string

	// Only has the file's beginning looked at, and whether the chain may begin with its
	// set: nothing is changed, and the answer is empty.
	Only bool
}

// LoadedSnapshot is the answer to [LoadSnapshot].
type LoadedSnapshot struct {
	Block Tip // that the set is of
	Coins uint64
}

// ErrNotOpened reports that a file cannot be opened.
var ErrNotOpened = refusal("file cannot be opened")

// A SnapshotError says why a file of unspent outputs is not taken.
type SnapshotError struct {
	Reason string // in Bitcoin Core's words
	Head   bool   // it is the beginning of the file that cannot be read
}

// Error implements error.
func (e *SnapshotError) Error() string { return e.Reason }

// AboutRequest implements [Refusal].
func (*SnapshotError) AboutRequest() {}
