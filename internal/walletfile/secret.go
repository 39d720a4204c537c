package walletfile

import (
	"fmt"
	"log/slog"
	"runtime"
)

// masked is what a secret prints as.
const masked = "[secret]"

// Secret holds bytes that must not be seen: a private key, a master key or a
// passphrase. It is used by pointer only, prints as a mask with every verb, in
// logs and in JSON, and is wiped with Zero by its last holder.
//
// It is not safe to wipe a secret while another goroutine uses it.
type Secret struct{ bytes []byte }

// NewSecret returns a secret with a copy of b, which stays the caller's to wipe.
//
// It is not inlined, so that the bytes are on the heap, where Zero overwrites the only copy. A stack that grows leaves
// its old memory as it was.
//
//go:noinline
func NewSecret(b []byte) *Secret { return &Secret{bytes: cloneBytes(b)} }

// Bytes returns the bytes themselves, valid until the secret is wiped. The
// caller must neither keep nor print them.
func (s *Secret) Bytes() []byte {
	if s == nil {
		return nil
	}
	return s.bytes
}

// Clone returns a secret of its own with the same bytes.
func (s *Secret) Clone() *Secret { return NewSecret(s.Bytes()) }

// Zero overwrites the bytes and forgets them. A nil secret is left alone.
func (s *Secret) Zero() {
	if s == nil {
		return
	}
	clear(s.bytes)
	runtime.KeepAlive(s.bytes)
	s.bytes = nil
}

// String returns a mask.
func (*Secret) String() string { return masked }

// GoString returns a mask.
func (*Secret) GoString() string { return masked }

// Format prints a mask, whatever the verb.
func (*Secret) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(masked)) }

// LogValue returns a mask.
func (*Secret) LogValue() slog.Value { return slog.StringValue(masked) }

// MarshalText returns a mask, so that JSON holds one too.
func (*Secret) MarshalText() ([]byte, error) { return []byte(masked), nil }
