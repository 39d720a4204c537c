package descriptor

import (
	"errors"
	"fmt"

	"github.com/seed61375155/trawl/descriptor/internal/hdkey"
)

var (
	// ErrNeedsPrivateKey reports that a script cannot be derived because a
	// hardened step needs a private key that the descriptor does not hold.
	ErrNeedsPrivateKey = hdkey.ErrNeedsPrivateKey

	// ErrNotDerivable reports an index without a script although every key is
	// there: an extended key of depth 255 has no children, and one child in
	// 2^127 does not exist.
	ErrNotDerivable = errors.New("script cannot be derived")

	// ErrAddress reports a text that is no address of the network.
	ErrAddress = errors.New("address is not valid")
)

// ParseError says why a text is no descriptor, in the words of Bitcoin Core.
type ParseError struct {
	// Text is Core's message. It is empty for text left over after a
	// complete descriptor, as in Core.
	Text string
}

// Error returns the text alone.
func (e *ParseError) Error() string { return e.Text }

func failf(format string, args ...any) error {
	return &ParseError{Text: fmt.Sprintf(format, args...)}
}

// within puts the name of the enclosing function before a parse error.
func within(function string, err error) error {
	return failf("%s: %s", function, err.Error())
}
